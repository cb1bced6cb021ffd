package trust

import (
	"errors"
	"strings"
)

// Kinds of refusal, to be matched with errors.Is.
var (
	ErrMalformed   = errors.New("malformed")              // not what it claims to be: damaged, truncated, too long
	ErrSignature   = errors.New("signature does not fit") // the bytes were changed, or signed by another key
	ErrContext     = errors.New("signed for another use") // a valid signature, but of something else
	ErrRole        = errors.New("key has another role")   // the key may not sign this
	ErrUntrusted   = errors.New("organisation not trusted")
	ErrRevoked     = errors.New("revoked")
	ErrExpired     = errors.New("expired")
	ErrNotYet      = errors.New("not valid yet") // also: made in our future, by more than the clock skew
	ErrIdentity    = errors.New("other identity")
	ErrPermissions = errors.New("file readable by others")
	ErrExists      = errors.New("exists already")
	ErrMissing     = errors.New("missing")
	ErrName        = errors.New("not a valid name")
)

// Error is a refusal that a person can act on. Kind is one of the sentinels above.
type Error struct {
	Kind     error
	Place    string // the file, or whose certificate
	Expected string
	Got      string
	Remedy   string // what to do; may be empty
	Cause    error  // the error below, if there is one
}

// Error prints place, kind, got, expected, cause and remedy on one line, leaving out what is empty.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Place)
	b.WriteString(": ")
	b.WriteString(e.Kind.Error())
	if e.Got != "" {
		b.WriteString(": got ")
		b.WriteString(e.Got)
	}
	if e.Expected != "" {
		b.WriteString(", expected ")
		b.WriteString(e.Expected)
	}
	if e.Cause != nil {
		b.WriteString(" (")
		b.WriteString(e.Cause.Error())
		b.WriteString(")")
	}
	if e.Remedy != "" {
		b.WriteString("; ")
		b.WriteString(e.Remedy)
	}
	return b.String()
}

// Unwrap gives errors.Is the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause != nil {
		return []error{e.Kind, e.Cause}
	}
	return []error{e.Kind}
}
