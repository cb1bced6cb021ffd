package arrowio

import (
	"strings"
	"testing"

	"fednode/query/tuple"
	"fednode/query/tuple/tupletest"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// column builds a one-column record of an Arrow type from JSON.
func column(t *testing.T, dt arrow.DataType, json string) arrow.RecordBatch {
	t.Helper()
	arr, _, err := array.FromJSON(memory.NewGoAllocator(), dt, strings.NewReader(json))
	require.NoError(t, err)
	s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: dt, Nullable: true}}, nil)
	return array.NewRecordBatch(s, []arrow.Array{arr}, int64(arr.Len()))
}

func dictionary(index, value arrow.DataType) arrow.DataType {
	return &arrow.DictionaryType{IndexType: index, ValueType: value}
}

// Files of others: every width and unit becomes the declared type, row by row as the text says.
func TestForeignTypes(t *testing.T) {
	p, w := arrow.PrimitiveTypes, arrow.FixedWidthTypes
	cases := map[string]struct {
		from arrow.DataType
		json string
		to   tuple.Type
		want string
	}{
		"bool":            {w.Boolean, `[true,null,false]`, tuple.Of(tuple.Bool), "true null false"},
		"int8":            {p.Int8, `[-128,null,127]`, tuple.Of(tuple.Int64), "-128 null 127"},
		"int16":           {p.Int16, `[-5]`, tuple.Of(tuple.Int64), "-5"},
		"int32":           {p.Int32, `[2147483647,null]`, tuple.Of(tuple.Int64), "2147483647 null"},
		"uint8":           {p.Uint8, `[255]`, tuple.Of(tuple.Int64), "255"},
		"uint16":          {p.Uint16, `[65535]`, tuple.Of(tuple.Int64), "65535"},
		"uint32":          {p.Uint32, `[4294967295]`, tuple.Of(tuple.Int64), "4294967295"},
		"uint64":          {p.Uint64, `[9223372036854775807]`, tuple.Of(tuple.Int64), "9223372036854775807"},
		"float32":         {p.Float32, `[0.5,null]`, tuple.Of(tuple.Float64), "0.5 null"},
		"int32 as float":  {p.Int32, `[3]`, tuple.Of(tuple.Float64), "3"},
		"int16 decimal":   {p.Int16, `[3,null]`, tuple.DecimalType(2), "3.00 null"},
		"decimal128 up":   {&arrow.Decimal128Type{Precision: 10, Scale: 1}, `["1.5","-2.0"]`, tuple.DecimalType(3), "1.500 -2.000"},
		"decimal128 down": {&arrow.Decimal128Type{Precision: 10, Scale: 3}, `["1.500"]`, tuple.DecimalType(1), "1.5"},
		"utf8":            {arrow.BinaryTypes.String, `["a","",null,"a"]`, tuple.Of(tuple.String), `"a" "" null "a"`},
		"large utf8":      {arrow.BinaryTypes.LargeString, `["a","ü"]`, tuple.Of(tuple.String), `"a" "ü"`},
		"utf8 as bytes":   {arrow.BinaryTypes.String, `["a"]`, tuple.Of(tuple.Bytes), `"YQ=="`},
		"dict int8":       {dictionary(p.Int8, arrow.BinaryTypes.String), `["a","b",null,"a"]`, tuple.Of(tuple.String), `"a" "b" null "a"`},
		"dict int16":      {dictionary(p.Int16, arrow.BinaryTypes.String), `["a","b"]`, tuple.Of(tuple.String), `"a" "b"`},
		"dict int32":      {dictionary(p.Int32, arrow.BinaryTypes.String), `["a","b","b"]`, tuple.Of(tuple.String), `"a" "b" "b"`},
		"dict int64":      {dictionary(p.Int64, arrow.BinaryTypes.String), `["b",null]`, tuple.Of(tuple.String), `"b" null`},
		"dict uint16":     {dictionary(p.Uint16, arrow.BinaryTypes.String), `["a"]`, tuple.Of(tuple.String), `"a"`},
		"dict as ip":      {dictionary(p.Int32, arrow.BinaryTypes.String), `["10.0.0.1","10.0.0.1","2001:db8::1"]`, tuple.Of(tuple.IP), `"10.0.0.1" "10.0.0.1" "2001:db8::1"`},
		"ip of 16 chars":  {arrow.BinaryTypes.String, `["2001:db8::1:2:33"]`, tuple.Of(tuple.IP), `"2001:db8::1:2:33"`},
		"ip of 4 chars":   {arrow.BinaryTypes.String, `["1::2"]`, tuple.Of(tuple.IP), `"1::2"`},
		"ip of 4 bytes":   {&arrow.FixedSizeBinaryType{ByteWidth: 4}, `["CgAAAQ=="]`, tuple.Of(tuple.IP), `"10.0.0.1"`},
		"cidr text":       {arrow.BinaryTypes.String, `["10.1.2.3/8","2001:db8::/32"]`, tuple.Of(tuple.CIDR), `"10.0.0.0/8" "2001:db8::/32"`},
		"timestamp s":     {w.Timestamp_s, `[7,null]`, tuple.Of(tuple.Timestamp), `"1970-01-01T00:00:07Z" null`},
		"timestamp ms":    {w.Timestamp_ms, `[7]`, tuple.Of(tuple.Timestamp), `"1970-01-01T00:00:00.007Z"`},
		"timestamp us":    {w.Timestamp_us, `[7]`, tuple.Of(tuple.Timestamp), `"1970-01-01T00:00:00.000007Z"`},
		"timestamp ns":    {w.Timestamp_ns, `[7999]`, tuple.Of(tuple.Timestamp), `"1970-01-01T00:00:00.000007Z"`},
		"before 1970, ns": {w.Timestamp_ns, `[-1]`, tuple.Of(tuple.Timestamp), `"1969-12-31T23:59:59.999999Z"`},
		"date32":          {w.Date32, `["2026-11-29"]`, tuple.Of(tuple.Timestamp), `"2026-11-29T00:00:00Z"`},
		"date64":          {w.Date64, `["2026-11-29"]`, tuple.Of(tuple.Timestamp), `"2026-11-29T00:00:00Z"`},
		"duration s":      {w.Duration_s, `["90s"]`, tuple.Of(tuple.Duration), `"1m30s"`},
		"list":            {arrow.ListOf(p.Int16), `[[1,2],null,[],[3,null]]`, tuple.ListOf(tuple.Of(tuple.Int64)), "[1,2] null [] [3,null]"},
		"fixed list":      {arrow.FixedSizeListOf(2, p.Int32), `[[1,2],[3,4]]`, tuple.ListOf(tuple.Of(tuple.Int64)), "[1,2] [3,4]"},
		"large list":      {arrow.LargeListOf(arrow.BinaryTypes.String), `[["a"],["b","c"]]`, tuple.ListOf(tuple.Of(tuple.String)), `["a"] ["b","c"]`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			rec := column(t, c.from, c.json)
			im, err := NewImporter(rec.Schema(), tuple.MustSchema(tuple.Field{Name: "c", Type: c.to}))
			require.NoError(t, err)
			for range 2 { // the second time what is known of the dictionary is used
				b, bad, err := im.Batch(rec)
				require.NoError(t, err)
				require.Empty(t, bad)
				require.NoError(t, b.Check())
				require.Equal(t, c.want, values(b))
			}
		})
	}
}

