package query_test

import (
	"fmt"
	"testing"

	"fednode/query"
	"fednode/query/tuple"
)

// BenchmarkRedo: a failure from its first tentative batch to the end of the redo, by the groups that the state holds: a batch
// of 256 rows is given tentatively, and then for good. "fork" keeps the fork until the redo is over, "undo" drops it first,
// "restore" has neither: it keeps the state as bytes, and undoes by reading it again. "alone" is the redo without a failure.
func BenchmarkRedo(b *testing.B) {
	for _, groups := range []int{20, 100, 400, 1000, 4000} {
		for _, how := range []string{"alone", "fork", "undo", "restore"} {
			b.Run(fmt.Sprintf("groups=%d/%s", groups, how), func(b *testing.B) {
				i, union, all := grouped(b, groups)
				batch := all.Slice(0, 256)
				affected := make([]bool, len(i.Plan().Unions))
				affected[union] = true
				b.ReportAllocs()
				for b.Loop() {
					i = failAndRedo(b, how, i, union, affected, batch)
				}
			})
		}
	}
}

// failAndRedo goes through a failure and returns the instance that goes on.
func failAndRedo(b *testing.B, how string, i *query.Instance, union int, affected []bool, batch *tuple.Batch) *query.Instance {
	give := func(to interface {
		Process(int, *tuple.Batch) error
	}) {
		if err := to.Process(union, batch); err != nil {
			b.Fatal(err)
		}
	}
	switch how {
	case "fork":
		f := i.ForkAffected(affected, quiet{})
		give(f)
		give(i)
		f.Drop()
		return i
	case "undo":
		f := i.ForkAffected(affected, quiet{})
		give(f)
		f.Drop()
	case "restore":
		var e tuple.Encoder
		i.Snapshot(&e)
		give(i)
		again, _, err := query.RestoreInstance(i.Plan(), quiet{}, tuple.NewDecoder(e.B), query.RestoreOptions{})
		if err != nil {
			b.Fatal(err)
		}
		i = again
	}
	give(i)
	return i
}
