package op

import (
	"fmt"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// throttleKind declares throttle: a bound on how many rows of a key pass in a time, for alerts. A key's period begins
// with its first row, lasts `per`, and the next begins with the first row after it.
//
//	key = ["src"]
//	type = "limit"        # the first `count` rows of a period pass
//	                      # "threshold": every count-th row; "both": the count-th only
//	                      # "backoff": the count-th, then the 2·count-th, 4·count-th, …
//	count = 1
//	per = "10m"
//	summary = "quiet"     # an output "op.quiet" with a row for each period in which rows were held back
//
// To let a list of keys never pass, put a lookup with keep = "unmatched" before it.
func throttleKind() Kind {
	return Kind{Name: "throttle", MinInputs: 1, MaxInputs: 1, Build: buildThrottle}
}

// throttleDecl is a checked declaration.
type throttleDecl struct {
	typ     string
	key     []int
	types   []tuple.Type
	count   int64
	per     int64
	limit   int64
	summary *tuple.Schema // nil without one
}

func buildThrottle(r *spec.Reader, in []Input) *Plan {
	before := markProblems(r)
	d := &throttleDecl{key: columnList(r, "key", true, in[0])}
	r.Value("type", true, spec.String)
	d.typ = r.OneOf("type", "limit", "limit", "threshold", "both", "backoff")
	r.Value("count", true, spec.Int)
	d.count = r.Int("count", 1, 1, 1<<40)
	d.per = needTime(r, "per", "no period would end")
	d.limit = r.Int("limit", 0, 1, 1<<40)
	d.types = typesOf(in[0].Schema, d.key)
	if r.T.Has("suppress") {
		know(r, "suppress")
		r.Errorf("suppress", "put a lookup with keep = \"unmatched\" on that table before the throttle", "a throttle reads no table")
	}
	ports := []Port{{Schema: in[0].Schema}}
	if r.T.Has("summary") {
		if name, ok := r.NeedString("summary"); ok {
			d.summary = d.summarySchema(r, in[0])
			ports = append(ports, Port{Name: name, Schema: d.summary})
		}
	}
	if before.more(r) {
		return nil
	}
	return &Plan{
		Kind:        "throttle",
		Ports:       ports,
		Convergence: Divergent, // where a period begins depends on where all earlier ones did
		Span:        -1,
		State:       "keys of the last " + spanText(d.per),
		Reads:       [][]string{nil},
		Detail:      fmt.Sprintf("%s %d per %s by %s", d.typ, d.count, spanText(d.per), listNames(in[0].Schema, d.key)),
		New:         func() Operator { return newThrottle(d) },
	}
}

// summarySchema is the period, the key, and how many rows of it passed and were held back.
func (d *throttleDecl) summarySchema(r *spec.Reader, in Input) *tuple.Schema {
	fields := []tuple.Field{
		{Name: windowStart, Type: tuple.Of(tuple.Timestamp)},
		{Name: windowEnd, Type: tuple.Of(tuple.Timestamp)},
	}
	for _, c := range d.key {
		fields = append(fields, in.Schema.Field(c))
	}
	count := tuple.Of(tuple.Int64)
	fields = append(fields, tuple.Field{Name: "passed", Type: count}, tuple.Field{Name: "suppressed", Type: count})
	s, err := tuple.NewSchema(fields...)
	if err != nil {
		r.Errorf("summary", "rename the key with a map", "%v", err)
	}
	return s
}

// passes reports whether the n-th row of a period passes.
func (d *throttleDecl) passes(n int64) bool {
	switch d.typ {
	case "limit":
		return n <= d.count
	case "threshold":
		return n%d.count == 0
	case "both":
		return n == d.count
	}
	q := n / d.count
	return n%d.count == 0 && q&(q-1) == 0
}
