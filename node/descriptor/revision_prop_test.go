package descriptor

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fednode/node/wire"
)

func anyRevision() *rapid.Generator[wire.Revision] {
	return rapid.Custom(func(t *rapid.T) wire.Revision {
		return wire.Revision{Query: "north/q", Term: rapid.Uint64Range(1, 3).Draw(t, "term"), Epoch: rapid.Uint64Range(1, 3).Draw(t, "epoch"),
			Writer: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "writer")}
	})
}

// Revisions are totally ordered, and rivals are those of two writers only.
func TestRevisionOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := anyRevision().Draw(t, "a"), anyRevision().Draw(t, "b"), anyRevision().Draw(t, "c")
		if Compare(a, b) != -Compare(b, a) {
			t.Fatal("not antisymmetric")
		}
		if (Compare(a, b) == 0) != (a == b) {
			t.Fatal("equal, and not the same")
		}
		if Compare(a, b) <= 0 && Compare(b, c) <= 0 && Compare(a, c) > 0 {
			t.Fatal("not transitive")
		}
		if (rivals(a, b) != nil) != (a.Term == b.Term && a.Epoch == b.Epoch && a.Writer != b.Writer) {
			t.Fatal("wrong rivals")
		}
		if a.Term > b.Term && Compare(a, b) <= 0 {
			t.Fatal("the term does not count first")
		}
	})
}

// Books that have been given the same descriptors, in whatever order and however often, hold the same one: the greatest.
// That goes for two books too that only exchange what Wanted asks for.
func TestBooksConverge(t *testing.T) {
	north := newParty(t, "north")
	r := registry(t, north)
	var all [][]byte
	var greatest wire.Revision
	for term := uint64(1); term <= 2; term++ {
		for epoch := uint64(1); epoch <= 2; epoch++ {
			for writer := byte(1); writer <= 2; writer++ {
				signed := sign(t, revised(t, term, epoch, writer), north)
				v, err := Verify(signed, r, day0)
				require.NoError(t, err)
				if all = append(all, signed); Compare(v.Revision(), greatest) > 0 {
					greatest = v.Revision()
				}
			}
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		b, other := newBook(r), newBook(r)
		order := rapid.Permutation(slices.Concat(all, all[:3])).Draw(rt, "order")
		split := rapid.IntRange(1, len(order)).Draw(rt, "split")
		var held wire.Revision
		for i, signed := range order {
			to := b
			if i >= split {
				to = other
			}
			a, err := to.Adopt(signed, day0)
			if a.Held == nil || (err == nil) == (a.Held.Revision() != mustRead(t, signed)) {
				rt.Fatalf("held %v, error %v", a.Held, err)
			}
			if to == b && Compare(a.Held.Revision(), held) < 0 {
				rt.Fatal("a book went back")
			}
			if to == b {
				held = a.Held.Revision()
			}
		}
		exchange(t, b, other)
		exchange(t, other, b)
		require.Equal(rt, []wire.Revision{greatest}, b.Revisions(nil))
		require.Equal(rt, []wire.Revision{greatest}, other.Revisions(nil))
	})
}

func mustRead(t *testing.T, signed []byte) wire.Revision {
	v, err := read(signed)
	require.NoError(t, err)
	return v.Revision()
}

// exchange has one book pull from the other.
func exchange(t *testing.T, from, to *Book) {
	pull, _ := to.Wanted(from.Revisions(nil))
	for _, query := range pull {
		push, ok := from.Push(query)
		require.True(t, ok)
		_, err := to.Adopt(push.Descriptor, day0)
		require.NoError(t, err)
	}
}
