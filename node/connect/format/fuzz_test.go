package format

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// fuzzColumns are read from every fuzzed input: one column of each kind of parser.
func fuzzColumns(t testing.TB) *connect.Stream {
	return stream(t, "ts", "ts timestamp | unit=s", "a string | field=a.b", "n int64", "f float64", "d decimal(18,2)", "ip ip", "c cidr", "b bool", "y bytes",
		"l list(string)", "u duration | unit=s", "p timestamp | from=x,y,z", "line int64 | field=@line")
}

// fuzzFormat checks for any input: no panic, no record lost or seen twice whatever the blocks, the pieces it is read in
// and the restarts, and values that keep to their types.
func fuzzFormat(f *testing.F, o Options, seeds ...string) {
	o.MaxRow = 1 << 10
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	s := fuzzColumns(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 16<<10 {
			return
		}
		whole, err := drain(s, o, bytes.NewReader(data), 4096)
		bytewise, berr := drain(s, o, iotest.OneByteReader(bytes.NewReader(data)), 3)
		require.Equal(t, err == nil, berr == nil)
		require.Equal(t, whole, bytewise)
		if err != nil || bytes.Count(data, []byte("\n")) > 50 {
			return
		}
		restarted, err := drainRestarting(s, o, data)
		require.NoError(t, err)
		require.Equal(t, whole, restarted)
		checkTypes(t, s, o, data)
	})
}

func checkTypes(t *testing.T, s *connect.Stream, o Options, data []byte) {
	r, err := NewReader(s, o, bytes.NewReader(data))
	require.NoError(t, err)
	rows := NewRows(s, 4096, &o)
	require.ErrorIs(t, r.Read(rows, true), io.EOF)
	if b := rows.Take(); b.Batch != nil {
		require.NoError(t, b.Batch.Check())
	}
}

func FuzzCSV(f *testing.F) {
	fuzzFormat(f, csvOptions(), "ts,a.b,n,f,d,ip,c,b,y,l,u,x,y,z\n1664462456.7,\"q\"\"\n\",1,0.5,1.25,10.0.0.1,10.0.0.0/8,T,00ff,\"[\"\"a\"\"]\",1.5,2020,1,2\r\n",
		"ts,a.b,n,f,d,ip,c,b,y,l,u,x,z\n\"\n\"", "\xEF\xBB\xBFts")
}

func FuzzJSONLines(f *testing.F) {
	fuzzFormat(f, jsonOptions(), `{"ts":1664462456.7,"a":{"b":"\u00e9\ud83d\ude00"},"n":-9223372036854775808,"f":1e-7,"d":"1.25","ip":"::1","l":["a",null],"x":2020,"y":1,"z":31}`,
		`{"a.b":[1,{"x":[]}],"ts":"2024-02-29T00:00:00+0100","n":NaN}`+"\n{}\n")
}

func FuzzZeek(f *testing.F) {
	fuzzFormat(f, DefaultOptions(Zeek), zeekHead+"#fields\tts\ta.b\tn\tf\td\tip\tc\tb\ty\tl\tu\tx\ty\tz\n1664462456.7\ta\\x09b\t1\t-\t(empty)\t10.0.0.1\t::/0\tF\t\tx,y\t1.5\t1\t2\t3\n",
		`{"ts":1664462456.7}`)
}

// FuzzArrow checks that damaged files end with an error and never with a panic or a batch that breaks its type.
func FuzzArrow(f *testing.F) {
	data := arrowFile(f)
	f.Add(data)
	f.Add(data[:len(data)/2])
	s := stream(f, "at", "n int64", "at timestamp", "text string")
	o := DefaultOptions(Arrow)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := NewReader(s, o, bytes.NewReader(data))
		require.NoError(t, err)
		rows := NewRows(s, 100, &o)
		for err == nil {
			err = r.Read(rows, true)
			if b := rows.Take(); b.Batch != nil {
				require.NoError(t, b.Batch.Check())
			}
		}
		require.Error(t, err)
	})
}

// FuzzPlace checks that a place from outside is refused or taken, without a panic.
func FuzzPlace(f *testing.F) {
	s := fuzzColumns(f)
	o := DefaultOptions(Zeek)
	r, err := NewReader(s, o, bytes.NewReader(nil))
	require.NoError(f, err)
	var e tuple.Encoder
	r.Save(&e)
	f.Add(e.B)
	f.Fuzz(func(t *testing.T, state []byte) {
		r, err := NewReader(s, o, bytes.NewReader(nil))
		require.NoError(t, err)
		d := tuple.NewDecoder(state)
		if skip := r.Restore(d); d.Close() == nil {
			require.GreaterOrEqual(t, skip, int64(0))
		}
	})
}
