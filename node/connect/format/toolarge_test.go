package format

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
)

// One field of 64 MiB is one record that is set aside, also if it has millions of lines: as many rejects would be more
// than the record itself.
func TestAQuotedFieldOfManyLinesIsOneReject(t *testing.T) {
	s := stream(t, "", "name string", "n int64")
	size := 64 << 20
	for _, line := range []string{"short\n", "\n", "with \"\"quotes\"\"\n", "a,b,c\n", "not,a row\n"} {
		text := "name,n\na,1\n\"" + strings.Repeat(line, size/len(line)) + "\",7\nb,2\nc\n"
		size = 4 << 20 // the same for other lines
		lines, err := drain(s, csvOptions(), strings.NewReader(text), 4096)
		require.NoError(t, err, line)
		require.Len(t, lines, 4, line)
		require.Equal(t, []string{`"a" 1`, `"b" 2`}, []string{lines[0], lines[2]}, line)
		require.Contains(t, lines[1], "! f:3: too_large: the record has more than 1048576 bytes", line)
		require.Contains(t, lines[3], "field_count: 1 fields, expected 2", line)
	}
}

// Where reading goes on after such a field does not depend on blocks, pieces and restarts.
func TestReadingGoesOnBehindALargeField(t *testing.T) {
	s := stream(t, "", "name string", "n int64")
	o := csvOptions()
	o.MaxRow = 64
	long := strings.Repeat("x", 100)
	for _, c := range []struct{ name, record, want string }{
		{"short lines", "\"" + strings.Repeat("line\n", 40) + "\",3", "! f:3: too_large"},
		{"a long line among them", "\"a\nb\n" + long + "\nc\n\",3", "! f:3: too_large|! f:5: too_large"},
		{"a long line first", "\"" + long + "\nb\nc\n\",3", "! f:3: too_large"},
		{"one line", "\"" + long + "\",3", "! f:3: too_large"},
		{"exactly max_row and one", "\"" + strings.Repeat("z", 60) + "\n\",3", "! f:3: too_large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := read(t, s, o, "name,n\na,1\n"+c.record+"\nb,2\n")
			var rejects []string
			for _, l := range lines[1 : len(lines)-1] {
				rejects = append(rejects, l[:strings.Index(l, ": the record")])
			}
			require.Equal(t, c.want, strings.Join(rejects, "|"))
			require.Equal(t, []string{`"a" 1`, `"b" 2`}, []string{lines[0], lines[len(lines)-1]})
		})
	}
	require.Equal(t, []string{`"` + strings.Repeat("z", 60) + `" 3`}, read(t, s, o, "name,n\n\""+strings.Repeat("z", 60)+"\",3\n"), "exactly max_row")
}

// The other decoders of lines: a record beyond max_row is set aside, also where it arrives in pieces, and the next one is
// read.
func TestLargeJSONAndZeekRecords(t *testing.T) {
	s := stream(t, "", "n int64")
	head := zeekHead + "#fields\tn\tx\n"
	for _, c := range []struct {
		name             string
		o                Options
		head, large, row string
		line             string
	}{
		{"jsonl", jsonOptions(), "", `{"x":"` + strings.Repeat("y", 2000) + `","n":1}`, `{"n":2}`, "1"},
		{"zeek as JSON", DefaultOptions(Zeek), "", `{"x":"` + strings.Repeat("y", 2000) + `","n":1}`, `{"n":2}`, "1"},
		{"zeek", DefaultOptions(Zeek), head, "1\t" + strings.Repeat("y", 2000), "2\tz", "7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.MaxRow = 1 << 10
			lines := read(t, s, c.o, c.head+c.large+"\n"+c.row+"\n")
			require.Len(t, lines, 2)
			require.Contains(t, lines[0], "! f:"+c.line+": too_large: the record has ")
			require.Contains(t, lines[0], "max_row allows 1024")
			require.Equal(t, "2", lines[1])
		})
	}
}

// A record that is larger than any buffer is passed over, and its reject holds its size and its beginning only.
func TestAHugeJSONRecordIsNotHeld(t *testing.T) {
	s := stream(t, "", "n int64")
	o := jsonOptions()
	r, err := NewReader(s, o, strings.NewReader(`{"x":"`+strings.Repeat("y", 64<<20)+"\"}\n{\"n\":2}\n"))
	require.NoError(t, err)
	rows := NewRows(s, 10, &o)
	require.ErrorContains(t, r.Read(rows, true), "EOF")
	b := rows.Take()
	require.Equal(t, 1, b.Rows())
	require.Len(t, b.Rejects, 1)
	require.Equal(t, connect.TooLarge, b.Rejects[0].Reason)
	require.EqualValues(t, 64<<20+8, b.Rejects[0].Size)
	require.Len(t, b.Rejects[0].Raw, connect.MaxRaw)
}
