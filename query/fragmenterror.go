package query

import (
	"errors"
	"fmt"
)

// OperatorError says which operator stopped the fragment.
type OperatorError struct {
	Query    string
	Fragment string
	Operator string
	Err      error
}

// Error prints query, fragment and operator before the reason.
func (e *OperatorError) Error() string {
	return fmt.Sprintf("query %s, fragment %s, operator %s: %v", e.Query, e.Fragment, e.Operator, e.Err)
}

// Unwrap returns the reason.
func (e *OperatorError) Unwrap() error { return e.Err }

// outError marks an error of Out on its way up through operators, so that none of them is blamed for it.
type outError struct{ error }

// blame names the operator of an error, unless one further down has been named.
func (n *node) blame(err error) error {
	var o *outError
	var e *OperatorError
	if errors.As(err, &o) || errors.As(err, &e) {
		return err
	}
	return &OperatorError{Query: n.side.plan.Query, Fragment: n.side.plan.Name, Operator: n.plan.Name, Err: err}
}

// unmarked returns the error that callers see: one of Out is returned as it is.
func unmarked(err error) error {
	var o *outError
	if errors.As(err, &o) {
		return o.error
	}
	return err
}
