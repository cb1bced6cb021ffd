package disk

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// The classes of storage errors. See the package comment.
var (
	ErrFull      = errors.New("storage is full")
	ErrReadOnly  = errors.New("storage is read-only")
	ErrLocked    = errors.New("storage is in use")
	ErrDamaged   = errors.New("storage is damaged")
	ErrTransient = errors.New("storage does not answer now")
)

// Error is a storage error with its class, place and remedy.
type Error struct {
	Class  error  // one of the classes, or nil
	Op     string // what was being done: "append to"
	Path   string
	Remedy string // what a person can do, "" if nothing is known
	Err    error  // the cause, may be nil
}

// Error renders the operation, the path, the cause and the remedy on one line.
func (e *Error) Error() string {
	msg := e.Op + " " + fmt.Sprintf("%q", e.Path)
	if e.Class != nil {
		msg += ": " + e.Class.Error()
	}
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	if e.Remedy != "" {
		msg += "; " + e.Remedy
	}
	return msg
}

// Unwrap gives the class and the cause to errors.Is and errors.As.
func (e *Error) Unwrap() []error {
	var out []error
	if e.Class != nil {
		out = append(out, e.Class)
	}
	if e.Err != nil {
		out = append(out, e.Err)
	}
	return out
}

// Wrap adds what was being done, to which path, and the class of err with its remedy. It returns nil for nil, and err
// itself if it has its place already.
func Wrap(op, path string, err error) error {
	if err == nil {
		return nil
	}
	if placed := (*Error)(nil); errors.As(err, &placed) {
		return err
	}
	class := classOf(err)
	return &Error{Class: class, Op: op, Path: path, Remedy: remedy(class), Err: err}
}

// Damaged returns an error of class ErrDamaged that says what is wrong with the file at path.
func Damaged(op, path, format string, args ...any) error {
	return &Error{Class: ErrDamaged, Op: op, Path: path, Err: fmt.Errorf(format, args...)}
}

func classOf(err error) error {
	for _, c := range []error{ErrFull, ErrReadOnly, ErrLocked, ErrDamaged, ErrTransient} {
		if errors.Is(err, c) {
			return nil // the class is in the chain already
		}
	}
	switch {
	case anyOf(err, unix.ENOSPC, unix.EDQUOT, unix.EFBIG):
		return ErrFull
	case anyOf(err, unix.EROFS, unix.EACCES, unix.EPERM):
		return ErrReadOnly
	case anyOf(err, unix.EAGAIN, unix.EINTR, unix.EBUSY, unix.ENOMEM, unix.EMFILE, unix.ENFILE, unix.ETIMEDOUT):
		return ErrTransient
	}
	return nil
}

func anyOf(err error, targets ...unix.Errno) bool {
	for _, t := range targets {
		if errors.Is(err, t) {
			return true
		}
	}
	return false
}

func remedy(class error) string {
	switch class {
	case ErrFull:
		return "free space on this file system or raise its quota: writing then goes on by itself"
	case ErrReadOnly:
		return "mount the file system writable and give this user the right to write there"
	}
	return ""
}
