package state

import (
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

// keyTypes are the key schemas that the properties run over.
var keyTypes = [][]tuple.Type{
	{},
	{tuple.Of(tuple.String)},
	{tuple.Of(tuple.Int64)},
	{tuple.Of(tuple.Float64)},
	{tuple.Of(tuple.Bool)},
	{tuple.Of(tuple.String), tuple.Of(tuple.Int64)},
	{tuple.Of(tuple.String), tuple.Of(tuple.String), tuple.DecimalType(2)},
	{tuple.ListOf(tuple.Of(tuple.String))},
	{tuple.ListOf(tuple.Of(tuple.Float64)), tuple.Of(tuple.Bool)},
}

// keySource makes random batches of keys in the ways batches come: one growing dictionary, plain ones, nulls, selections.
type keySource struct {
	rng    *rand.Rand
	schema *tuple.Schema
	b      *tuple.BatchBuilder
	keys   int
	nulls  bool
}

func newKeySource(rng *rand.Rand, types []tuple.Type) *keySource {
	fields := make([]tuple.Field, len(types))
	for i, t := range types {
		fields[i] = tuple.Field{Name: fmt.Sprintf("k%d", i), Type: t}
	}
	s := &keySource{rng: rng, schema: tuple.MustSchema(fields...), keys: 1 + rng.Intn(60), nulls: rng.Intn(2) == 0}
	s.b = tuple.NewBatchBuilder(s.schema)
	return s
}

func (s *keySource) batch() *tuple.Batch {
	if s.rng.Intn(6) == 0 {
		s.b = tuple.NewBatchBuilder(s.schema) // a dictionary of its own
	}
	for range 1 + s.rng.Intn(50) {
		for c := range s.schema.Len() {
			s.value(c)
		}
		s.b.EndRow(0)
	}
	b := s.b.Take()
	if s.rng.Intn(3) == 0 {
		for i := range b.Cols {
			plain(&b.Cols[i])
		}
	}
	if s.rng.Intn(2) == 0 {
		b.Sel = []uint32{}
		for i := range b.Time {
			if s.rng.Intn(2) == 0 {
				b.Sel = append(b.Sel, uint32(i))
			}
		}
	}
	return b
}

func (s *keySource) value(c int) {
	t := s.schema.Field(c).Type
	if s.nulls && s.rng.Intn(8) == 0 {
		s.b.AppendNull(c)
		return
	}
	k := s.rng.Intn(s.keys)
	switch {
	case t.Kind.IsBinary():
		s.b.AppendBin(c, fmt.Appendf(nil, "v%d", k))
	case t.Kind.IsInt():
		s.b.AppendInt(c, int64(k)-5)
	case t.Kind == tuple.Float64:
		s.b.AppendFloat(c, []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(-1), float64(k)}[k%5])
	case t.Kind == tuple.Bool:
		s.b.AppendBool(c, k%2 == 0)
	case t.Kind == tuple.List:
		for j := range k % 4 {
			if t.Elem.IsBinary() {
				s.b.AppendElemBin(c, fmt.Appendf(nil, "e%d", (k+j)%3))
			} else {
				e := s.b.Col(c).Elem
				e.Float = append(e.Float, float64((k+j)%3))
			}
		}
		s.b.EndList(c)
	}
}

// plain gives a binary column a dictionary in which code i is row i.
func plain(c *tuple.Column) {
	if !c.Type.Kind.IsBinary() {
		return
	}
	off, data := []uint32{0}, []byte(nil)
	for i := range c.Code {
		if !c.IsNull(i) {
			data = append(data, c.Bin(i)...)
		}
		off = append(off, uint32(len(data)))
		c.Code[i] = uint32(i)
	}
	c.Dict = tuple.NewDict(off, data, false)
}

