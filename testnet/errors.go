package testnet

import (
	"errors"
	"fmt"
	"io"
	"os"

	"fednode/query"
)

// Classes of errors that the caller sorts by.
var (
	// ErrSpec is a wrong description, file or argument.
	ErrSpec = errors.New("wrong description of a testnet")
	// ErrNone means that there is no such network or node.
	ErrNone = errors.New("no such testnet")
	// ErrBusy means that another process owns the directory.
	ErrBusy = errors.New("testnet in use")
	// ErrRefused means that a daemon refused.
	ErrRefused = errors.New("refused by a daemon")
)

// Error is an error that a person reads; Kind is one of the classes above.
type Error struct {
	Kind error
	Msg  string
}

// Error returns the message.
func (e *Error) Error() string { return e.Msg }

// Unwrap returns the class.
func (e *Error) Unwrap() error { return e.Kind }

func errorf(kind error, format string, args ...any) error {
	return &Error{Kind: kind, Msg: fmt.Sprintf(format, args...)}
}

// readLimited reads a file that a person wrote.
func readLimited(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &Error{Kind: ErrSpec, Msg: err.Error()}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, &Error{Kind: ErrSpec, Msg: err.Error()}
	}
	if int64(len(text)) > limit {
		return nil, errorf(ErrSpec, "%s: longer than %d bytes", path, limit)
	}
	return text, nil
}

func validName(s string) bool { return query.ValidName(s) }
