package storage

import (
	"errors"

	"fednode/storage/disk"
)

// The classes of errors that come from the disk; see package disk.
var (
	ErrStorageFull = disk.ErrFull
	ErrReadOnly    = disk.ErrReadOnly
	ErrLocked      = disk.ErrLocked
	ErrDamaged     = disk.ErrDamaged
	ErrTransient   = disk.ErrTransient
)

// Errors of stores.
var (
	// ErrNotFound: there is no such key, point or document.
	ErrNotFound = errors.New("not found")
	// ErrConflict: another transaction, or another writer's version, was first. Reading again and retrying helps.
	ErrConflict = errors.New("changed meanwhile")
	// ErrTooLarge: the value or transaction is above the limit.
	ErrTooLarge = errors.New("too large")
	// ErrClosed: the store is closed.
	ErrClosed = errors.New("the store is closed")
)

// Action is what a caller does about an error.
type Action uint8

// The actions.
const (
	// Proceed: there was no error.
	Proceed Action = iota
	// Retry the same call, after a delay that grows.
	Retry
	// WaitForSpace: stop intake, and retry when the watch says that space has returned.
	WaitForSpace
	// Halt: a person has to act, or evidence has to be looked at; the message says what.
	Halt
)

// String names the action.
func (a Action) String() string { return [...]string{"proceed", "retry", "wait for space", "halt"}[a] }

// ActionFor sorts an error of this package, disk or seglog by what its caller does.
func ActionFor(err error) Action {
	switch {
	case err == nil:
		return Proceed
	case errors.Is(err, ErrStorageFull):
		return WaitForSpace
	case errors.Is(err, ErrTransient), errors.Is(err, ErrConflict):
		return Retry
	}
	return Halt
}
