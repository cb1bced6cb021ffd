package local

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/require"
)

// plainWindows is what a programmer writes by hand for exactly this query: rows and bytes of each source in 60 s, more
// than 100 rows, rows in order of time, no nulls.
type plainWindows struct {
	codes  map[string]int
	names  []string
	count  []int64
	sum    []int64
	end    int64 // of the open window, in microseconds; 0 before the first row
	out    *bufio.Writer
	active []int
	line   []byte
}

func newPlainWindows(out io.Writer) *plainWindows {
	w := &plainWindows{codes: make(map[string]int), out: bufio.NewWriterSize(out, 1<<18)}
	w.out.WriteString("window_start,window_end,src,n,bytes\n")
	return w
}

// code returns the number of a source.
func (w *plainWindows) code(src []byte) int {
	c, ok := w.codes[string(src)]
	if !ok {
		c = len(w.names)
		w.names = append(w.names, string(src))
		w.codes[w.names[c]] = c
		w.count, w.sum = append(w.count, 0), append(w.sum, 0)
	}
	return c
}

// at closes the window if a row at this time lies beyond it.
func (w *plainWindows) at(micros int64) {
	if micros >= w.end {
		w.close()
		w.end = (micros/60_000_000 + 1) * 60_000_000
	}
}

func (w *plainWindows) add(micros int64, code int, bytes int64) {
	w.at(micros)
	w.count[code]++
	w.sum[code] += bytes
}

func (w *plainWindows) close() {
	w.active = w.active[:0]
	for c, n := range w.count {
		if n > 100 {
			w.active = append(w.active, c)
		}
	}
	slices.SortFunc(w.active, func(a, b int) int { return bytes.Compare([]byte(w.names[a]), []byte(w.names[b])) })
	for _, c := range w.active {
		w.line = time.UnixMicro(w.end-60_000_000).UTC().AppendFormat(w.line[:0], time.RFC3339)
		w.line = time.UnixMicro(w.end).UTC().AppendFormat(append(w.line, ','), time.RFC3339)
		w.line = append(append(append(w.line, ','), w.names[c]...), ',')
		w.line = append(strconv.AppendInt(w.line, w.count[c], 10), ',')
		w.line = append(strconv.AppendInt(w.line, w.sum[c], 10), '\n')
		w.out.Write(w.line)
	}
	clear(w.count)
	clear(w.sum)
}

// plainLines runs the query over a file of lines.
func plainLines(t testing.TB, in, out string, header bool, row func(w *plainWindows, line []byte)) {
	plainFile(t, in, out, func(f *os.File, w *plainWindows) {
		r := bufio.NewReaderSize(f, 1<<18)
		if header {
			_, err := r.ReadSlice('\n')
			require.NoError(t, err)
		}
		for {
			line, err := r.ReadSlice('\n')
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			row(w, line)
		}
	})
}

func plainFile(t testing.TB, in, out string, read func(*os.File, *plainWindows)) {
	f, err := os.Open(in)
	require.NoError(t, err)
	to, err := os.Create(out)
	require.NoError(t, err)
	w := newPlainWindows(to)
	read(f, w)
	w.close()
	require.NoError(t, w.out.Flush())
	require.NoError(t, to.Close())
	require.NoError(t, f.Close())
}

// plainCSV reads "ts,src,dst,dport,bytes" by position and checks nothing.
func plainCSV(w *plainWindows, line []byte) {
	micros, i := plainInt(line, 0)
	n := bytes.IndexByte(line[i+1:], ',')
	code := w.code(line[i+1 : i+1+n])
	i += n + 2
	i += bytes.IndexByte(line[i:], ',') + 1 // dst
	i += bytes.IndexByte(line[i:], ',') + 1 // dport
	size, _ := plainInt(line, i)
	w.add(micros, code, size)
}

// plainJSON reads the same as JSON by the lengths of its keys, which always come in one order and without white space;
// it checks nothing.
func plainJSON(w *plainWindows, line []byte) {
	micros, i := plainInt(line, len(`{"ts":`))
	i += len(`,"src":"`)
	n := bytes.IndexByte(line[i:], '"')
	code := w.code(line[i : i+n])
	i += n + len(`","dst":"`)
	i += bytes.IndexByte(line[i:], '"') + len(`","dport":`)
	i += bytes.IndexByte(line[i:], ',') + len(`,"bytes":`)
	size, _ := plainInt(line, i)
	w.add(micros, code, size)
}

func plainInt(line []byte, i int) (int64, int) {
	x := int64(0)
	for ; line[i] >= '0' && line[i] <= '9'; i++ {
		x = x*10 + int64(line[i]-'0')
	}
	return x, i
}

