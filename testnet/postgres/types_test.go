package postgres

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// everyType has a column of each type, and a list of each.
func everyType() *tuple.Schema {
	var fields []tuple.Field
	for k := tuple.Bool; k < tuple.List; k++ {
		typ := tuple.Of(k)
		if k == tuple.Decimal {
			typ = tuple.DecimalType(2)
		}
		fields = append(fields, tuple.Field{Name: k.String(), Type: typ}, tuple.Field{Name: k.String() + "s", Type: tuple.ListOf(typ)})
	}
	return tuple.MustSchema(fields...)
}

// extreme is a value of each type, with how PostgreSQL prints it.
type extreme struct {
	set  func(c *tuple.Column)
	text string
}

func ints(v int64) func(c *tuple.Column) { return func(c *tuple.Column) { c.Int = append(c.Int, v) } }
func floats(v float64) func(c *tuple.Column) {
	return func(c *tuple.Column) { c.Float = append(c.Float, v) }
}

func octets(v []byte) func(c *tuple.Column) {
	return func(c *tuple.Column) {
		d := tuple.NewDictBuilder()
		for i := range c.Code {
			d.Intern(c.Bin(i))
		}
		code := d.Intern(v)
		c.Code, c.Dict = append(c.Code, code), d.Dict()
	}
}

func ip(s string) func(c *tuple.Column) {
	b := tuple.IPBytes(netip.MustParseAddr(s))
	return octets(b[:])
}

func cidr(s string) func(c *tuple.Column) {
	b := tuple.CIDRBytes(netip.MustParsePrefix(s))
	return octets(b[:])
}

var extremes = map[tuple.Kind][]extreme{
	tuple.Bool:    {{func(c *tuple.Column) { c.Bool = append(c.Bool, true) }, "t"}, {func(c *tuple.Column) { c.Bool = append(c.Bool, false) }, "f"}},
	tuple.Int64:   {{ints(math.MaxInt64), "9223372036854775807"}, {ints(math.MinInt64), "-9223372036854775808"}, {ints(0), "0"}},
	tuple.Float64: {{floats(math.NaN()), "NaN"}, {floats(math.Inf(1)), "Infinity"}, {floats(math.Inf(-1)), "-Infinity"}, {floats(0.1), "0.1"}, {floats(math.Copysign(0, -1)), "-0"}, {floats(math.MaxFloat64), "1.7976931348623157e+308"}, {floats(5e-324), "5e-324"}},
	tuple.Decimal: {{ints(math.MaxInt64), "92233720368547758.07"}, {ints(-1), "-0.01"}, {ints(100), "1.00"}},
	tuple.String:  {{octets([]byte("")), ""}, {octets([]byte("ä\"',{}\\\n\tNULL")), "ä\"',{}\\\n\tNULL"}},
	tuple.Bytes:   {{octets([]byte{}), "\\x"}, {octets([]byte{0, 255, '\\'}), "\\x00ff5c"}},
	tuple.Timestamp: {{ints(1_772_323_200_000_001), "2026-03-01 00:00:00.000001+00"}, {ints(-1), "1969-12-31 23:59:59.999999+00"}, {ints(math.MaxInt64), "294247-01-10 04:00:54.775807+00"},
		{ints(-210_866_803_200_000_000), "4714-11-24 00:00:00+00 BC"}},
	tuple.Duration: {{ints(90_000_001), "00:01:30.000001"}, {ints(-3_600_000_000_000), "-1000:00:00"}, {ints(math.MaxInt64), "2562047788:00:54.775807"}},
	tuple.IP:       {{ip("10.0.0.1"), "10.0.0.1"}, {ip("2001:db8::1"), "2001:db8::1"}, {ip("::ffff:1.2.3.4"), "1.2.3.4"}},
	tuple.CIDR:     {{cidr("10.0.0.0/8"), "10.0.0.0/8"}, {cidr("2001:db8::/32"), "2001:db8::/32"}, {cidr("0.0.0.0/0"), "0.0.0.0/0"}, {cidr("1.2.3.4/32"), "1.2.3.4/32"}},
}