// values renders the first column.
func values(b *tuple.Batch) string {
	var all []string
	for i := range b.Rows() {
		all = append(all, string(b.Cols[0].AppendJSON(nil, b.Row(i), tuple.FloatString)))
	}
	return strings.Join(all, " ")
}

// Values that do not convert are nulls, each with its row and reason; the rest of the record is right.
func TestBadValues(t *testing.T) {
	p, w := arrow.PrimitiveTypes, arrow.FixedWidthTypes
	cases := map[string]struct {
		from   arrow.DataType
		json   string
		to     tuple.Type
		want   string
		row    int
		reason string
	}{
		"beyond int64":   {p.Uint64, `[1,18446744073709551615]`, tuple.Of(tuple.Int64), "1 null", 1, "18446744073709551615 does not fit in int64"},
		"beyond time":    {w.Timestamp_s, `[9000000000000000000,1]`, tuple.Of(tuple.Timestamp), `null "1970-01-01T00:00:01Z"`, 0, "beyond the range of microseconds"},
		"digits lost":    {&arrow.Decimal128Type{Precision: 10, Scale: 3}, `["1.505","1.500"]`, tuple.DecimalType(1), "null 1.5", 0, "digits below scale 1"},
		"19 digits":      {&arrow.Decimal128Type{Precision: 38, Scale: 0}, `["1000000000000000000","7"]`, tuple.DecimalType(0), "null 7", 0, "more than 18 digits"},
		"30 digits":      {&arrow.Decimal128Type{Precision: 38, Scale: 0}, `["100000000000000000000000000000"]`, tuple.DecimalType(0), "null", 0, "more than 18 digits"},
		"not an address": {arrow.BinaryTypes.String, `["10.0.0.1","10.0.0.999"]`, tuple.Of(tuple.IP), `"10.0.0.1" null`, 1, `"10.0.0.999" is not an address`},
		"dict address":   {dictionary(p.Int8, arrow.BinaryTypes.String), `["x","10.0.0.1"]`, tuple.Of(tuple.IP), `null "10.0.0.1"`, 0, "not of type ip"},
		"in a list":      {arrow.ListOf(arrow.BinaryTypes.String), `[["10.0.0.1"],["?"]]`, tuple.ListOf(tuple.Of(tuple.IP)), `["10.0.0.1"] [null]`, 1, "in a list"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			rec := column(t, c.from, c.json)
			im, err := NewImporter(rec.Schema(), tuple.MustSchema(tuple.Field{Name: "c", Type: c.to}))
			require.NoError(t, err)
			b, bad, err := im.Batch(rec)
			require.NoError(t, err)
			require.NoError(t, b.Check())
			require.Equal(t, c.want, values(b))
			require.Len(t, bad, 1)
			require.Equal(t, c.row, bad[0].Row)
			require.Equal(t, "c", bad[0].Column)
			require.Contains(t, bad[0].Reason, c.reason)
		})
	}
}