// parsedCSV reads any CSV of the five fields: fields may be quoted and lines may end in CRLF; numbers, the number of
// fields and UTF-8 are checked.
func parsedCSV(w *plainWindows, line []byte) {
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	var fields [5][]byte
	for n := range fields {
		if len(line) > 0 && line[0] == '"' {
			end := bytes.IndexByte(line[1:], '"')
			if end < 0 {
				panic("quote")
			}
			fields[n], line = line[1:1+end], line[2+end:]
		} else {
			end := bytes.IndexByte(line, ',')
			if end < 0 {
				end = len(line)
			}
			fields[n], line = line[:end], line[end:]
		}
		if n < len(fields)-1 {
			if len(line) == 0 || line[0] != ',' {
				panic("fields")
			}
			line = line[1:]
		}
	}
	if len(line) > 0 || !utf8.Valid(fields[1]) {
		panic("line")
	}
	w.add(parsedInt(fields[0]), w.code(fields[1]), parsedInt(fields[4]))
}

func parsedInt(v []byte) int64 {
	neg := len(v) > 0 && v[0] == '-'
	if neg {
		v = v[1:]
	}
	if len(v) == 0 || len(v) > 18 {
		panic("number")
	}
	x := int64(0)
	for _, c := range v {
		if c -= '0'; c > 9 {
			panic("number")
		}
		x = x*10 + int64(c)
	}
	if neg {
		return -x
	}
	return x
}

// parsedJSON reads any flat object with these keys, in any order and with white space; strings with escapes are not
// among them.
func parsedJSON(w *plainWindows, line []byte) {
	var micros, size int64
	code := -1
	i := parsedByte(line, 0, '{')
	for {
		var key, value []byte
		key, i = parsedString(line, parsedByte(line, i, '"'))
		i = parsedSpace(line, parsedByte(line, i, ':'))
		if line[i] == '"' {
			value, i = parsedString(line, i+1)
		} else {
			start := i
			for line[i] == '-' || line[i] >= '0' && line[i] <= '9' {
				i++
			}
			value = line[start:i]
		}
		switch string(key) {
		case "ts":
			micros = parsedInt(value)
		case "src":
			if !utf8.Valid(value) {
				panic("text")
			}
			code = w.code(value)
		case "bytes":
			size = parsedInt(value)
		}
		if i = parsedSpace(line, i); line[i] == '}' {
			break
		}
		i = parsedByte(line, i, ',')
	}
	if code < 0 {
		panic("src")
	}
	w.add(micros, code, size)
}

func parsedSpace(line []byte, i int) int {
	for line[i] == ' ' || line[i] == '\t' {
		i++
	}
	return i
}

func parsedByte(line []byte, i int, c byte) int {
	if i = parsedSpace(line, i); line[i] != c {
		panic("syntax")
	}
	return i + 1
}

// parsedString returns the string that begins at i, after its quote, and what follows it.
func parsedString(line []byte, i int) ([]byte, int) {
	start := i
	for line[i] != '"' {
		if line[i] == '\\' || line[i] < ' ' {
			panic("escape")
		}
		i++
	}
	return line[start:i], i + 1
}

// plainArrow reads records by the codes of the file's one dictionary; of times it looks at the first and the last of a
// record where they lie in one window.
func plainArrow(t testing.TB, in, out string) {
	plainFile(t, in, out, func(f *os.File, w *plainWindows) {
		r, err := ipc.NewFileReader(f)
		require.NoError(t, err)
		for i := range r.NumRecords() {
			rec, err := r.RecordBatch(i)
			require.NoError(t, err)
			ts, sizes := rec.Column(0).(*array.Timestamp).TimestampValues(), rec.Column(4).(*array.Int64).Int64Values()
			src := rec.Column(1).(*array.Dictionary)
			codes := src.Indices().(*array.Int32).Int32Values()
			if len(w.names) == 0 {
				for _, name := range textsOf(src) {
					w.code([]byte(name))
				}
			}
			w.at(int64(ts[0]))
			if int64(ts[len(ts)-1]) >= w.end {
				for k, c := range codes {
					w.add(int64(ts[k]), int(c), sizes[k])
				}
				continue
			}
			for k, c := range codes {
				w.count[c]++
				w.sum[c] += sizes[k]
			}
		}
		require.NoError(t, r.Close())
	})
}

func textsOf(d *array.Dictionary) []string {
	s := d.Dictionary().(*array.String)
	out := make([]string, s.Len())
	for i := range out {
		out[i] = s.Value(i)
	}
	return out
}
