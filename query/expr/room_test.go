package expr

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

// TestConstantsStaySmall: a constant that is much longer than its text is not computed until a row asks for it; one that is
// not is.
func TestConstantsStaySmall(t *testing.T) {
	for src, folded := range map[string]bool{
		"lpad('x', 65000)":                             false,
		"repeat(repeat('x', 1000), 1000)":              false,
		"repeat('x', 1024)":                            true,
		"repeat('x', 1025)":                            false,
		"repeat('x', 1000) || repeat('y', 1000)":       true,
		"upper('" + strings.Repeat("x", 50_000) + "')": true,
		"concat('a', 'b')":                             true,
	} {
		p, errs := Compile(src, propSchema())
		require.Empty(t, errs, src)
		require.Equal(t, folded, p.root.isConst(), src)
	}
	p, errs := Compile("length(lpad('x', 65000) || lpad('x', 65000))", propSchema())
	require.Empty(t, errs)
	require.EqualValues(t, 130_000, p.NewEval().Eval(&tuple.Batch{Time: make([]tuple.Time, 1), Cols: make([]tuple.Column, propSchema().Len())}).Int[0])
}

// TestConstantsOfAFile: thousands of constants, each a megabyte when computed, take no gigabytes to know.
func TestConstantsOfAFile(t *testing.T) {
	src := strings.Join(slices.Repeat([]string{"lpad('x', 65000)"}, 16), " || ")
	held := heap()
	programs := make([]*Program, 500)
	for i := range programs {
		p, errs := Compile(src, propSchema())
		require.Empty(t, errs)
		programs[i] = p
	}
	require.Less(t, heap()-held, int64(64<<20))
	runtime.KeepAlive(programs)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestRoom: Evals that share a room are bounded together, and what has no room is null and said; room that a dictionary
// gives up is free again.
func TestRoom(t *testing.T) {
	schema := propSchema()
	p, errs := Compile("repeat(s, 100)", schema)
	require.Empty(t, errs)
	d := tuple.NewDictBuilder()
	col := tuple.Column{Type: tuple.Of(tuple.String)}
	for i := range 100 {
		col.Code = append(col.Code, d.Intern([]byte{byte('A' + i/10), byte('0' + i%10)}))
	}
	col.Dict = d.Dict()
	b := &tuple.Batch{Time: make([]tuple.Time, 100), Cols: make([]tuple.Column, schema.Len())}
	s, ok := schema.Index("s")
	require.True(t, ok)
	b.Cols[s] = col

	room := NewRoom(90_000) // one takes 20,000 by code, and as much again for what is known of codes
	one, two, three := p.NewEval(), p.NewEval(), p.NewEval()
	for _, e := range []*Eval{one, two, three} {
		e.Share(room)
	}
	require.Nil(t, one.Eval(b).Valid)
	require.Nil(t, two.Eval(b).Valid)
	require.False(t, room.Over())
	require.Nil(t, one.Eval(b).Valid, "the same again takes nothing")
	require.False(t, room.Over())
	got := three.Eval(b)
	require.True(t, room.Over())
	require.NotNil(t, got.Valid)
	require.NotZero(t, three.Counters().Overflow)
}
