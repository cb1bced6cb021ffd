package connect

// LastingError is an error of a sink that trying again does not mend: somebody has to do what the text says. The sink is
// tried again nevertheless, seldom, so that what has been mended is noticed; unless Final is set.
type LastingError struct {
	Err error
	// Final: another writer goes on in this one's place, and trying again would take it away from that one.
	Final bool
}

// Error prints the error.
func (e *LastingError) Error() string { return e.Err.Error() }

// Unwrap returns the error.
func (e *LastingError) Unwrap() error { return e.Err }