// TestTypes writes the ends of each type, nulls and lists, with and without a key, and reads them as text.
func TestTypes(t *testing.T) {
	s := everyType()
	rows := 0
	for _, list := range extremes {
		rows = max(rows, len(list))
	}
	b := &tuple.Batch{Schema: s, Time: make([]tuple.Time, rows+1), Cols: make([]tuple.Column, s.Len())}
	want := make([][]any, rows+1)
	for c := 0; c < s.Len(); c += 2 {
		typ := s.Field(c).Type
		plain, list := tuple.Column{Type: typ}, tuple.Column{Type: s.Field(c + 1).Type, Off: []uint32{0}, Elem: &tuple.Column{Type: typ}}
		for i := range rows + 1 {
			if i < len(extremes[typ.Kind]) {
				x := extremes[typ.Kind][i]
				x.set(&plain)
				x.set(list.Elem)
				x.set(list.Elem)
				plain.Valid, list.Valid, list.Elem.Valid = append(plain.Valid, true), append(list.Valid, true), append(list.Elem.Valid, true, false)
				want[i] = append(want[i], x.text, fmt.Sprint(x.text, "|null"))
			} else {
				extremes[typ.Kind][0].set(&plain)
				plain.Valid, list.Valid = append(plain.Valid, false), append(list.Valid, i < rows) // an empty list, and none
				want[i] = append(want[i], "null", map[bool]string{true: "", false: "null"}[i < rows])
			}
			list.Off = append(list.Off, uint32(list.Elem.Rows()))
		}
		b.Cols[c], b.Cols[c+1] = plain, list
	}
	require.NoError(t, b.Check())
	db, conn := database(t)
	for _, keys := range []string{"table = \"appended\"", "table = \"keyed\"\nkey = [\"n\"]"} {
		schema, batch := s, b
		if keys != "table = \"appended\"" {
			n := tuple.Column{Type: tuple.Of(tuple.Int64)}
			fields := []tuple.Field{{Name: "n", Type: n.Type}}
			for i := range rows + 1 {
				n.Int = append(n.Int, int64(i))
			}
			for i := range s.Len() {
				fields = append(fields, s.Field(i))
			}
			schema = tuple.MustSchema(fields...)
			batch = &tuple.Batch{Schema: schema, Time: b.Time, Cols: append([]tuple.Column{n}, b.Cols...)}
		}
		l := declare(t, schema, connect.Database{Connection: the.connection(db)}, keys).begin(t)
		l.write(t, 1, batch)
		l.commit(t, uint64(rows)+1)
		var columns string
		for c := 0; c < s.Len(); c += 2 {
			name := pgx.Identifier{s.Field(c).Name}.Sanitize()
			values := pgx.Identifier{s.Field(c + 1).Name}.Sanitize()
			columns += fmt.Sprintf(", CASE WHEN %[1]s IS NULL THEN 'null' ELSE format('%%s', %[1]s) END, coalesce(array_to_string(%[2]s, '|', 'null'), 'null')", name, values)
		}
		table := keys[len(`table = "`):][:5]
		table = map[string]string{"appen": "appended", "keyed": "keyed"}[table]
		_, err := conn.Exec(t.Context(), "SET timezone = 'UTC'")
		require.NoError(t, err)
		got, err := conn.Query(t.Context(), "SELECT "+columns[2:]+" FROM "+table)
		require.NoError(t, err)
		for i := 0; got.Next(); i++ {
			v, err := got.Values()
			require.NoError(t, err)
			for c := range v {
				require.Equal(t, want[i][c], v[c], "%s row %d", s.Field(c).Name, i)
			}
		}
		require.NoError(t, got.Err())
		var n int
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
		require.Equal(t, rows+1, n)
	}
}

// What a type of PostgreSQL cannot hold is refused by name, and the position does not move; texts can be mended.
func TestUnfitValues(t *testing.T) {
	s := tuple.MustSchema(tuple.Field{Name: "k", Type: tuple.Of(tuple.Int64)}, tuple.Field{Name: "v", Type: tuple.Of(tuple.String)}, tuple.Field{Name: "at", Type: tuple.Of(tuple.Timestamp)})
	row := func(k *int64, v string, at int64) *tuple.Batch {
		b := tuple.NewBatchBuilder(s)
		if k == nil {
			b.AppendNull(0)
		} else {
			b.AppendInt(0, *k)
		}
		b.AppendBin(1, []byte(v))
		b.AppendInt(2, at)
		b.EndRow(0)
		return b.Take()
	}
	one := int64(1)
	db, conn := database(t)
	for _, keys := range []string{"table = \"keyed\"\nkey = [\"k\"]", "table = \"appended\""} {
		d := declare(t, s, connect.Database{Connection: the.connection(db)}, keys)
		first := d.begin(t)
		for _, c := range []struct {
			b    *tuple.Batch
			want string
		}{
			{row(&one, "a\x00b", 0), "row 1:7, column `v` holds a NUL"},
			{row(&one, "a\xffb", 0), "row 1:7, column `v` holds invalid UTF-8"},
			{row(&one, "a", math.MinInt64), "row 1:7, column `at` lies before 4713 BC"},
			{row(nil, "a\x00", 0), map[bool]string{true: "row 1:7, column `k` is null, and a column of the key cannot be", false: "row 1:7, column `v` holds a NUL"}[d.plan.Detail == "postgres db, table keyed, by k"]},
		} {
			sink := d.sink()
			_, err := sink.Recover(t.Context(), first.state)
			require.NoError(t, err)
			err = sink.Write(t.Context(), connect.SinkRows{Batch: c.b, Generation: 1, FirstID: 7})
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "COPY")
			lastingText(t, err)
			require.NoError(t, sink.Close())
		}
	}
	l := declare(t, s, connect.Database{Connection: the.connection(db)}, "table = \"mended\"\nkey = [\"k\"]\ntext = \"replace\"").begin(t)
	l.write(t, 1, row(&one, "a\x00b\xffc", 0))
	l.commit(t, 1)
	var got string
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT v FROM mended").Scan(&got))
	require.Equal(t, "a\uFFFDb\uFFFDc", got)
}

// A database may have another encoding than what is sent: what it has characters for arrives, the rest is refused.
func TestOtherEncoding(t *testing.T) {
	_, admin := database(t)
	name := fmt.Sprintf("latin%d", os.Getpid())
	_, err := admin.Exec(t.Context(), "CREATE DATABASE "+name+" ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
	require.NoError(t, err)
	conn, err := pgx.Connect(t.Context(), the.connection(name)+" client_encoding=UTF8")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.Background())) })
	for table, keys := range map[string]string{"appended": "", "keyed": "\nkey = [\"k\"]"} {
		l := declare(t, pairs, connect.Database{Connection: the.connection(name)}, "table = \""+table+"\""+keys).begin(t)
		l.write(t, 1, batch(pair{k: 1, v: "für"}))
		l.commit(t, 1)
		var got string
		var length int
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT v, length(v) FROM "+table).Scan(&got, &length))
		require.Equal(t, "für", got)
		require.Equal(t, 3, length)
		err = l.Write(t.Context(), connect.SinkRows{Batch: batch(pair{k: 2, v: "Ω"}), Generation: 1, FirstID: 2})
		require.Contains(t, lastingText(t, err), "the table cannot hold a value")
	}
}
