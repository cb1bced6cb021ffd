package query

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/query/op"
	"fednode/query/spec"
)

// ordered returns kinds that say how they stand to order: free is order-insensitive, sorts is so and restores order,
// strict is neither.
func orderedKinds() []op.Kind {
	kind := func(name string, free, sorts bool) op.Kind {
		return op.Kind{Name: name, MinInputs: 1, MaxInputs: 1, Build: func(_ *spec.Reader, in []op.Input) *op.Plan {
			p := fakePlan(name, in, 0, false, "")
			p.OrderInsensitive, p.RestoresOrder = free, sorts
			return p
		}}
	}
	return []op.Kind{kind("free", true, false), kind("sorts", true, true), kind("strict", false, false)}
}

// An SUnion may leave its rows unmerged only if nothing before the next operator that restores order can see it.
func TestUnorderedUnions(t *testing.T) {
	for chain, want := range map[string]bool{
		"free sorts": true, "sorts": true, "free free sorts strict": true,
		"free": false, "strict": false, "strict sorts": false, "free strict sorts": false,
	} {
		src := "[query]\nname = \"q\"\n[streams.s]\nconnector = \"file\"\ncolumns = { n = \"int64\" }\n"
		in := "s"
		for i, kind := range strings.Fields(chain) {
			src += fmt.Sprintf("[operators.o%d]\nkind = %q\ninput = %q\n", i, kind, in)
			in = fmt.Sprintf("o%d", i)
		}
		src += fmt.Sprintf("[outputs.out]\nconnector = \"file\"\ninput = %q\n", in)
		d, p := Parse("q", []byte(src), Options{Kinds: orderedKinds()})
		require.NoError(t, p.Err(), chain)
		f := NewPlan(d, Placement{}, p).Fragments[0]
		require.Equal(t, want, f.Unions[0].Unordered, chain)
	}
}

// A branch that minds the order makes the SUnion merge for all.
func TestUnorderedUnionsWithBranches(t *testing.T) {
	src := `[query]
name = "q"
[streams.s]
connector = "file"
columns = { n = "int64" }
[operators.f]
kind = "free"
input = "s"
[operators.a]
kind = "sorts"
input = "f"
[operators.b]
kind = %q
input = "f"
[outputs.a]
connector = "file"
input = "a"
[outputs.b]
connector = "file"
input = "b"
`
	for kind, want := range map[string]bool{"sorts": true, "strict": false, "free": false} {
		d, p := Parse("q", fmt.Appendf(nil, src, kind), Options{Kinds: orderedKinds()})
		require.NoError(t, p.Err(), kind)
		require.Equal(t, want, NewPlan(d, Placement{}, p).Fragments[0].Unions[0].Unordered, kind)
	}
}

// A file that is made to be slow is planned in bounded time: a thousand operators that read each other widely, every
// third of them in a place of its own.
func TestPlanOfAHostileDiagram(t *testing.T) {
	start := time.Now()
	d, p := Parse("q", hostileDiagram(1000, 1), Options{Kinds: fakeKinds()})
	require.NoError(t, p.Err())
	require.NotNil(t, d)
	_, p = Parse("q", hostileDiagram(1000, 12), Options{Kinds: fakeKinds()})
	require.ErrorContains(t, p.Err(), "rows of streams reach it over more than")
	t.Log(time.Since(start))
	require.Less(t, time.Since(start), 10*time.Second)
}

// hostileDiagram is a chain of operators, each of which reads the stream and the operators up to width before it, cut
// into as many fragments as are allowed.
func hostileDiagram(operators, width int) []byte {
	var b strings.Builder
	b.WriteString("[query]\nname = \"q\"\n[streams.s]\nconnector = \"file\"\ncolumns = { n = \"int64\" }\n")
	for i := range operators {
		in := []string{`"s"`}
		for j := max(0, i-width); j < i; j++ {
			in = append(in, fmt.Sprintf(`"o%d"`, j))
		}
		fmt.Fprintf(&b, "[operators.o%d]\nkind = \"gather\"\ninputs = [%s]\n", i, strings.Join(in, ", "))
		if i%3 == 0 && i/3 < maxFragments {
			fmt.Fprintf(&b, "[fragments.f%d]\noperators = [\"o%d\"]\nplace = { org = \"org%d\" }\n", i, i, i)
		}
	}
	fmt.Fprintf(&b, "[outputs.out]\nconnector = \"file\"\ninput = \"o%d\"\n", operators-1)
	return []byte(b.String())
}
