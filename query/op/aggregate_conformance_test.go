package op_test

import (
	"testing"

	"fednode/query/op/optest"
)

const (
	everyFunction = `aggregates = { n = "count()", ni = "count(i)", si = "sum(i)", sf = "sum(f)", sd = "sum(d)", su = "sum(du)", ai = "avg(i)",
		af = "avg(f)", ad = "avg(d)", au = "avg(du)", mi = "min(i)", mf = "max(f)", mb = "min(b)", ms = "max(s)", ma = "min(at)", mp = "max(p)",
		vi = "stddev(i)", vf = "stddev_pop(f)", vd = "stddev_pop(d)", fs = "first(s)", lf = "last(f)", fl = "first(ls)",
		ci = "count_distinct(i)", cs = "count_distinct(s)", cf = "count_distinct(f)", cl = "count_distinct(li)", hs = "approx_count_distinct(a)",
		ts = "top_k(s, 2)", ti = "top_k(i, 3)", q = "quantile(f, 0.5)", qd = "quantile(d, 0.9)", xs = "collect(s, 5000)", xi = "collect(i, 5000)" }`
	exactFunctions = `aggregates = { n = "count()", si = "sum(i)", sd = "sum(d)", ai = "avg(i)", mi = "min(i)", mf = "max(f)", ms = "max(s)", mp = "min(p)",
		vi = "stddev(i)", vd = "stddev_pop(d)", ci = "count_distinct(i)", cs = "count_distinct(s)", cl = "count_distinct(ls)",
		hs = "approx_count_distinct(f)", ts = "top_k(s, 2)", q = "quantile(f, 0.5)" }`
)

// aggregateCases are the windows with all functions, and with those alone that do not mind the order of rows.
func aggregateCases() []optest.Case {
	kind := func(name string, lag int64, lines ...string) optest.Case {
		return optest.Case{Name: "aggregate " + name, Kind: "aggregate", Declaration: decl(lines...), Lag: lag, Inputs: []optest.Input{{Schema: anyTypes}}}
	}
	const (
		tumbling = `window = { tumbling = "3s", offset = "700ms" }`
		sliding  = `window = { sliding = "4s", every = "1500ms" }`
		session  = `window = { session = "700ms" }`
		cutShort = `window = { session = "700ms", max = "2s" }`
		counted  = `window = { count = 7 }`
		hopping  = `window = { count = 6, every = 4 }`
	)
	return []optest.Case{
		kind("tumbling", 3*second, tumbling, `group_by = ["s", "b"]`, everyFunction),
		kind("tumbling any order", 3*second, tumbling, `group_by = ["s"]`, exactFunctions),
		kind("tumbling total", 3*second, tumbling, exactFunctions, `having = "n > 3"`),
		kind("tumbling every type", 3*second, tumbling, `group_by = ["b", "f", "d", "x", "at", "a", "p", "ls"]`, `aggregates = { n = "count()" }`),
		kind("tumbling numbers", 3*second, tumbling, `group_by = { k = "i % 3", up = "i > 0" }`, exactFunctions),
		kind("sliding", 4*second, sliding, `group_by = ["s"]`, everyFunction),
		kind("sliding any order", 4*second, sliding, `group_by = ["i"]`, exactFunctions),
		kind("zone", 3600*second, `window = { tumbling = "1h", zone = "Asia/Kolkata" }`, `group_by = ["s"]`, exactFunctions),
		kind("empty", 4*second, sliding, `group_by = ["s"]`, `aggregates = { n = "count()", m = "max(f)", t = "top_k(i, 2)" }`, `emit_empty = true`, `ttl = "5s"`),
		kind("session", second, session, `group_by = ["s"]`, everyFunction),
		kind("session any order", second, session, `group_by = ["i"]`, exactFunctions),
		kind("session total", second, session, `aggregates = { n = "count()" }`),
		kind("session cut", 2*second, cutShort, `group_by = ["s"]`, everyFunction),
		kind("count", 0, counted, `group_by = ["s"]`, everyFunction, `ttl = "4s"`),
		kind("count sliding", 0, hopping, `group_by = ["s"]`, everyFunction, `limit = 100`),
		kind("count total", 0, hopping, `aggregates = { n = "count()", sf = "sum(f)" }`),
	}
}

func TestAggregateConformance(t *testing.T) {
	for _, c := range aggregateCases() {
		optest.Run(t, c)
	}
}