// keyText renders a key; equal keys have equal texts.
func keyText(cols []tuple.Column, row int) string {
	s := ""
	for i := range cols {
		c := &cols[i]
		if c.IsNull(row) {
			s += "null|"
			continue
		}
		if c.Type.Kind == tuple.Float64 && c.Float[row] == 0 {
			s += "0|"
			continue
		}
		s += string(c.AppendText(nil, row)) + "|"
	}
	return s
}

// groupsModel is what Groups promises: the first row of each key decides its slot.
type groupsModel struct {
	slot map[string]uint32
	text []string
}

func (m *groupsModel) clone() *groupsModel {
	c := &groupsModel{slot: map[string]uint32{}, text: append([]string(nil), m.text...)}
	for k, v := range m.slot {
		c.slot[k] = v
	}
	return c
}

// check feeds a batch to both. Slots may have been given out ahead, so numbers are compared as a one-to-one relation.
func (m *groupsModel) check(t *testing.T, g *Groups, b *tuple.Batch) {
	t.Helper()
	before := g.Len()
	found := append([]uint32(nil), g.Find(b.Cols, b.Sel, len(b.Time))...)
	require.Equal(t, before, g.Len())
	slots := g.Slots(b.Cols, b.Sel, len(b.Time))
	require.Len(t, slots, b.Rows())
	prior := m.clone().slot
	for i, s := range slots {
		require.Less(t, int(s), g.Len())
		text := keyText(b.Cols, b.Row(i))
		want, known := m.slot[text]
		if known {
			require.Equal(t, want, s, text)
			if _, ok := prior[text]; ok {
				require.Equal(t, want, found[i], text)
			}
			continue
		}
		m.slot[text] = s
		m.text = append(m.text, text)
	}
	seen := map[uint32]bool{}
	for _, s := range m.slot {
		require.False(t, seen[s], "one slot for two keys")
		seen[s] = true
	}
}

func (m *groupsModel) checkKeys(t *testing.T, g *Groups) {
	t.Helper()
	slots := make([]uint32, len(m.text))
	for i, text := range m.text {
		slots[i] = m.slot[text]
	}
	cols := make([]tuple.Column, len(g.Types()))
	NewKeyWriter(g.Types()).Write(cols, g, slots)
	for i, text := range m.text {
		require.Equal(t, text, keyText(cols, i))
	}
	order := g.Order()
	require.Len(t, order, g.Len())
	NewKeyWriter(g.Types()).Write(cols, g, order)
	for i := 1; i < len(order); i++ {
		require.Negative(t, g.Compare(order[i-1], order[i]))
		for c := range cols {
			r := cols[c].Compare(i-1, &cols[c], i)
			if cols[c].Type.Kind == tuple.List || r < 0 {
				break
			}
			require.Zero(t, r)
		}
	}
}

// Slots are one to one with keys whatever the encoding, across forks, compaction and snapshots.
func TestGroupsProperty(t *testing.T) {
	for seed := range int64(400) {
		rng := rand.New(rand.NewSource(seed))
		types := keyTypes[rng.Intn(len(keyTypes))]
		src := newKeySource(rng, types)
		g, m := NewGroups(types), &groupsModel{slot: map[string]uint32{}}
		for range 12 {
			m.check(t, g, src.batch())
			switch rng.Intn(6) {
			case 0:
				f, fm := g.Fork(), m.clone()
				m.check(t, g, src.batch())
				fm.check(t, f, src.batch())
				fm.clone().check(t, f.Fork(), src.batch())
				m.checkKeys(t, g)
				if rng.Intn(2) == 0 {
					g, m = f, fm
				}
			case 1:
				g, m = compacted(t, rng, g, m)
			case 2:
				g = restored(t, g, m)
				for i, s := range g.Order() {
					m.slot[sortedTexts(g)[i]] = s
				}
			}
			m.checkKeys(t, g)
		}
	}
}

