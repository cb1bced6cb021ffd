package wire

import (
	"errors"
	"fmt"

	"fednode/query/tuple/arrowio/stream"
)

// Code classes what a peer did wrong. The values are part of the protocol and never change: they also travel in
// [Goodbye] and [Error].
type Code uint8

// The codes.
const (
	// BadLength: a payload longer than a frame of its kind may have.
	BadLength Code = 1
	// BadVersion: another protocol version than was agreed on, or flags that it does not have.
	BadVersion Code = 2
	// BadKind: a kind that does not exist, or not on this stream.
	BadKind Code = 3
	// BadChecksum: the payload is not what was sent.
	BadChecksum Code = 4
	// Truncated: the stream ended inside a frame.
	Truncated Code = 5
	// Malformed: the payload does not have the form of its kind.
	Malformed Code = 6
	// BadIDs: ids that jump, fall, or do not fit their stretch; a generation that changes without GAP.
	BadIDs Code = 7
	// BadRows: not as many rows as announced.
	BadRows Code = 8
	// BadSchema: other columns than agreed on, or than the stream began with.
	BadSchema Code = 9
	// BadDictionary: a code outside its dictionary, a value twice.
	BadDictionary Code = 10
	// BelowBoundary: a row or boundary behind the last boundary.
	BelowBoundary Code = 11
	// BadValue: a value outside its type.
	BadValue Code = 12
	// OverLimit: more bytes, rows, columns or dictionary than the protocol allows.
	OverLimit Code = 13
	// OverQuota: more than the receiver grants this peer.
	OverQuota Code = 14
)

var codeNames = [...]string{BadLength: "bad-length", BadVersion: "bad-version", BadKind: "bad-kind", BadChecksum: "bad-checksum",
	Truncated: "truncated", Malformed: "malformed", BadIDs: "bad-ids", BadRows: "bad-rows", BadSchema: "bad-schema",
	BadDictionary: "bad-dictionary", BelowBoundary: "below-boundary", BadValue: "bad-value", OverLimit: "over-limit", OverQuota: "over-quota"}

// Valid reports whether c is one of the codes.
func (c Code) Valid() bool { return c >= BadLength && c <= OverQuota }

// String names the code as logs and metrics do.
func (c Code) String() string {
	if c.Valid() {
		return codeNames[c]
	}
	return fmt.Sprintf("code(%d)", uint8(c))
}

// ProtocolError says what a peer did wrong; it ends that connection. Other errors of a reader are the connection's own.
type ProtocolError struct {
	Code   Code
	Reason string
	// Err is the cause, if there is one worth matching: the budget's error, io.ErrUnexpectedEOF.
	Err error
}

// Error gives code and reason.
func (e *ProtocolError) Error() string { return "protocol error " + e.Code.String() + ": " + e.Reason }

// Unwrap returns the cause.
func (e *ProtocolError) Unwrap() error { return e.Err }

func broken(c Code, format string, args ...any) error {
	return &ProtocolError{Code: c, Reason: fmt.Sprintf(format, args...)}
}

// fromStream gives a codec's error its code.
func fromStream(err error) error {
	var e *stream.Error
	if !errors.As(err, &e) {
		return &ProtocolError{Code: Malformed, Reason: err.Error()}
	}
	code := Malformed
	switch e.Fault {
	case stream.BadSchema:
		code = BadSchema
	case stream.BadDictionary:
		code = BadDictionary
	case stream.BadRows:
		code = BadRows
	case stream.BadValue:
		code = BadValue
	case stream.OverLimit:
		code = OverLimit
	}
	return &ProtocolError{Code: code, Reason: e.Reason}
}
