package format

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCSV(t *testing.T) {
	s := stream(t, "", "name string", "n int64", "at int64 | field=@line", "off int64 | field=@offset")
	for _, c := range []struct{ name, text, want string }{
		{"plain", "name,n\na,1\nb,2\n", `"a" 1 2 7|"b" 2 3 11`},
		{"no line end", "name,n\na,1", `"a" 1 2 7`},
		{"CRLF and byte order mark", "\xEF\xBB\xBFname,n\r\na,1\r\nb,2\r\n", `"a" 1 2 11|"b" 2 3 16`},
		{"CRLF without last line end", "name,n\r\na,1\r", `"a" 1 2 8`},
		{"other order, more columns, only declared ones are read", "n,x,name\n1,oops,a\n", `"a" 1 2 9`},
		{"empty is null, quoted empty is a string", "name,n\n,1\n\"\",2\n", `null 1 2 7|"" 2 3 10`},
		{"quotes", "name,n\n\"a,\"\"b\"\"\",1\n\"c\",2\n", `"a,\"b\"" 1 2 7|"c" 2 3 19`},
		{"a quoted field over lines", "name,n\n\"a\nb\r\nc\",1\nd,2\n", `"a\nb\r\nc" 1 2 7|"d" 2 5 18`},
		{"quoted at the end of the line, CRLF", "n,name\r\n1,\"a\"\r\n2,\"b\"", `"a" 1 2 8|"b" 2 3 15`},
		{"a bare quote inside a field", "name,n\na\"b,1\n", `"a\"b" 1 2 7`},
		{"blank lines", "\n\nname,n\n\na,1\n\n", `"a" 1 5 10`},
		{"NUL is a character", "name,n\na\x00b,1\n", `"a\u0000b" 1 2 7`},
		{"empty file", "", ""},
		{"header only", "name,n\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, strings.Join(read(t, s, csvOptions(), c.text), "|"))
		})
	}
}

func TestCSVRejects(t *testing.T) {
	s := stream(t, "", "name string", "n int64")
	for _, c := range []struct{ name, text, want string }{
		{"too few fields", "name,n\na\nb,2\n", `! f:2: field_count: 1 fields, expected 2|"b" 2`},
		{"too many fields", "name,n\na,1,2\nb,2\n", `! f:2: field_count: 3 fields, expected 2|"b" 2`},
		{"no number", "name,n\na,x\nb,2\n", `! f:2: column n: wrong_type: "x" is not of type int64|"b" 2`},
		{"beyond int64", "name,n\na,18446744073709551615\nb,9223372036854775807\nc,-9223372036854775808\nd,9223372036854775808\n",
			`! f:2: column n: out_of_range: "18446744073709551615" does not fit an int64; declare the column as string to keep it` +
				`|"b" 9223372036854775807|"c" -9223372036854775808` +
				`|! f:5: column n: out_of_range: "9223372036854775808" does not fit an int64; declare the column as string to keep it`},
		{"never rounded", "name,n\na,1.5\nb,1e3\nc,2.0\n",
			`! f:2: column n: wrong_type: "1.5" is not of type int64|! f:3: column n: wrong_type: "1e3" is not of type int64|"c" 2`},
		{"not UTF-8", "name,n\na\xFF,1\nb,2\n",
			`! f:2: column name: bad_utf8: "a\xff" is not UTF-8; declare the column as bytes to keep it|"b" 2`},
		{"NUL in a number", "name,n\na,1\x00\nb,2\n", `! f:2: column n: wrong_type: "1\x00" is not of type int64|"b" 2`},
		{"a quote that never closes takes only its line", "name,n\n\"a,1\nb,2\n",
			`! f:2: syntax: a quote is not closed before the end of the input; reading goes on at the next line that is a row|"b" 2`},
		{"what follows it may be the rest of the field", "name,n\n\"a\nis\nlong,x\nb,2\nc\n",
			`! f:2: syntax: a quote is not closed before the end of the input; reading goes on at the next line that is a row|"b" 2` +
				`|! f:6: field_count: 1 fields, expected 2`},
		{"text behind a quote that closes on another line", "name,n\n\"a\nb\"x\nc\n\"d\",2\ne\n",
			`! f:2: syntax: a closing quote must be followed by a delimiter or the end of the line|"d" 2|! f:6: field_count: 1 fields, expected 2`},
		{"text behind a closing quote", "name,n\n\"a\"x,1\nb,2\n",
			`! f:2: syntax: a closing quote must be followed by a delimiter or the end of the line|"b" 2`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, strings.Join(read(t, s, csvOptions(), c.text), "|"))
		})
	}
}

func TestCSVOptions(t *testing.T) {
	s := stream(t, "", "name string", "n int64")
	o := csvOptions()
	o.Delimiter, o.Trim, o.Null = ';', true, []string{"", "NA", "-"}
	require.Equal(t, []string{`"a" 1`, `null null`, `"NA" 2`, `"b" null`, `"c" 3`},
		read(t, s, o, "name;n\n a ; 1\nNA;-\n\"NA\";2\n b\t;\n \"c\" ;3\n"))

	o = csvOptions()
	o.Header = false
	s = stream(t, "", "n int64 | field=2", "name string | field=1")
	require.Equal(t, []string{`1 "a"`, `2 "b"`}, read(t, s, o, "a,1\nb,2\n"))

	o = DefaultOptions(TSV)
	o.Quote = 0
	s = stream(t, "", "name string", "n int64")
	require.Equal(t, []string{`"\"a" 1`}, read(t, s, o, "name\tn\n\"a\t1\n"))
}

