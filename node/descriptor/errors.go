package descriptor

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"fednode/node/trust"
	"fednode/node/wire"
)

// Kinds of refusal, to be matched with errors.Is; besides them there are those of package trust. All but ErrStale,
// ErrConflict and ErrNotHosted come as a *trust.Error, with what was expected, what came, and what to do.
var (
	ErrTooLarge   = errors.New("too large")
	ErrVersion    = errors.New("not a version that this build knows") // of the format, or of the semantics
	ErrOwner      = errors.New("signed by another organisation than the owner")
	ErrDiagram    = errors.New("the diagram cannot be used") // not canonical, with errors, or not what the rest says
	ErrHash       = errors.New("the hash does not fit")
	ErrAssignment = errors.New("wrong assignment") // of a fragment or stream that is not there, or missing
	ErrFull       = errors.New("too many queries")
	ErrStale      = errors.New("a greater revision is known")
	ErrConflict   = errors.New("two descriptors of one revision")
	ErrNotHosted  = errors.New("may not run here")
)

// StaleError refuses a descriptor that is not the newest.
type StaleError struct {
	Held wire.Revision
	Got  wire.Revision
}

// Error says which revision came and which is held.
func (e *StaleError) Error() string {
	return fmt.Sprintf("descriptor of %s: %v: got %s, held %s; pull the newest and change that", e.Got.Query, ErrStale,
		revisionText(e.Got), revisionText(e.Held))
}

// Unwrap returns ErrStale.
func (e *StaleError) Unwrap() error { return ErrStale }

// ConflictError refuses a descriptor that differs from the held one of the same term, epoch and writer. One writer never
// makes both: its key is in two places, or its data directory was put back from a copy.
type ConflictError struct {
	Held wire.Revision
	Got  wire.Revision
}

// Error says what happened and how it is put right.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("descriptor of %s: %v: %s has the hashes %x (held) and %x; look for a copy of node %s, then deploy the query again, which takes the next epoch",
		e.Got.Query, ErrConflict, revisionText(e.Got), e.Held.Hash[:6], e.Got.Hash[:6], e.Got.Writer)
}

// Unwrap returns ErrConflict.
func (e *ConflictError) Unwrap() error { return ErrConflict }

// NotHostedError refuses to run a fragment, and names what would have to be allowed.
type NotHostedError struct {
	Org      string // the query's owner, who asks
	Query    string
	Fragment string
	Clause   string // what is missing: "assignment", "state", "host", "operators" or "max_fragments"
	Have     string // what the clause says
	Need     string // what it would have to say
	Host     string // the organisation that can change it
}

// Error names the clause, and who can change it.
func (e *NotHostedError) Error() string {
	what := fmt.Sprintf("; fragment %q of query %q needs it", e.Fragment, ID(e.Org, e.Query))
	switch e.Clause {
	case clauseHost:
		return fmt.Sprintf("%s hosts nothing for org %q; ask %s to add [[federation.host]] with %s", e.Host, e.Org, e.Host, e.Need) + what
	case clauseOperators:
		kinds, them := "kind", "it"
		if strings.Contains(e.Need, ", ") {
			kinds, them = "kinds", "them"
		}
		return fmt.Sprintf("federation.host for org %q does not allow operator %s %s; ask %s to add %s to operators", e.Org, kinds, e.Need, e.Host, them) + what
	case clauseFragments:
		return fmt.Sprintf("federation.host for org %q allows max_fragments = %s and as many run; ask %s to raise it to %s", e.Org, e.Have, e.Host, e.Need) + what
	}
	return fmt.Sprintf("fragment %q of query %q may not run here: its descriptor says %s, expected %s; deploy it again", e.Fragment,
		ID(e.Org, e.Query), e.Have, e.Need)
}

// Unwrap returns ErrNotHosted.
func (e *NotHostedError) Unwrap() error { return ErrNotHosted }

// refuse makes an error about a descriptor.
func (d *Descriptor) refuse(kind error, part, got, expected, remedy string) error {
	place := "descriptor of " + quote(d.ID())
	if part != "" {
		place += ", " + part
	}
	return &trust.Error{Kind: kind, Place: place, Got: got, Expected: expected, Remedy: remedy}
}

// maxShown is how many bytes of a string from outside a message shows.
const maxShown = 140

// quote shows a string from outside: escaped and cut.
func quote(s string) string {
	if len(s) > maxShown {
		return strconv.Quote(s[:maxShown]) + "…"
	}
	return strconv.Quote(s)
}
