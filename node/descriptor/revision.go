package descriptor

import (
	"cmp"
	"fmt"

	"fednode/node/wire"
)

// Revision identifies the descriptor among those of its query. Its Query is the ID.
func (v *Verified) Revision() wire.Revision {
	return wire.Revision{Query: v.ID(), Term: v.Term, Epoch: v.Epoch, Writer: v.Writer, Hash: v.Hash}
}

// Compare orders the revisions of one query by (term, epoch, writer): it is positive if a is in force before b. Hashes do
// not count: one writer makes one descriptor of a term and epoch.
func Compare(a, b wire.Revision) int {
	return cmp.Or(cmp.Compare(a.Term, b.Term), cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.Writer, b.Writer))
}

// Rival warns that two nodes write descriptors of one query at once: term and epoch are equal, the writers differ. The
// greater writer's is used.
type Rival struct {
	Held wire.Revision
	Met  wire.Revision
}

// String says what was met, which is used, and how it ends.
func (r *Rival) String() string {
	used := r.Held
	if Compare(r.Met, r.Held) > 0 {
		used = r.Met
	}
	return fmt.Sprintf("two nodes write descriptors of %s: %s and %s; that of %s is used. Deploy at one of them only",
		r.Held.Query, revisionText(r.Held), revisionText(r.Met), used.Writer)
}

// rivals returns a warning if held and met are of one term and epoch by two writers, else nil.
func rivals(held, met wire.Revision) *Rival {
	if held.Term != met.Term || held.Epoch != met.Epoch || held.Writer == met.Writer {
		return nil
	}
	return &Rival{Held: held, Met: met}
}

func revisionText(r wire.Revision) string {
	return fmt.Sprintf("term %d epoch %d by %s", r.Term, r.Epoch, r.Writer)
}
