package op

import (
	"fmt"
	"math"
	"strings"

	"fednode/query/expr"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// overKind declares over: columns added to each row from the rows of the same key before it.
//
//	key = ["src"]
//	add = { before = "lag(n)", usual = "avg(n, 10)", week = "at(n, '7d')", trend = "ewma(n, 0.3)" }
//	ttl = "8d"          # a key not seen for that long is forgotten
//	limit = 1000000     # rows remembered; one of both bounds the state
//
// lag(x[, n]) is x of the n-th row before; at(x, d) of the last row at least d earlier; avg, stddev, min and max (x, n)
// go over the n rows before, with a time in place of n over the rows less than that earlier; ewma(x, a) is the
// exponentially weighted mean of all rows before with weight a for the newest. The row itself never counts, so it can be
// compared with what was usual. Nulls are skipped, but by lag and at; averages are float64, summed in order.
func overKind() Kind {
	return Kind{Name: "over", MinInputs: 1, MaxInputs: 1, Build: buildOver}
}

// maxOverRows bounds how many rows of a key one function may look back over.
const maxOverRows = 10_000

// overDecl is a checked declaration.
type overDecl struct {
	schema *tuple.Schema
	key    []int
	types  []tuple.Type    // of the key
	args   []*expr.Program // distinct arguments
	kinds  []tuple.Type    // of the arguments
	funcs  []overFunc
	means  int   // how many functions are ewma
	rows   int   // rows of a key that must be kept
	time   int64 // rows less than that earlier must be kept, and one more; -1 for none
	ttl    int64
	limit  int64
}

// overFunc is one added column.
type overFunc struct {
	name  string
	arg   int
	rows  int     // 0 if it goes by time
	time  int64   // microseconds
	alpha float64 // of ewma
	mean  int     // which of the means an ewma is
}

func buildOver(r *spec.Reader, in []Input) *Plan {
	before := markProblems(r)
	d := &overDecl{key: columnList(r, "key", true, in[0]), time: -1}
	d.types = typesOf(in[0].Schema, d.key)
	d.ttl = r.Duration("ttl", 0, 1, maxSpan)
	d.limit = r.Int("limit", 0, 1, 1<<40)
	if !r.T.Has("ttl") && !r.T.Has("limit") {
		r.P.Add(r.T.Pos, r.T.KeyPath("ttl"), "add `ttl = \"1d\"`, or `limit = 1000000`", "nothing bounds the state: every key would be remembered for ever")
	}
	fields := append([]tuple.Field(nil), in[0].Schema.Fields()...)
	var detail []string
	if t := r.Table("add", true); t != nil {
		for _, e := range t.Entries {
			t.Lookup(e.Key)
			typ, ok := d.readFunc(r, e, in[0])
			if !ok {
				continue
			}
			fields = append(fields, tuple.Field{Name: e.Key, Type: typ})
			detail = append(detail, e.Key+" = "+e.Value.Str)
		}
		if len(t.Entries) == 0 {
			r.Errorf("add", "add at least one column", "`add` is empty")
		}
	}
	s, err := tuple.NewSchema(fields...)
	if err != nil && !before.more(r) {
		r.Errorf("add", "choose another name", "%v", err)
	}
	if before.more(r) {
		return nil
	}
	d.schema = s
	p := &Plan{
		Kind:        "over",
		Ports:       []Port{{Schema: s}},
		Convergence: Divergent,
		Span:        -1,
		State:       d.stateText(),
		Reads:       [][]string{nil},
		Detail:      fmt.Sprintf("by %s: %s", listNames(in[0].Schema, d.key), strings.Join(detail, ", ")),
		New:         func() Operator { return newOver(d) },
	}
	if d.means == 0 && d.ttl > 0 {
		// Rows of a key that follow each other are less than a ttl apart.
		p.Convergence = Convergent
		if d.ttl <= math.MaxInt64/int64(d.rows+1) {
			p.Span = max(int64(d.rows)*d.ttl, d.time+d.ttl)
		}
	}
	return p
}

func (d *overDecl) stateText() string {
	per := fmt.Sprintf("the last %d rows", d.rows)
	if d.time >= 0 {
		per += " and those of the last " + spanText(d.time)
	}
	if d.ttl > 0 {
		return per + " of each key of the last " + spanText(d.ttl)
	}
	return per + fmt.Sprintf(" of each key, %d rows in all", d.limit)
}
