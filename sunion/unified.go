package sunion

import "fednode/query/tuple"

// unified is one growing dictionary into which others are mapped; what is known of a dictionary is kept as long as it
// is seen.
type unified struct {
	builder *tuple.DictBuilder
	tables  map[*tuple.Lineage][]uint32
}

func newUnified() *unified {
	return &unified{builder: tuple.NewDictBuilder(), tables: make(map[*tuple.Lineage][]uint32)}
}

// maxTables bounds how many dictionaries are remembered: producers that send plain columns bring a new one a batch.
const maxTables = 64

// trim starts over when the dictionary has grown past its limits or too many dictionaries are remembered.
func (u *unified) trim() {
	if u.builder.Full() {
		u.builder.Reset()
		clear(u.tables)
	}
	if len(u.tables) > maxTables {
		clear(u.tables)
	}
}

// table returns the union's code for each code of d.
func (u *unified) table(d *tuple.Dict) []uint32 {
	t := u.tables[d.Lineage()]
	for code := len(t); code < d.Len(); code++ {
		t = append(t, u.builder.Intern(d.At(uint32(code))))
	}
	u.tables[d.Lineage()] = t
	return t
}
