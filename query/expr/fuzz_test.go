package expr

import (
	"testing"

	"fednode/query/tuple"
)

var seeds = []string{
	"dport < 1024", "i + 1 > j * 2 and not b", "case i when 1 then 'a' else s end", "case when b then 1 else 2.5 end", "x between 1 and 2.5",
	"s like 'a\\%%_' escape '\\'", "s matches '^(a|b)+$'", "ip_in(a, '10.0.0.0/8', '::1')", "ip_prefix(a, 24, 48)", "t + duration '5m' > '2024-01-01'",
	"date_trunc('week', t, 'Europe/Berlin')", "d * 1.5 / e", "cast(x as decimal(18,4))::string", "json_get(s, '$.a[0][''b c'']')", "coalesce(null, i, 3)",
	"nullif(s, '')", "element_at(l, -1)", "contains_element(l, 3)", "greatest(i, x, d)", "i in (1, 2, null)", "s not in ('a')", "\"left.conns\" = 1",
	"-9223372036854775808 - i", "1e308 * 10", "repeat(s, 1000000000)", "lpad(s, i, 'xy')", "i is not true", "((((i))))", "null = null", "x != nil",
	"hash64(i, s, x, l)", "geo_distance(x, y, x, y)", "parse_time(s, '2006-01-02', 'UTC')", "power(x, y) + exp(x)", "p * 1.5", "null in (1)", "null between 1 and 2",
	"case null when null then 1 end", "if(null, null, 1)", "regexp_replace(s, '(.)', '$1$1')", "split_part(s, 'a', -2)", "- - - i", "i::float64::int64", "substring(s, i, j)",
}

// Whatever the text, compiling ends with a program or errors within the text; a program prints as one that is equal, and
// computes rows with and without nulls.
func FuzzCompile(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	schema := propSchema()
	inputs := []*tuple.Batch{plainBatch(schema, false), plainBatch(schema, true), nothing(schema)}
	f.Fuzz(func(t *testing.T, src string) {
		p, errs := Compile(src, schema)
		for _, e := range errs {
			if e.Offset < 0 || e.Offset > len(src) || e.Msg == "" {
				t.Fatalf("%q: %+v", src, e)
			}
		}
		ParseCall(src)
		if p == nil {
			if len(errs) == 0 {
				t.Fatalf("%q: neither a program nor errors", src)
			}
			return
		}
		q, errs := Compile(p.String(), schema)
		if q == nil || q.String() != p.String() || q.Type() != p.Type() {
			t.Fatalf("%q prints as %q, which is not the same: %v", src, p, errs)
		}
		e := p.NewEval()
		for _, b := range inputs {
			if n := e.Eval(b).Rows(); n != b.Rows() {
				t.Fatalf("%q: %d rows of %d", src, n, b.Rows())
			}
			if p.Type().Kind == tuple.Bool {
				e.Select(b, nil)
			}
		}
	})
}

// nothing holds two rows of nulls, their dictionaries empty or not there at all.
func nothing(schema *tuple.Schema) *tuple.Batch {
	bb := tuple.NewBatchBuilder(schema)
	for range 2 {
		for i := range schema.Len() {
			bb.AppendNull(i)
		}
		bb.EndRow(0)
	}
	b := bb.Take()
	b.Cols[6].Dict, b.Cols[11].Dict = nil, nil
	return b
}

// plainBatch holds three rows: of small values, or of nulls with one row of values.
func plainBatch(schema *tuple.Schema, nulls bool) *tuple.Batch {
	bb := tuple.NewBatchBuilder(schema)
	for r := range 3 {
		for i, f := range schema.Fields() {
			switch k := f.Type.Kind; {
			case nulls && r != 1:
				bb.AppendNull(i)
			case k == tuple.Bool:
				bb.AppendBool(i, r == 1)
			case k == tuple.Float64:
				bb.AppendFloat(i, float64(r)*1.5)
			case k.IsInt():
				bb.AppendInt(i, int64(r*1000))
			case k == tuple.List:
				bb.Col(i).Elem.Int = append(bb.Col(i).Elem.Int, int64(r))
				bb.EndList(i)
			case k == tuple.IP:
				bb.AppendBin(i, append(make([]byte, 15), byte(r)))
			default:
				bb.AppendBin(i, []byte{'a', byte('a' + r)})
			}
		}
		bb.EndRow(0)
	}
	return bb.Take()
}
