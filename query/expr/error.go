package expr

import (
	"fmt"
	"sort"
)

// Error is one mistake in an expression. Offset is the byte of the text where it begins.
type Error struct {
	Offset int
	Msg    string
	// Hint is what to do about it; may be empty.
	Hint string
}

// Error prints "at byte 12: message; hint".
func (e *Error) Error() string {
	if e.Hint == "" {
		return fmt.Sprintf("at byte %d: %s", e.Offset, e.Msg)
	}
	return fmt.Sprintf("at byte %d: %s; %s", e.Offset, e.Msg, e.Hint)
}

// maxErrors is how many errors of one expression are worth reading.
const maxErrors = 20

// errorList collects errors, one a place: what follows from an earlier error is not reported again.
type errorList []*Error

func (l *errorList) add(offset int, hint, format string, args ...any) {
	for _, e := range *l {
		if e.Offset == offset {
			return
		}
	}
	if len(*l) < maxErrors {
		*l = append(*l, &Error{Offset: offset, Msg: fmt.Sprintf(format, args...), Hint: hint})
	}
}

func (l errorList) sorted() []*Error {
	sort.SliceStable(l, func(i, j int) bool { return l[i].Offset < l[j].Offset })
	return l
}