func TestCSVHeaderWithoutTheColumn(t *testing.T) {
	s := stream(t, "", "name string", "dport int64")
	_, err := drain(s, csvOptions(), strings.NewReader("name,dprot\na,1\n"), 10)
	var missing *HeaderError
	require.ErrorAs(t, err, &missing)
	require.EqualError(t, err, "f: no field \"dport\" for column `dport`; did you mean `dprot`?")
}

func TestOversizedRecordsAreSetAsideUnread(t *testing.T) {
	s := stream(t, "", "name string", "n int64")
	const max = DefaultMaxRow
	fits := strings.Repeat("x", max-2) + ",1"
	for _, c := range []struct{ name, text, want string }{
		{"exactly max_row", fits, ""},
		{"one byte more", "y" + fits, "! f:3: too_large: the record has 1048577 bytes, max_row allows 1048576"},
		{"64 MiB", strings.Repeat("z", 64<<20) + ",1", "! f:3: too_large: the record has 67108866 bytes, max_row allows 1048576"},
		{"64 MiB in quotes", `"` + strings.Repeat("z", 64<<20) + `",1`, "! f:3: too_large: the record has 67108868 bytes, max_row allows 1048576"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines, err := drain(s, csvOptions(), strings.NewReader("name,n\na,1\n"+c.text+"\nb,2\n"), 10)
			require.NoError(t, err)
			require.Len(t, lines, 3)
			require.Equal(t, []string{`"a" 1`, `"b" 2`}, []string{lines[0], lines[2]})
			if c.want != "" {
				require.Equal(t, c.want, lines[1])
			}
		})
	}
	lines, err := drain(s, csvOptions(), strings.NewReader("name,n\n"+strings.Repeat("z", 3<<20)), 10)
	require.NoError(t, err)
	require.Equal(t, []string{"! f:2: too_large: the record has 3145728 bytes, max_row allows 1048576"}, lines)
}

func TestRejectKeepsTheBeginningOfTheRecord(t *testing.T) {
	s := stream(t, "", "n int64")
	o := csvOptions()
	r, err := NewReader(s, o, strings.NewReader("n\n"+strings.Repeat("q", 9000)+"\n"))
	require.NoError(t, err)
	rows := NewRows(s, 10, &o)
	require.ErrorContains(t, r.Read(rows, true), "EOF")
	b := rows.Take()
	require.Len(t, b.Rejects, 1)
	require.Equal(t, strings.Repeat("q", 4096), string(b.Rejects[0].Raw))
	require.EqualValues(t, 9000, b.Rejects[0].Size)
	require.Less(t, len(b.Rejects[0].Detail), 200)
}

// A place is one value for many rows: it must never make the column look like one of unique values.
func TestManyRowsWithTheirFile(t *testing.T) {
	s := stream(t, "", "n int64", "file string | field=@file")
	o := csvOptions()
	r, err := NewReader(s, o, strings.NewReader("n\n"+strings.Repeat("1\n", 150_000)))
	require.NoError(t, err)
	rows := NewRows(s, 4096, &o)
	rows.SetFile("f")
	n := 0
	for err == nil {
		err = r.Read(rows, true)
		if b := rows.Take(); b.Rows() > 0 {
			n += b.Rows()
			require.Equal(t, 1, b.Batch.Cols[1].Dict.Len())
			require.True(t, b.Batch.Cols[1].Dict.Distinct())
		}
	}
	require.Equal(t, 150_000, n)
}

// Dictionaries of values that hardly repeat give way to plain values and come back when the values repeat again.
func TestUniqueValuesGoPlain(t *testing.T) {
	s := stream(t, "", "a ip", "id string")
	o := csvOptions()
	text := "a,id\n" + rowsText(200_000, func(i int) string { return ipv4(i) + "," + ipv4(i) + "-and-more\n" })
	r, err := NewReader(s, o, strings.NewReader(text))
	require.NoError(t, err)
	rows := NewRows(s, 4096, &o)
	n, plain := 0, 0
	for err == nil {
		err = r.Read(rows, true)
		b := rows.Take()
		for i := range b.Rows() {
			require.Equal(t, ipv4(n), string(b.Batch.Cols[0].AppendText(nil, i)))
			require.Equal(t, ipv4(n)+"-and-more", string(b.Batch.Cols[1].Bin(i)))
			n++
		}
		if b.Rows() > 0 && !b.Batch.Cols[1].Dict.Distinct() {
			plain += b.Rows()
		}
	}
	require.Equal(t, 200_000, n)
	require.Greater(t, plain, 100_000)
}

func TestABlockOfHugeRowsIsShort(t *testing.T) {
	s := stream(t, "", "name string")
	o := csvOptions()
	r, err := NewReader(s, o, strings.NewReader("name\n"+strings.Repeat(strings.Repeat("x", 1<<20)+"\n", 40)))
	require.NoError(t, err)
	rows, n := NewRows(s, 4096, &o), 0
	for err == nil {
		err = r.Read(rows, true)
		b := rows.Take()
		require.LessOrEqual(t, b.Rows(), 12)
		n += b.Rows()
	}
	require.Equal(t, 40, n)
}
