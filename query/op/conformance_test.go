package op_test

import (
	"fmt"
	"strings"
	"testing"

	"fednode/query/op"
	"fednode/query/op/optest"
)

// Schemas of random inputs. anyTypes has a column of every type.
const (
	conns    = "src ip, dport int64, bytes int64, name string"
	anyTypes = "b bool, i int64, f float64, d decimal(18,2), s string, x bytes, at timestamp, du duration, a ip, p cidr, ls list(string), li list(int64)"
	windowed = "window_start timestamp, window_end timestamp, src ip, n int64"
)

const second = int64(1_000_000)

// conformanceCases lists at least one case of every kind; a new kind joins by one line.
func conformanceCases() []optest.Case {
	return []optest.Case{
		{Name: "filter", Kind: "filter", Declaration: `where = "dport > 1 and bytes < 4"`, Inputs: []optest.Input{{Schema: conns}}},
		{Name: "filter every type", Kind: "filter", Declaration: `where = "i > 0"`, Inputs: []optest.Input{{Schema: anyTypes}}},
		{Name: "map project", Kind: "map", Declaration: `columns = { s = "src", n = "name" }`, Inputs: []optest.Input{{Schema: conns}}},
		{Name: "map compute", Kind: "map", Declaration: decl(`columns = { bits = "bytes * 8", name = "name" }`, `keep = ["*"]`), Inputs: []optest.Input{{Schema: conns}}},
		{Name: "union", Kind: "union", Declaration: `origin = "org"`, Inputs: []optest.Input{{Schema: conns}, {Schema: conns}, {Schema: conns}}},
		{Name: "union every type", Kind: "union", Inputs: []optest.Input{{Schema: anyTypes}, {Schema: anyTypes}}},
		aggregateCases()[0], // the others: TestAggregateConformance
		{Name: "join same inner", Kind: "join", Declaration: joinSame("inner"), Inputs: windows()},
		{Name: "join same left", Kind: "join", Declaration: joinSame("left"), Inputs: windows()},
		{Name: "join same full", Kind: "join", Declaration: joinSame("full"), Inputs: windows()},
		{Name: "join same semi", Kind: "join", Declaration: joinSame("semi"), Inputs: windows()},
		{Name: "join same anti", Kind: "join", Declaration: joinSame("anti"), Inputs: windows()},
		{Name: "join same where", Kind: "join", Declaration: decl(joinSame("left"), `where = "left.n < right.n"`), Inputs: windows()},
		{Name: "join interval inner", Kind: "join", Declaration: joinNear("inner"), Inputs: pairs()},
		{Name: "join interval left", Kind: "join", Declaration: joinNear("left"), Inputs: pairs()},
		{Name: "join interval full", Kind: "join", Declaration: joinNear("full"), Inputs: pairs()},
		{Name: "join interval semi", Kind: "join", Declaration: joinNear("semi"), Inputs: pairs()},
		{Name: "join interval anti", Kind: "join", Declaration: decl(joinNear("anti"), `where = "left.n < right.m"`), Inputs: pairs()},
		{Name: "join computed", Kind: "join", Declaration: `
			on = { k = "key" }
			within = "1s"
			type = "full"
			columns = { both = "left.n + right.m", n = "left.n", key2 = "k" }`, Inputs: pairs()},
		{Name: "router first", Kind: "router", Declaration: routes("first"), Inputs: []optest.Input{{Schema: conns}}},
		{Name: "router all", Kind: "router", Declaration: routes("all"), Inputs: []optest.Input{{Schema: conns}}},
		{Name: "distinct in window", Kind: "distinct", Declaration: decl(`columns = ["n"]`, `window = "same"`), Inputs: windows()[:1]},
		{Name: "distinct within", Kind: "distinct", Declaration: `within = "3s"`, Inputs: []optest.Input{{Schema: "f float64, s string", Domain: 9}}},
		{Name: "top", Kind: "top", Declaration: decl(`n = 2`, `by = [{ column = "n", desc = true }]`, `window = "same"`), Inputs: windows()[:1]},
		{Name: "top of partitions", Kind: "top", Declaration: decl(`n = 1`, `by = ["n"]`, `window = "same"`, `partition_by = ["src"]`), Inputs: windows()[:1]},
		{Name: "sort", Kind: "sort", Declaration: decl(`by = ["src", { column = "n", desc = true }]`, `window = "same"`), Inputs: windows()[:1]},
		{Name: "sample", Kind: "sample", Declaration: decl(`fraction = 0.4`, `by = ["src"]`), Inputs: []optest.Input{{Schema: conns, Domain: 40}}},
		{Name: "sample rows", Kind: "sample", Declaration: `fraction = 0.5`, Inputs: []optest.Input{{Schema: anyTypes}}},
		{Name: "limit per window", Kind: "limit", Declaration: `rows = 2`, Inputs: windows()[:1]},
		{Name: "limit per stream", Kind: "limit", Declaration: decl(`rows = 100`, `per = "stream"`), Inputs: []optest.Input{{Schema: conns}}},
		{Name: "dedup", Kind: "dedup", Declaration: decl(`by = ["src", "dport"]`, `within = "1500ms"`), Inputs: []optest.Input{{Schema: conns}}},
		{Name: "dedup every type", Kind: "dedup", Declaration: decl(`by = ["f", "ls", "p", "b"]`, `within = "9s"`), Inputs: []optest.Input{{Schema: anyTypes, Domain: 2}}},
		{Name: "throttle limit", Kind: "throttle", Declaration: throttled("limit", 2), Inputs: []optest.Input{{Schema: conns}}},
		{Name: "throttle threshold", Kind: "throttle", Declaration: throttled("threshold", 3), Inputs: []optest.Input{{Schema: conns}}},
		{Name: "throttle both", Kind: "throttle", Declaration: throttled("both", 2), Inputs: []optest.Input{{Schema: conns}}},
		{Name: "throttle backoff", Kind: "throttle", Declaration: throttled("backoff", 1), Inputs: []optest.Input{{Schema: conns}}},
		{Name: "lookup exact", Kind: "lookup", Declaration: decl(`on = { k = "name" }`, `keep = "all"`), Inputs: lookups("k string, v int64, w string", "exact")},
		{Name: "lookup unmatched", Kind: "lookup", Declaration: decl(`on = { k = "src" }`, `keep = "unmatched"`), Inputs: lookups("k ip, v list(string)", "exact")},
		{Name: "lookup prefix", Kind: "lookup", Declaration: decl(`on = { k = "src" }`), Inputs: lookups("k cidr, v list(int64), f float64", "longest-prefix")},
		{Name: "lookup suffix", Kind: "lookup", Declaration: decl(`on = { k = "name" }`), Inputs: lookups("k string, v bool", "suffix")},
		{Name: "lookup latest", Kind: "lookup", Declaration: decl(`on = { k = "name" }`, `as_of = "latest"`), Inputs: lookups("k string, v string", "exact"), Waits: true},
		{Name: "over", Kind: "over", Declaration: `
			key = ["src"]
			add = { p = "lag(name, 2)", m = "avg(bytes, 3)", s = "stddev(dport + 1, '2s')", w = "at(bytes, '1s')", e = "ewma(bytes, 0.3)", x = "max(dport, 5)" }
			ttl = "3s"`, Inputs: []optest.Input{{Schema: conns}}},
		{Name: "over decimals", Kind: "over", Declaration: decl(`key = ["b"]`, `add = { m = "avg(d, 4)", lo = "min(f, '3s')", a1 = "lag(a)", p1 = "at(p, '2s')" }`, `ttl = "10s"`), Inputs: []optest.Input{{Schema: anyTypes}}},
		{Name: "pattern past last", Kind: "pattern", Declaration: matched("past-last"), Inputs: []optest.Input{{Schema: conns}}},
		{Name: "pattern next", Kind: "pattern", Declaration: matched("next"), Inputs: []optest.Input{{Schema: conns}}},
		{Name: "table", Kind: "table", Declaration: decl(`key = ["src"]`, `ttl = "1h"`), Inputs: []optest.Input{{Schema: conns}}},
	}
}

