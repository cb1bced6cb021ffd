package format

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJSON(t *testing.T) {
	s := stream(t, "", "src string | field=id.orig_h", "n int64", "f float64", "ok bool")
	for _, c := range []struct{ name, text, want string }{
		{"the exact key", `{"id.orig_h":"a","n":1,"f":1.5,"ok":true}`, `"a" 1 1.5 true`},
		{"the dotted path", `{"id":{"x":[1,{"y":2}],"orig_h":"a"},"n":1}`, `"a" 1 null null`},
		{"the exact key wins, before", `{"id.orig_h":"a","id":{"orig_h":"b"}}`, `"a" null null null`},
		{"the exact key wins, after", `{"id":{"orig_h":"b"},"id.orig_h":"a"}`, `"a" null null null`},
		{"a key twice that nobody declared", `{"x":1,"n":2,"x":3,"id":{"x":1,"x":2}}`, `null 2 null null`},
		{"the same key in another object", `{"n":1,"id":{"n":2,"orig_h":"a"},"orig_h":"b"}`, `"a" 1 null null`},
		{"null is null", `{"id.orig_h":null,"n":null,"f":null,"ok":null}`, `null null null null`},
		{"nothing declared", `{"other":1}`, `null null null null`},
		{"no members", `{}`, `null null null null`},
		{"white space", " { \"n\" : 1 ,\t\"ok\" : false } ", `null 1 null false`},
		{"escapes", `{"id.orig_h":"a\n\"\\\/\u00e9\ud83d\ude00"}`, `"a\n\"\\/é😀" null null null`},
		{"an escaped key", `{"\u006e":7}`, `null 7 null null`},
		{"numbers as strings", `{"n":"1795292668348461056","f":"1e3"}`, `null 1795292668348461056 1000 null`},
		{"nineteen digits", `{"n":9007199254740993}`, `null 9007199254740993 null null`},
		{"any value as text", `{"id.orig_h":[1, {"a":null}],"n":2}`, `"[1, {\"a\":null}]" 2 null null`},
		{"a number as text", `{"id.orig_h":0.10}`, `"0.10" null null null`},
		{"NaN and infinities", `{"f":NaN}`, `null null "NaN" null`},
		{"infinity", `{"f":"-Infinity"}`, `null null "-Infinity" null`},
		{"empty string", `{"id.orig_h":""}`, `"" null null null`},
		{"NUL", `{"id.orig_h":"a\u0000b"}`, `"a\u0000b" null null null`},
		{"blank lines", "\n  \n{\"n\":1}\n\n", `null 1 null null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, strings.Join(read(t, s, jsonOptions(), c.text), "|"))
		})
	}
}

func TestJSONRejects(t *testing.T) {
	s := stream(t, "", "n int64")
	for _, c := range []struct{ text, want string }{
		{`{"n":1`, `! f:1: syntax: at byte 7: expected a comma or }, got the end of the line`},
		{`{"n":1}}`, `! f:1: syntax: at byte 8: expected the end of the line, got "}"`},
		{`{"n" 1}`, `! f:1: syntax: at byte 6: expected a colon, got "1}"`},
		{`{n:1}`, `! f:1: syntax: at byte 2: expected a key in quotes, got "n:1}"`},
		{`{"n":1,}`, `! f:1: syntax: at byte 8: expected a key in quotes, got "}"`},
		{`{"x":tru}`, `! f:1: syntax: at byte 6: expected a JSON value, got "tru}"`},
		{`{"x":[1,}`, `! f:1: syntax: at byte 9: expected a JSON value, got "}"`},
		{`{"x":[1 2]}`, `! f:1: syntax: at byte 9: expected a JSON value, got "2]}"`},
		{`{"x":{"a":1]}`, `! f:1: syntax: at byte 12: expected a JSON value, got "]}"`},
		{`{"x":"abc`, `! f:1: syntax: at byte 10: expected a JSON value, got the end of the line`},
		{`[1]`, `! f:1: syntax: expected a JSON object, got "[1]"`},
		{`{"n":"\q"}`, `! f:1: syntax: at byte 6: expected a string with valid escapes, got "\"\\q\"}"`},
		{`{"n":18446744073709551615}`, `! f:1: column n: out_of_range: "18446744073709551615" does not fit an int64; declare the column as string to keep it`},
		{`{"n":1.5}`, `! f:1: column n: wrong_type: "1.5" is not of type int64`},
		{`{"n":true}`, `! f:1: column n: wrong_type: "true" is not of type int64`},
		{`{"n":[1]}`, `! f:1: column n: wrong_type: "[1]" is not of type int64`},
		{`{"n":12x}`, `! f:1: syntax: at byte 6: expected a JSON value, got "12x}"`},
		{`{"x":` + strings.Repeat("[", 65) + strings.Repeat("]", 65) + `}`, `! f:1: syntax: at byte 70: expected a JSON value, got "[]]]]]]]]]]]]]]]]]]]"`},
	} {
		t.Run(c.text[:min(20, len(c.text))], func(t *testing.T) {
			require.Equal(t, []string{c.want, "2"}, read(t, s, jsonOptions(), c.text+"\n{\"n\":2}\n"))
		})
	}
}

// JSON leaves it open which of two equal keys counts, and what half of a surrogate pair means (RFC 8259, 4 and 8.2): a
// record that programs understand in different ways is set aside.
func TestAmbiguousJSONIsSetAside(t *testing.T) {
	s := stream(t, "", "n int64", "src string | field=id.orig_h", "l list(string)", "at timestamp | from=day,hour | layout=2006-01-02 15")
	for _, c := range []struct{ text, want string }{
		{`{"n":1,"n":1}`, `! f:1: syntax: at byte 12: expected each declared key once: "n" was there, got "1}"`},
		{`{"n":null,"x":0,"\u006e":2}`, `! f:1: syntax: at byte 26: expected each declared key once: "n" was there, got "2}"`},
		{`{"id":{"orig_h":"a","orig_h":"b"}}`, `! f:1: syntax: at byte 30: expected each declared key once: "orig_h" was there, got "\"b\"}}"`},
		{`{"id":{},"id":{"orig_h":"b"}}`, `! f:1: syntax: at byte 15: expected each declared key once: "id" was there, got "{\"orig_h\":\"b\"}}"`},
		{`{"day":"2026-01-01","hour":"1","day":"2026-01-02"}`, `! f:1: syntax: at byte 38: expected each declared key once: "day" was there, got "\"2026-01-02\"}"`},
		{`{"id":{"orig_h":"a\ud800"}}`, `! f:1: column src: bad_utf8: "a\\ud800" has half of a surrogate pair, which is no character`},
		{`{"id":{"orig_h":"\ude00\ud83d"}}`, `! f:1: column src: bad_utf8: "\\ude00\\ud83d" has half of a surrogate pair, which is no character`},
		{`{"id":{"orig_h":"\ud83d\ud83d"}}`, `! f:1: column src: bad_utf8: "\\ud83d\\ud83d" has half of a surrogate pair, which is no character`},
		{`{"day":"\udfff","hour":"1"}`, `! f:1: column at: bad_utf8: "\\udfff" has half of a surrogate pair, which is no character`},
		{`{"l":["a","\ud800"]}`, `! f:1: column l: bad_utf8: "[\"a\",\"\\ud800\"]" has half of a surrogate pair, which is no character`},
		{`{"x":"\ud800","\ud800":1,"n":3}`, `3 null null null`},
	} {
		require.Equal(t, []string{c.want, "2 null null null"}, read(t, s, jsonOptions(), c.text+"\n{\"n\":2}\n"), c.text)
	}
}

func TestJSONKeysInAnyOrder(t *testing.T) {
	s := stream(t, "", "a int64", "b int64", "c int64")
	text := rowsText(6, func(i int) string {
		orders := []string{`{"a":1,"b":2,"c":3}`, `{"c":3,"b":2,"a":1}`, `{"x":0,"b":2,"y":[],"a":1,"c":3}`, `{"b":2,"c":3,"a":1,"x":1,"x":2}`, `{"a":1,"aa":9,"b":2,"c":3}`, `{"c":3,"a":1,"b":2}`}
		return orders[i] + "\n"
	})
	for _, line := range read(t, s, jsonOptions(), text) {
		require.Equal(t, "1 2 3", line)
	}
}

func TestJSONUnboundedKeysAreNotRemembered(t *testing.T) {
	s := stream(t, "", "n int64")
	o := jsonOptions()
	text := rowsText(2000, func(i int) string { return `{"k` + strings.Repeat("x", i%90) + ipv4(i) + `":1,"n":` + "5}\n" })
	require.Len(t, read(t, s, o, text[:4000]), strings.Count(text[:4000], "\n")+1)
	d := newJSONL(s, &o)
	rows := NewRows(s, 4096, &o)
	_, err := d.decode([]byte(text), cursor{line: 1}, true, rows)
	require.NoError(t, err)
	require.Equal(t, 2000, rows.Len())
	require.LessOrEqual(t, len(d.root.order), 2*maxKnownKeys)
}

func TestLists(t *testing.T) {
	s := stream(t, "", "l list(int64)", "w list(string)")
	require.Equal(t, []string{`[1,2] ["a","b\n"]`, `[] null`, `[null] ["x"]`, `! f:4: column l: wrong_type: "[1,\"x\"]" is not of type list(int64)`,
		`! f:5: column l: wrong_type: "3" is not of type list(int64)`, `[7] []`},
		read(t, s, jsonOptions(), `{"l":[1,2],"w":["a","b\n"]}
{"l":[]}
{"l":[null],"w":["x"]}
{"l":[1,"x"]}
{"l":3}
{"l":[7],"w":[ ]}`))
	require.Equal(t, []string{`[1,2] ["a,b"]`, `null []`},
		read(t, s, csvOptions(), "l,w\n\"[1,2]\",\"[\"\"a,b\"\"]\"\n,[]\n"))
}

func TestJSONKeysWithQuotesInThem(t *testing.T) {
	s := stream(t, "", `n int64 | field=a":"b`)
	require.Equal(t, []string{"1", "2", `! f:3: syntax: at byte 9: expected a comma or }, got ":3}"`},
		read(t, s, jsonOptions(), `{"a\":\"b":1}`+"\n"+`{"a\":\"b":2}`+"\n"+`{"a":"b":3}`))
}
