package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// col is a column declared as in a query file: "ts timestamp", then key=value for field, unit, layout, zone and from.
func col(t testing.TB, decl string) connect.ColumnSpec {
	words := strings.Split(decl, " | ")
	name, typ, _ := strings.Cut(words[0], " ")
	tt, err := tuple.ParseType(typ)
	require.NoError(t, err)
	c := connect.ColumnSpec{Name: name, Type: tt}
	for _, w := range words[1:] {
		k, v, _ := strings.Cut(w, "=")
		switch k {
		case "field":
			c.Field = v
		case "unit":
			c.Unit = v
		case "layout":
			c.Layout = v
		case "zone":
			c.Zone = v
		case "from":
			c.From = strings.Split(v, ",")
		default:
			t.Fatalf("key %q", k)
		}
	}
	return c
}

func stream(t testing.TB, timeColumn string, decls ...string) *connect.Stream {
	var cols []connect.ColumnSpec
	for _, d := range decls {
		cols = append(cols, col(t, d))
	}
	s, errs := connect.NewStream("s", cols, timeColumn)
	require.Empty(t, errs)
	return s
}

// drain reads an input to its end and returns the rows as text, rejects among them, and how the input ended.
func drain(s *connect.Stream, o Options, src io.Reader, blockRows int) (lines []string, err error) {
	r, err := NewReader(s, o, src)
	if err != nil {
		return nil, err
	}
	rows := NewRows(s, blockRows, &o)
	rows.SetFile("f")
	for {
		err := r.Read(rows, true)
		lines = append(lines, render(rows.Take())...)
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
	}
}

func render(b *connect.Block) (lines []string) {
	rejects := b.Rejects
	for i := 0; ; i++ {
		for len(rejects) > 0 && rejects[0].Before == i {
			lines = append(lines, "! "+rejects[0].Error())
			rejects = rejects[1:]
		}
		if i == b.Rows() {
			return lines
		}
		var cells []string
		for k := range b.Batch.Cols {
			c := &b.Batch.Cols[k]
			if c.IsNull(i) {
				cells = append(cells, "null")
				continue
			}
			cells = append(cells, string(c.AppendJSON(nil, i, tuple.FloatString)))
		}
		lines = append(lines, strings.Join(cells, " "))
	}
}

// read drains a text in every way that must not matter: whole, byte by byte, in blocks of one row, and with restarts
// from the place after each block.
func read(t testing.TB, s *connect.Stream, o Options, text string) []string {
	whole, err := drain(s, o, strings.NewReader(text), 4096)
	require.NoError(t, err)
	bytewise, err := drain(s, o, iotest.OneByteReader(strings.NewReader(text)), 3)
	require.NoError(t, err)
	require.Equal(t, whole, bytewise, "byte by byte")
	restarted, err := drainRestarting(s, o, []byte(text))
	require.NoError(t, err)
	require.Equal(t, whole, restarted, "restarted after each row")
	return whole
}

func drainRestarting(s *connect.Stream, o Options, text []byte) (lines []string, err error) {
	var state []byte
	for range len(text) + 10 {
		src := bytes.NewReader(text)
		r, err := NewReader(s, o, src)
		if err != nil {
			return nil, err
		}
		if state != nil {
			d := tuple.NewDecoder(state)
			skip := r.Restore(d)
			if err := d.Close(); err != nil {
				return nil, err
			}
			if _, err := src.Seek(skip, io.SeekStart); err != nil {
				return nil, err
			}
		}
		rows := NewRows(s, 1, &o)
		rows.SetFile("f")
		err = r.Read(rows, true)
		lines = append(lines, render(rows.Take())...)
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		var e tuple.Encoder
		r.Save(&e)
		state = e.B
	}
	return lines, errors.New("no progress")
}

func csvOptions() Options { return DefaultOptions(CSV) }

func jsonOptions() Options { return DefaultOptions(JSONL) }

func rowsText(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

func ipv4(i int) string { return fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255) }