// decl puts the lines of a declaration together.
func decl(lines ...string) string { return strings.Join(lines, "\n") }

func routes(mode string) string {
	return `
		routes = [{ name = "low", where = "dport < 2" }, { name = "named", where = "name is not null" }]
		rest = "other"
		mode = "` + mode + `"`
}

func throttled(typ string, count int) string {
	return fmt.Sprintf("key = [\"src\"]\ntype = %q\ncount = %d\nper = \"2s\"\nsummary = \"quiet\"", typ, count)
}

func matched(after string) string {
	return `
		key = ["src"]
		within = "4s"
		steps = [{ name = "low", where = "dport < 2", min = 2, max = 3 }, { name = "named", where = "name is not null" }, { name = "big", where = "bytes > 2", min = 2 }]
		select = { lows = "count(low)", since = "first(low.dport)", name = "named.name", bytes = "last(big.bytes)" }
		after = "` + after + `"`
}

func lookups(table, match string) []optest.Input {
	return []optest.Input{{Schema: conns}, {Schema: table, Gap: second, Domain: 4, Table: &op.Table{Key: []string{"k"}, Match: match, TTL: 2 * second}}}
}

func windows() []optest.Input {
	w := optest.Input{Schema: windowed, Window: second, Domain: 12}
	return []optest.Input{w, w}
}

func joinSame(typ string) string {
	return `
		on = ["src"]
		window = "same"
		type = "` + typ + `"
		columns = { l = "left.n"` + map[bool]string{true: `, r = "right.n"`}[typ != "semi" && typ != "anti"] + ` }`
}

func pairs() []optest.Input {
	return []optest.Input{{Schema: "k string, n int64"}, {Schema: "key string, m int64"}}
}

func joinNear(typ string) string {
	return `
		on = { k = "key" }
		within = { before = "700ms", after = "300ms" }
		type = "` + typ + `"`
}

func TestConformance(t *testing.T) {
	for _, c := range conformanceCases() {
		optest.Run(t, c)
	}
}

// A kind without a case has not been held to the rules.
func TestEveryKindConforms(t *testing.T) {
	tried := map[string]bool{}
	for _, c := range conformanceCases() {
		tried[c.Kind] = true
	}
	for _, k := range op.Kinds() {
		if !tried[k.Name] {
			t.Errorf("the kind %q has no conformance case", k.Name)
		}
		if got, ok := op.ByName(k.Name); !ok || got.Name != k.Name {
			t.Errorf("ByName(%q) does not find it", k.Name)
		}
	}
}
