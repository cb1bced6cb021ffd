package api

import (
	"errors"
	"fmt"
)

// What the caller of the API can do about an error. A Backend wraps them.
var (
	// ErrInvalid: the request is wrong and stays wrong.
	ErrInvalid = errors.New("invalid request")
	// ErrNotFound: there is nothing of that name.
	ErrNotFound = errors.New("not found")
	// ErrExists: there is something else of that name.
	ErrExists = errors.New("exists already")
	// ErrRefused: a peer, a contract or a permission does not allow it.
	ErrRefused = errors.New("refused")
	// ErrUnavailable: not now; the same request may succeed later.
	ErrUnavailable = errors.New("not available at the moment")
)

// RefusedError says who refuses what, and which clause is missing.
type RefusedError struct {
	Who  string // org, org/node or a setting
	What string
	Why  string
}

// Error names all three.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s: refused by %s: %s", e.What, e.Who, e.Why)
}

// Is makes a RefusedError an ErrRefused.
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// Problem is one thing wrong with a file.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // from 1; 0 if it is the file as a whole
	Column  int    `json:"column"`
	Path    string `json:"path"` // dotted name of the key
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// ErrorBody is the body of every answer that is not a success.
type ErrorBody struct {
	Error ErrorInfo `json:"error"`
}

// ErrorInfo says what went wrong and what to do.
type ErrorInfo struct {
	// Code is stable: invalid, unauthorized, host, refused, not_found, method, exists, too_large, unsupported_type, busy,
	// internal or unavailable.
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"` // what to do about it; may be empty
	// Problems are what is wrong with a file, each with its place.
	Problems []Problem `json:"problems"`
}
