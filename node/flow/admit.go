package flow

import (
	"fmt"
	"strings"

	"fednode/query/tuple"
)

// MaxPerOrg is how many subscribers of one other organisation a stream counts: each has a place in the store, and holds
// rows back until it acknowledges or lapses.
const MaxPerOrg = 256

// CrowdedError says that an organisation has as many subscribers of a stream as are counted.
type CrowdedError struct {
	Stream string
	Org    string
}

// Error names the limit, and what to do.
func (e *CrowdedError) Error() string {
	return fmt.Sprintf("stream %s: %s has %d subscribers that are counted, and no more are; names stay the same over restarts: stop what no longer reads, and it lapses", e.Stream, e.Org, MaxPerOrg)
}

// Admit says whether a stream that counts the given subscribers may count one more: nil, or a *CrowdedError. own is the
// prefix of our own subscribers' names, of which there may be any number.
func Admit(stream, name, own string, counted map[string]tuple.Position) error {
	if _, known := counted[name]; known || strings.HasPrefix(name, own) {
		return nil
	}
	org, _, _ := strings.Cut(name, "/")
	n := 0
	for other := range counted {
		if strings.HasPrefix(other, org+"/") {
			n++
		}
	}
	if n >= MaxPerOrg {
		return &CrowdedError{Stream: stream, Org: org}
	}
	return nil
}
