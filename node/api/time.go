package api

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"fednode/query/tuple"
)

// StreamTime is a place in stream time as JSON shows it: RFC 3339, null before the first, and "end" once the stream has
// ended.
type StreamTime tuple.Time

// The ends of stream time.
const (
	NoTime  = StreamTime(tuple.MinTime)
	EndTime = StreamTime(tuple.MaxTime)
)

// endText stands for EndTime.
const endText = "end"

// MarshalJSON writes the time.
func (t StreamTime) MarshalJSON() ([]byte, error) {
	switch t {
	case NoTime:
		return []byte("null"), nil
	case EndTime:
		return []byte(`"` + endText + `"`), nil
	}
	return append(tuple.AppendTime([]byte{'"'}, tuple.Time(t)), '"'), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *StreamTime) UnmarshalJSON(b []byte) error {
	var s *string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	switch {
	case s == nil:
		*t = NoTime
		return nil
	case *s == endText:
		*t = EndTime
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, *s)
	if err != nil {
		return fmt.Errorf("stream time: %w", err)
	}
	*t = StreamTime(tuple.TimeOf(at))
	return nil
}

// String prints the time as JSON does, "-" before the first.
func (t StreamTime) String() string {
	switch t {
	case NoTime:
		return "-"
	case EndTime:
		return endText
	}
	return string(tuple.AppendTime(nil, tuple.Time(t)))
}

// Unix returns the time in seconds since 1970; ok is false at the ends of time.
func (t StreamTime) Unix() (sec float64, ok bool) {
	if t == NoTime || t == EndTime {
		return math.NaN(), false
	}
	return float64(t) / 1e6, true
}

// timeOrNil makes the zero time null.
func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// seconds of a duration in microseconds.
func seconds(micros int64) float64 { return float64(micros) / 1e6 }