func compacted(t *testing.T, rng *rand.Rand, g *Groups, m *groupsModel) (*Groups, *groupsModel) {
	kept := &groupsModel{slot: map[string]uint32{}}
	var keep []uint32
	for _, text := range m.text {
		if rng.Intn(2) == 0 {
			keep = append(keep, m.slot[text])
			kept.text = append(kept.text, text)
		}
	}
	c, moved := g.Compact(keep)
	require.Equal(t, len(keep), c.Len())
	for _, text := range kept.text {
		kept.slot[text] = moved[m.slot[text]]
	}
	return c, kept
}

// restored returns the table after a snapshot of the keys in use.
func restored(t *testing.T, g *Groups, m *groupsModel) *Groups {
	used := map[uint32]bool{}
	for _, s := range m.slot {
		used[s] = true
	}
	var slots []uint32
	for _, s := range g.Order() {
		if used[s] {
			slots = append(slots, s)
		}
	}
	var e tuple.Encoder
	g.Snapshot(&e, slots)
	r, d := NewGroups(g.Types()), tuple.NewDecoder(e.B)
	require.Equal(t, len(slots), r.Restore(d))
	require.NoError(t, d.Close())
	for cut := range min(len(e.B), 80) {
		d := tuple.NewDecoder(e.B[:cut])
		NewGroups(g.Types()).Restore(d)
		require.Error(t, d.Close())
	}
	return r
}

func sortedTexts(g *Groups) []string {
	cols := make([]tuple.Column, len(g.Types()))
	NewKeyWriter(g.Types()).Write(cols, g, g.Order())
	texts := make([]string, g.Len())
	for i := range texts {
		texts[i] = keyText(cols, i)
	}
	return texts
}

// A dictionary that the table knows from its first code on needs no remap: its codes are the slots.
func TestGroupsIdentity(t *testing.T) {
	b := tuple.NewBatchBuilder(tuple.MustSchema(tuple.Field{Name: "k", Type: tuple.Of(tuple.String)}))
	g := NewGroups([]tuple.Type{tuple.Of(tuple.String)})
	for range 3 {
		for i := range 100 {
			b.AppendBin(0, fmt.Appendf(nil, "v%d", i*b.Rows()%(7+i)))
			b.EndRow(0)
		}
		batch := b.Take()
		slots := g.Slots(batch.Cols, nil, 100)
		require.Equal(t, &batch.Cols[0].Code[0], &slots[0])
	}
}

func benchmarkSlots(b *testing.B, types []tuple.Type, keys int, unencoded bool) {
	fields := make([]tuple.Field, len(types))
	for i, ty := range types {
		fields[i] = tuple.Field{Name: fmt.Sprint("k", i), Type: ty}
	}
	bb := tuple.NewBatchBuilder(tuple.MustSchema(fields...))
	rng := rand.New(rand.NewSource(1))
	var batches []*tuple.Batch
	for range 16 {
		for range 4096 {
			for c, ty := range types {
				if k := rng.Intn(keys); ty.Kind.IsBinary() {
					bb.AppendBin(c, fmt.Appendf(nil, "value-%d", k))
				} else {
					bb.AppendInt(c, int64(k))
				}
			}
			bb.EndRow(0)
		}
		batch := bb.Take()
		if unencoded {
			for c := range batch.Cols {
				plain(&batch.Cols[c])
			}
		}
		batches = append(batches, batch)
	}
	g := NewGroups(types)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		batch := batches[i%len(batches)]
		g.Slots(batch.Cols, nil, 4096)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/row")
}

func BenchmarkGroups(b *testing.B) {
	str, i64 := tuple.Of(tuple.String), tuple.Of(tuple.Int64)
	b.Run("codes", func(b *testing.B) { benchmarkSlots(b, []tuple.Type{str}, 5000, false) })
	b.Run("plain", func(b *testing.B) { benchmarkSlots(b, []tuple.Type{str}, 5000, true) })
	b.Run("ints", func(b *testing.B) { benchmarkSlots(b, []tuple.Type{i64}, 5000, false) })
	b.Run("codes-ints", func(b *testing.B) { benchmarkSlots(b, []tuple.Type{str, i64}, 100, false) })
}
