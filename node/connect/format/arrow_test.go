package format

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// arrowFile is an Arrow file of three records with numbers 0 to 29, times and texts.
func arrowFile(t testing.TB) []byte {
	s := stream(t, "", "n int64", "at timestamp", "text string", "num int64")
	var parts []*tuple.Batch
	for p := range 3 {
		parts = append(parts, sample(t, s, rowsText(10, func(i int) string {
			n := p*10 + i
			return fmt.Sprintf(`{"n":%d,"at":"2024-04-19T00:00:%02dZ","text":"2024-04-19 00:00:%02d","num":1713484800%03d}`+"\n", n, n, n, n)
		})))
	}
	return write(t, s, DefaultOptions(Arrow), parts...)
}

func TestArrow(t *testing.T) {
	data := arrowFile(t)
	o := DefaultOptions(Arrow)
	s := stream(t, "at", "at timestamp", "m int64 | field=n", "file string | field=@file", "line int64 | field=@line", "off int64 | field=@offset",
		"read timestamp | field=text | layout=2006-01-02 15:04:05", "ms timestamp | field=num | unit=ms")
	want := make([]string, 30)
	for i := range want {
		want[i] = fmt.Sprintf(`"2024-04-19T00:00:%02dZ" %d "f" %d %d "2024-04-19T00:00:%02dZ" "2024-04-19T00:00:00%sZ"`, i, i, i+1, i, i, strings.TrimRight(fmt.Sprintf(".%03d", i), ".0"))
	}
	for _, rows := range []int{4096, 10, 7, 1} {
		got, err := drain(s, o, bytes.NewReader(data), rows)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	got, err := drain(s, o, struct{ io.Reader }{bytes.NewReader(data)}, 4096)
	require.NoError(t, err, "a file that cannot seek is read as the stream it holds")
	require.Equal(t, want, got)
	got, err = drainRestarting(s, o, data)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestArrowRejects(t *testing.T) {
	s := stream(t, "", "at timestamp", "text string")
	data := write(t, s, DefaultOptions(Arrow), sample(t, s, `{"at":"2024-04-19T00:00:00Z","text":"10.0.0.1"}
{"text":"10.0.0.2"}
{"at":"2024-04-19T00:00:02Z","text":"x"}
{"at":"2024-04-19T00:00:03Z"}
`))
	got, err := drain(stream(t, "at", "at timestamp", "src ip | field=text"), DefaultOptions(Arrow), bytes.NewReader(data), 3)
	require.NoError(t, err)
	require.Len(t, got, 4)
	require.Equal(t, `"2024-04-19T00:00:00Z" "10.0.0.1"`, got[0])
	require.Equal(t, `! f@1: column at: no_time: the time of the row is missing`, got[1])
	require.Contains(t, got[2], `! f@2: column src: wrong_type: `)
	require.Equal(t, `"2024-04-19T00:00:03Z" null`, got[3])
}

func TestArrowThatCannotBeRead(t *testing.T) {
	data := arrowFile(t)
	s := stream(t, "", "n int64")
	o := DefaultOptions(Arrow)
	for name, c := range map[string]struct {
		data []byte
		end  connect.End
		rows int
	}{
		"cut in the middle":    {data[:len(data)/2], connect.EndTruncated, 10},
		"the index is gone":    {data[:len(data)-20], connect.EndTruncated, 30},
		"empty":                {nil, connect.EndTruncated, 0},
		"something else":       {[]byte("n\n1\n2\n this is no Arrow file at all"), connect.EndCorrupt, 0},
		"cut within the magic": {data[:3], connect.EndTruncated, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := drain(s, o, bytes.NewReader(c.data), 4096)
			var broken *InputError
			require.ErrorAs(t, err, &broken)
			require.GreaterOrEqual(t, len(got), c.rows)
		})
	}
	_, err := drain(stream(t, "", "m int64"), o, bytes.NewReader(data), 10)
	require.EqualError(t, err, "f: no field \"m\" for column `m`; there are: n, at, text, num")
	_, err = drain(stream(t, "", "n bool"), o, bytes.NewReader(data), 10)
	require.ErrorContains(t, err, "column `n`")
}

func BenchmarkArrow(b *testing.B) {
	s := benchStream(b)
	batch := sample(b, s, benchLines(4000))
	var parts []*tuple.Batch
	for range 25 {
		parts = append(parts, batch)
	}
	benchRead(b, s, DefaultOptions(Arrow), write(b, s, DefaultOptions(Arrow), parts...), 25*batch.Rows())
}
