package flow

import (
	"fmt"

	"fednode/query/tuple"
)

// RefusedError says that the producer will not give a stream, and which clause is missing.
type RefusedError struct {
	Stream string
	Reason string
}

// Error names the stream and the reason.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("stream %s refused: %s", e.Stream, e.Reason)
}

// FutureError says that a stream is ahead of our clock by more than it may be. It stands until its time has come.
type FutureError struct {
	Stream string
	// Time is that of the row or boundary, Latest the largest that could be taken.
	Time, Latest tuple.Time
}

// Error says what to do about it. While a frame waits the text is the same, so that it is reported once.
func (e *FutureError) Error() string {
	return fmt.Sprintf("stream %s: %v is further in the future than max_future_skew; the clock or the time column of its source may be wrong; "+
		"if it is meant to be ahead, say max_future_skew = \"inf\" in the query", e.Stream, e.Time)
}