// A schema that does not fit is refused at once, with every column at fault.
func TestImporterRefuses(t *testing.T) {
	from := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.BinaryTypes.String}, {Name: "b", Type: arrow.PrimitiveTypes.Float64}}, nil)
	_, err := NewImporter(from, tuple.MustSchema(tuple.Field{Name: "a", Type: tuple.Of(tuple.Int64)},
		tuple.Field{Name: "b", Type: tuple.DecimalType(2)}, tuple.Field{Name: "c", Type: tuple.Of(tuple.Bool)}))
	require.ErrorContains(t, err, `column "a": the Arrow type utf8 does not convert to int64`)
	require.ErrorContains(t, err, `column "b": the Arrow type float64 does not convert to decimal(18,2)`)
	require.ErrorContains(t, err, `no column "c"; there are a, b`)
}

// Types without counterpart are named.
func TestTupleSchemaRefuses(t *testing.T) {
	_, _, err := TupleSchema(arrow.NewSchema([]arrow.Field{
		{Name: "s", Type: arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int8})},
		{Name: "l", Type: arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int8))}}, nil))
	require.ErrorContains(t, err, `column "s"`)
	require.ErrorContains(t, err, `column "l"`)
}

func TestNaturalTypes(t *testing.T) {
	s, stime, err := TupleSchema(arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Int8}, {Name: "b", Type: dictionary(arrow.PrimitiveTypes.Int8, arrow.BinaryTypes.String)},
		{Name: "c", Type: &arrow.Decimal128Type{Precision: 9, Scale: 4}}, {Name: "d", Type: arrow.FixedWidthTypes.Date32}}, nil))
	require.NoError(t, err)
	require.False(t, stime)
	require.Equal(t, "a int64, b string, c decimal(18,4), d timestamp", s.String())
}

// A selection and slices export as what they select.
func TestExportSelection(t *testing.T) {
	r := tupletest.Source(3)
	s := tupletest.Schema(r)
	b := tupletest.Batches(r, s, 1, 50, 0)[0]
	b.Sel = nil
	want := tupletest.Lines(b.Slice(3, 9))
	got := read(t, strings.NewReader(string(write(t, s, StreamFormat, b.Slice(3, 9)))), s)
	require.Equal(t, want, tupletest.Lines(got...))
}
