package main

import (
	"context"
	"errors"
	"fmt"

	"fednode/node/export"
	"fednode/node/flow"
	"fednode/node/trust"
	"fednode/query/spec"
)

// Exit codes; the help text repeats them.
const (
	exitDone    = 0
	exitFailed  = 1 // failed at run time
	exitWrong   = 2 // the command line, a file or a query is wrong
	exitRefused = 3 // a peer, a contract or a permission refused
	exitGaveUp  = 4 // gave up waiting
)

const exitHelp = `Exit codes: 0 done; 1 failed at run time; 2 the command line, a file or a query is wrong;
3 a peer or a permission refused; 4 gave up waiting.`

// codeError carries the exit code of an error.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string { return e.err.Error() }
func (e *codeError) Unwrap() error { return e.err }

// wrong marks an error of the one who typed the command or wrote the file.
func wrong(format string, args ...any) error {
	return &codeError{code: exitWrong, err: fmt.Errorf(format, args...)}
}

// exitCode returns the code of an error that ended a command.
func exitCode(err error) int {
	var coded *codeError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, new(*spec.Error)), errors.As(err, new(*trust.Error)):
		return exitWrong
	case errors.As(err, new(*flow.RefusedError)), errors.As(err, new(*export.DeniedError)):
		return exitRefused
	case errors.Is(err, context.DeadlineExceeded):
		return exitGaveUp
	}
	return exitFailed
}
