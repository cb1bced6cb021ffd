package format

import (
	"strconv"

	"fednode/query/tuple"
)

// JSONRows encodes the rows of one schema as JSON objects, columns in schema order: numbers with all digits, timestamps
// in RFC 3339, nulls as null, NaN and the infinities as null or, if asked for, as strings. It belongs to one goroutine.
type JSONRows struct {
	keys [][]byte // "name": of each column
	enc  *texts
	nan  tuple.FloatJSON
}

// NewJSONRows returns an encoder.
func NewJSONRows(s *tuple.Schema, nanAsString bool) *JSONRows {
	j := &JSONRows{enc: newTexts(s), keys: make([][]byte, s.Len())}
	if nanAsString {
		j.nan = tuple.FloatString
	}
	for i, name := range s.Names() {
		j.keys[i] = append(tuple.AppendJSONString(nil, []byte(name)), ':')
	}
	return j
}

// AppendRow appends column row `row` of b as an object.
func (j *JSONRows) AppendRow(dst []byte, b *tuple.Batch, row int) []byte {
	dst = append(dst, '{')
	return j.appendColumns(dst, b, row)
}

// AppendTail appends column row `row` of b as `query tail --json` prints it: the id and the stime before the columns. A
// tentative row has no id of its own: 0 is written as null.
func (j *JSONRows) AppendTail(dst []byte, b *tuple.Batch, row int, id uint64) []byte {
	return j.appendTail(append(dst, '{'), b, row, id)
}

// AppendEvent appends the same with the name of an event before it.
func (j *JSONRows) AppendEvent(dst []byte, event string, b *tuple.Batch, row int, id uint64) []byte {
	dst = append(append(append(dst, `{"event":"`...), event...), `",`...)
	return j.appendTail(dst, b, row, id)
}

func (j *JSONRows) appendTail(dst []byte, b *tuple.Batch, row int, id uint64) []byte {
	dst = append(dst, `"id":`...)
	if id == 0 {
		dst = append(dst, "null"...)
	} else {
		dst = strconv.AppendUint(dst, id, 10)
	}
	dst = append(dst, `,"stime":"`...)
	dst = j.enc.stime.append(dst, int64(b.Time[row]))
	dst = append(dst, '"')
	if len(b.Cols) > 0 {
		dst = append(dst, ',')
	}
	return j.appendColumns(dst, b, row)
}

func (j *JSONRows) appendColumns(dst []byte, b *tuple.Batch, row int) []byte {
	for k := range b.Cols {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, j.keys[k]...)
		c := &b.Cols[k]
		switch {
		case c.IsNull(row):
			dst = append(dst, "null"...)
		case c.Type.Kind == tuple.Timestamp || c.Type.Kind == tuple.IP:
			dst = append(j.enc.append(append(dst, '"'), c, k, row), '"')
		default:
			dst = c.AppendJSON(dst, row, j.nan)
		}
	}
	return append(dst, '}')
}

// texts encodes values as text, and remembers what the values before looked like: rows that follow one another are near
// in time, and addresses repeat.
type texts struct {
	stime timeText
	times []timeText // of each timestamp column
	words []wordText // of each address column
}

func newTexts(s *tuple.Schema) *texts {
	return &texts{times: make([]timeText, s.Len()), words: make([]wordText, s.Len())}
}

// append appends the value of a row that is not null, without quotes.
func (t *texts) append(dst []byte, c *tuple.Column, col, row int) []byte {
	switch c.Type.Kind {
	case tuple.Timestamp:
		return t.times[col].append(dst, c.Int[row])
	case tuple.IP:
		return t.words[col].append(dst, c, row)
	}
	return c.AppendText(dst, row)
}

// timeText writes timestamps of one column. It keeps the text of the last minute.
type timeText struct {
	minute int64 // start of the minute in microseconds
	prefix []byte
}

func (t *timeText) append(dst []byte, micros int64) []byte {
	if micros < 0 || micros >= 253_402_300_800e6 { // outside 1970 to 9999 the text has another length
		return tuple.AppendTime(dst, tuple.Time(micros))
	}
	within := micros % tuple.Minute
	if minute := micros - within; minute != t.minute || t.prefix == nil {
		t.minute = minute
		t.prefix = tuple.Time(minute).GoTime().AppendFormat(t.prefix[:0], "2006-01-02T15:04:")
	}
	dst = append(dst, t.prefix...)
	sec, frac := within/tuple.Second, within%tuple.Second
	dst = append(dst, byte('0'+sec/10), byte('0'+sec%10))
	if frac > 0 {
		dst = append(dst, '.')
		for unit := int64(100_000); frac > 0; unit /= 10 {
			dst = append(dst, byte('0'+frac/unit))
			frac %= unit
		}
	}
	return append(dst, 'Z')
}

// wordText writes addresses of one column. It keeps the text of each code of the current dictionary.
type wordText struct {
	line *tuple.Lineage
	off  []uint32 // of each code: where its text begins in data, +1; 0 is not written yet
	size []uint8
	data []byte
}

// maxWordText bounds the codes that texts are kept for.
const maxWordText = tuple.DictMaxValues

func (w *wordText) append(dst []byte, c *tuple.Column, row int) []byte {
	code := c.Code[row]
	if !c.Dict.Distinct() || code >= maxWordText {
		return c.AppendText(dst, row)
	}
	if w.line != c.Dict.Lineage() {
		*w = wordText{line: c.Dict.Lineage(), off: w.off[:0], size: w.size[:0], data: w.data[:0]}
	}
	if n := c.Dict.Len(); n > len(w.off) {
		w.off = append(w.off, make([]uint32, n-len(w.off))...)
		w.size = append(w.size, make([]uint8, n-len(w.size))...)
	}
	if w.off[code] == 0 {
		start := len(w.data)
		w.data = c.AppendText(w.data, row)
		w.off[code], w.size[code] = uint32(start)+1, uint8(len(w.data)-start)
	}
	start := w.off[code] - 1
	return append(dst, w.data[start:start+uint32(w.size[code])]...)
}
