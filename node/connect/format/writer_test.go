package format

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// allTypes has a column of every type.
func allTypes(t testing.TB) *connect.Stream {
	return stream(t, "", "b bool", "i int64", "f float64", "d decimal(18,3)", "s string", "y bytes", "t timestamp", "u duration",
		"a ip", "c cidr", "l list(int64)", "m list(string)")
}

func write(t testing.TB, s *connect.Stream, o Options, batches ...*tuple.Batch) []byte {
	var out bytes.Buffer
	w, err := NewWriter(&out, s.Schema, o, false)
	require.NoError(t, err)
	for _, b := range batches {
		require.NoError(t, w.Write(b))
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func sample(t testing.TB, s *connect.Stream, text string) *tuple.Batch {
	o := jsonOptions()
	r, err := NewReader(s, o, strings.NewReader(text))
	require.NoError(t, err)
	rows := NewRows(s, 4096, &o)
	require.ErrorContains(t, r.Read(rows, true), "EOF")
	b := rows.Take()
	require.Empty(t, b.Rejects)
	return b.Batch
}

func TestWrittenForms(t *testing.T) {
	s := allTypes(t)
	b := sample(t, s, `{"b":true,"i":1795292668348461056,"f":0.1,"d":1.5,"s":"a,\"b\"\n","y":"AP8=","t":"2024-04-19T00:00:00.5Z","u":"1h30m","a":"10.0.0.1","c":"10.0.0.0/8","l":[1,null],"m":["x"]}
{}
{"b":false,"i":-1,"f":"NaN","d":-0.001,"s":"","y":"","t":"1969-12-31T23:59:59.999999Z","u":"0s","a":"2001:db8::1","c":"::/0","l":[],"m":[]}
{"f":"-Infinity","t":"2024-04-19T00:00:00Z","s":"é"}
`)
	require.Equal(t, `b,i,f,d,s,y,t,u,a,c,l,m
true,1795292668348461056,0.1,1.500,"a,""b""
",00ff,2024-04-19T00:00:00.5Z,1h30m,10.0.0.1,10.0.0.0/8,"[1,null]","[""x""]"
,,,,,,,,,,,
false,-1,NaN,-0.001,"","",1969-12-31T23:59:59.999999Z,0s,2001:db8::1,::/0,[],[]
,,-Infinity,,é,,2024-04-19T00:00:00Z,,,,,
`, string(write(t, s, csvOptions(), b)))
	require.Equal(t, `{"b":true,"i":1795292668348461056,"f":0.1,"d":1.500,"s":"a,\"b\"\n","y":"AP8=","t":"2024-04-19T00:00:00.5Z","u":"1h30m","a":"10.0.0.1","c":"10.0.0.0/8","l":[1,null],"m":["x"]}
{"b":null,"i":null,"f":null,"d":null,"s":null,"y":null,"t":null,"u":null,"a":null,"c":null,"l":null,"m":null}
{"b":false,"i":-1,"f":null,"d":-0.001,"s":"","y":"","t":"1969-12-31T23:59:59.999999Z","u":"0s","a":"2001:db8::1","c":"::/0","l":[],"m":[]}
{"b":null,"i":null,"f":null,"d":null,"s":"é","y":null,"t":"2024-04-19T00:00:00Z","u":null,"a":null,"c":null,"l":null,"m":null}
`, string(write(t, s, jsonOptions(), b)))
	o := jsonOptions()
	o.NaN = true
	require.Contains(t, string(write(t, s, o, b)), `"f":"NaN"`)
	require.Contains(t, string(write(t, s, o, b)), `"f":"-Infinity"`)
	_, err := NewWriter(&bytes.Buffer{}, s.Schema, DefaultOptions(Zeek), false)
	require.EqualError(t, err, "format: zeek cannot be written")
}

func TestTail(t *testing.T) {
	s := stream(t, "ts", "ts timestamp", "src ip", "conns int64")
	b := sample(t, s, `{"ts":"2024-04-19T00:00:59.999999Z","src":"10.0.0.1","conns":9007199254740993}`)
	require.Equal(t, `{"id":18446744073709551615,"stime":"2024-04-19T00:00:59.999999Z","ts":"2024-04-19T00:00:59.999999Z","src":"10.0.0.1","conns":9007199254740993}`,
		string(NewJSONRows(s.Schema, false).AppendTail(nil, b, 0, math.MaxUint64)))
}

func TestSelectedRowsAreWritten(t *testing.T) {
	s := stream(t, "", "n int64", "a ip")
	b := sample(t, s, rowsText(2000, func(i int) string { return fmt.Sprintf(`{"n":%d,"a":"%s"}`+"\n", i, ipv4(i%7)) }))
	for i := 1; i < 2000; i += 2 {
		b.Sel = append(b.Sel, uint32(i))
	}
	got := string(write(t, s, csvOptions(), b))
	want := "n,a\n" + rowsText(1000, func(i int) string { return fmt.Sprintf("%d,%s\n", 2*i+1, ipv4((2*i+1)%7)) })
	require.Equal(t, want, got)
}

// anyBatch draws rows of every type, as JSON lines would hold them at their most awkward.
func anyBatch(rt *rapid.T, s *connect.Stream) *tuple.Batch {
	b := tuple.NewBatchBuilder(s.Schema)
	for range rapid.IntRange(1, 20).Draw(rt, "rows") {
		for i, f := range s.Schema.Fields() {
			if rapid.IntRange(0, 4).Draw(rt, "null") == 0 {
				b.AppendNull(i)
				continue
			}
			appendAny(rt, b, i, f.Type)
		}
		b.EndRow(0)
	}
	return b.Take()
}

func appendAny(rt *rapid.T, b *tuple.BatchBuilder, i int, typ tuple.Type) {
	text := rapid.StringOf(rapid.RuneFrom([]rune("ab,;\"'\n\r\t\\ é😀\x00#-")))
	switch typ.Kind {
	case tuple.Bool:
		b.AppendBool(i, rapid.Bool().Draw(rt, "bool"))
	case tuple.Int64:
		b.AppendInt(i, rapid.Int64().Draw(rt, "int"))
	case tuple.Float64:
		b.AppendFloat(i, rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.MaxFloat64, math.SmallestNonzeroFloat64})).Draw(rt, "float"))
	case tuple.Decimal:
		b.AppendInt(i, rapid.Int64Range(-999_999_999_999_999_999, 999_999_999_999_999_999).Draw(rt, "decimal"))
	case tuple.Timestamp:
		b.AppendInt(i, rapid.Int64Range(-62_167_219_200e6, 253_402_300_799e6).Draw(rt, "time"))
	case tuple.Duration:
		b.AppendInt(i, rapid.Int64Range(-1e15, 1e15).Draw(rt, "duration"))
	case tuple.String:
		b.AppendBin(i, []byte(text.Draw(rt, "string")))
	case tuple.Bytes:
		b.AppendBin(i, rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes"))
	case tuple.IP:
		b.AppendBin(i, rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(rt, "ip"))
	case tuple.CIDR:
		p := tuple.IPAddr(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(rt, "cidr"))
		pre, err := p.Prefix(rapid.IntRange(0, p.BitLen()).Draw(rt, "bits"))
		if err != nil {
			rt.Fatal(err)
		}
		v := tuple.CIDRBytes(pre)
		b.AppendBin(i, v[:])
	case tuple.List:
		for range rapid.IntRange(0, 3).Draw(rt, "elements") {
			if typ.Elem == tuple.String {
				b.AppendElemBin(i, []byte(text.Draw(rt, "element")))
			} else {
				e := b.Col(i).Elem
				e.Int = append(e.Int, rapid.Int64().Draw(rt, "element"))
			}
		}
		b.EndList(i)
	}
}

