package op

import (
	"fmt"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// tableKind declares table: a stream read as a keyed table. Every row is a new version of its key's entry, in force from
// its stime on.
//
//	key = ["asn"]
//	ttl = "1d"              # an entry that is not renewed for that long is gone
//	limit = 100000          # entries; one of both bounds the state
//	match = "exact"         # or, for one column, "longest-prefix" (cidr against ip), "suffix" (labels of a name)
//
// The table itself hands the versions on; each lookup that reads it keeps the entries, as of its own stream's time.
func tableKind() Kind {
	return Kind{Name: "table", MinInputs: 1, MaxInputs: 1, Build: buildTable}
}

// The ways to find an entry.
const (
	matchExact  = "exact"
	matchPrefix = "longest-prefix"
	matchSuffix = "suffix"
)

func buildTable(r *spec.Reader, in []Input) *Plan {
	before := markProblems(r)
	key := columnList(r, "key", true, in[0])
	t := &Table{
		Match: r.OneOf("match", matchExact, matchExact, matchPrefix, matchSuffix),
		TTL:   r.Duration("ttl", 0, 1, maxSpan),
		Limit: r.Int("limit", 0, 1, 1<<40),
	}
	if !r.T.Has("ttl") && !r.T.Has("limit") {
		r.P.Add(r.T.Pos, r.T.KeyPath("ttl"), "add `ttl = \"1d\"`, or `limit = 100000`", "nothing bounds the state: the table grows with every new key")
	}
	for _, c := range key {
		t.Key = append(t.Key, in[0].Schema.Field(c).Name)
	}
	checkMatch(r, t, key, in[0])
	if before.more(r) {
		return nil
	}
	detail := fmt.Sprintf("by %s, %s", listNames(in[0].Schema, key), t.Match)
	if t.TTL > 0 {
		detail += ", ttl " + spanText(t.TTL)
	}
	return &Plan{
		Kind:        "table",
		Ports:       []Port{{Schema: in[0].Schema}},
		Convergence: Stateless,
		State:       "none: each lookup keeps the entries it needs",
		Reads:       [][]string{nil},
		Detail:      detail,
		Table:       t,
		New:         func() Operator { return &versions{} },
	}
}

func checkMatch(r *spec.Reader, t *Table, key []int, in Input) {
	want := map[string]tuple.Kind{matchPrefix: tuple.CIDR, matchSuffix: tuple.String}[t.Match]
	if want == tuple.Invalid || len(key) == 0 {
		return
	}
	if f := in.Schema.Field(key[0]); len(key) != 1 || f.Type.Kind != want {
		r.Errorf("match", "", "a table matched by %s has one key of type %v; `%s` is %v", t.Match, want, f.Name, f.Type)
	}
}

// versions hands rows on.
type versions struct{ stateless }

func (v *versions) Process(_ int, b *tuple.Batch, out Out) error {
	v.count(b.Rows(), b.Rows())
	if b.Rows() == 0 {
		return nil
	}
	return out.Batch(0, b)
}

func (v *versions) Fork() Operator { return &versions{} }