// What a writer wrote, the reader of the format reads back as the same values. NaN and the infinities need nan =
// "string" in JSON.
func TestReadingBackWhatWasWritten(t *testing.T) {
	s := allTypes(t)
	json := jsonOptions()
	json.NaN = true
	semicolon := csvOptions()
	semicolon.Delimiter = ';'
	for name, o := range map[string]Options{"csv": csvOptions(), "csv;": semicolon, "tsv": DefaultOptions(TSV), "jsonl": json, "arrow": DefaultOptions(Arrow)} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				b := anyBatch(rt, s)
				data := write(t, s, o, b)
				got, err := drain(s, o, bytes.NewReader(data), 7)
				require.NoError(rt, err)
				require.Equal(rt, render(&connect.Block{Batch: b}), got, "%q", data)
			})
		})
	}
}

func TestTimesAreWrittenAsEverywhere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var w timeText
		for range 5 {
			at := rapid.OneOf(rapid.Int64Range(0, 200*tuple.Second), rapid.Int64Range(-1e18, 1e18)).Draw(rt, "time")
			require.Equal(rt, string(tuple.AppendTime(nil, tuple.Time(at))), string(w.append(nil, at)))
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	s := benchStream(b)
	batch := sample(b, s, benchLines(4000))
	for name, o := range map[string]Options{"csv": csvOptions(), "jsonl": jsonOptions(), "arrow": DefaultOptions(Arrow)} {
		b.Run(name, func(b *testing.B) {
			w, err := NewWriter(discard{}, s.Schema, o, false)
			require.NoError(b, err)
			b.ReportAllocs()
			began := cpuTime(b)
			for b.Loop() {
				require.NoError(b, w.Write(batch))
			}
			reportCPU(b, began, batch.Rows())
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
