package format

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// Texts of Zeek's TSV that stand for nothing, unless its header says otherwise.
const (
	zeekUnset = "-"
	zeekEmpty = "(empty)"
)

// zeekDecoder reads a Zeek log: TSV under #-headers, which may come again, or JSON lines.
type zeekDecoder struct {
	tsv  *zeekTSV
	json *jsonDecoder
	mode byte // 0: not known yet; 't' or 'j'
}

func newZeek(s *connect.Stream, o *Options) *zeekDecoder {
	return &zeekDecoder{tsv: newZeekTSV(s, o), json: newJSONL(s, o)}
}

func (d *zeekDecoder) decode(data []byte, at cursor, last bool, rows *Rows) (cursor, error) {
	if d.mode == 0 {
		switch head := bytes.TrimLeft(data, " \t\r\n"); {
		case len(head) == 0 && !last:
			return at, nil
		case len(head) > 0 && head[0] == '{':
			d.mode = 'j'
		default:
			d.mode = 't'
		}
	}
	if d.mode == 'j' {
		return d.json.decode(data, at, last, rows)
	}
	return d.tsv.decode(data, at, last, rows)
}

func (d *zeekDecoder) notice() string { return d.tsv.notice() }

func (d *zeekDecoder) passing([]byte) {}

func (d *zeekDecoder) save(e *tuple.Encoder) {
	e.Uint(uint64(d.mode))
	d.tsv.saveHeader(e)
	e.Uint(uint64(d.tsv.delim))
	e.String(d.tsv.unset)
	e.String(d.tsv.empty)
	e.Uint(uint64(d.tsv.sep))
}

func (d *zeekDecoder) restore(r *tuple.Decoder) {
	mode := r.Uint()
	if mode != 0 && mode != 't' && mode != 'j' {
		r.Fail("mode %d of a Zeek log", mode)
		return
	}
	d.mode = byte(mode)
	d.tsv.restoreHeader(r)
	d.tsv.setDelimiter(byte(r.Uint()))
	d.tsv.unset, d.tsv.empty = r.String(), r.String()
	d.tsv.sep = byte(r.Uint())
}

type zeekTSV struct {
	delimited
	unset string
	empty string
	sep   byte   // between the elements of a set
	plain []byte // a value without its escapes

	maxRow int
}

func newZeekTSV(s *connect.Stream, o *Options) *zeekTSV {
	d := &zeekTSV{delimited: newDelimited(s, '\t'), unset: zeekUnset, empty: zeekEmpty, sep: ',', maxRow: o.MaxRow}
	d.seen = o.Later
	return d
}

func (d *zeekTSV) setDelimiter(c byte) {
	d.delim, d.pattern = c, uint64(c)*0x0101010101010101
}

func (d *zeekTSV) decode(data []byte, at cursor, last bool, rows *Rows) (cursor, error) {
	for i := 0; i < len(data) && !rows.Full(); {
		nl := bytes.IndexByte(data[i:], '\n')
		next := i + nl + 1
		if nl < 0 {
			if !last {
				break
			}
			nl, next = len(data)-i, len(data)
		}
		line := trimCR(data[i : i+nl])
		rec := record{at.line, at.offset, line, int64(len(line))}
		switch {
		case len(line) == 0:
		case len(line) > d.maxRow: // also a header: read in pieces it would be passed over before it is known for one
			rows.reject(rec, connect.TooLarge, -1, fmt.Sprintf("the record has %d bytes, max_row allows %d", len(line), d.maxRow))
		case line[0] == '#':
			if err := d.headerLine(line, rows); err != nil {
				return at, err
			}
		case d.fields == 0:
			rows.reject(rec, connect.Syntax, -1, "a row before the line #fields")
		default:
			d.row(rec, rows)
		}
		at.offset += int64(next - i)
		at.line++
		i = next
	}
	return at, nil
}

func (d *zeekTSV) row(rec record, rows *Rows) {
	line := rec.raw
	if n := d.split(line); n != d.fields {
		rows.reject(rec, connect.FieldCount, -1, fmt.Sprintf("%d fields, #fields names %d", n, d.fields))
		return
	}
	escaped := bytes.IndexByte(line, '\\') >= 0
	for k := range d.single {
		t := &d.single[k]
		v := line[d.cuts[t.pos]+1 : d.cuts[t.pos+1]]
		c := &rows.cols[t.col]
		if string(v) == d.unset {
			c.appendNull()
			continue
		}
		if string(v) == d.empty && c.parse != parseList {
			v = v[:0]
		} else if escaped {
			v = d.unescape(v)
		}
		if c.parse == parseList {
			c.sep = d.sep
		}
		if reason := c.appendText(v); reason != connect.OK {
			rows.rejectValue(rec, reason, t.col, v)
			return
		}
	}
	if len(d.joined)+len(d.missing) > 0 {
		null := func(f int) bool { return string(d.field(line, f)) == d.unset }
		if col, reason := d.appendJoined(rows, line, null); reason != connect.OK {
			rows.rejectValue(rec, reason, col, d.join)
			return
		}
	}
	if col, reason := rows.endRow(rec.line, rec.offset); reason != connect.OK {
		rows.rejectValue(rec, reason, col, nil)
	}
}

// headerLine takes in a line that begins with #; what it does not know is a comment.
func (d *zeekTSV) headerLine(line []byte, rows *Rows) error {
	if sep, ok := strings.CutPrefix(string(line), "#separator "); ok {
		if c := unescapeZeek(nil, []byte(sep)); len(c) == 1 {
			d.setDelimiter(c[0])
		}
		return nil
	}
	key, value, _ := strings.Cut(string(line), string(d.delim))
	switch key {
	case "#unset_field":
		d.unset = value
	case "#empty_field":
		d.empty = value
	case "#set_separator":
		if c := unescapeZeek(nil, []byte(value)); len(c) == 1 {
			d.sep = c[0]
		}
	case "#fields":
		return d.bind(rows.file, strings.Split(value, string(d.delim)))
	}
	return nil
}

// unescape undoes \xHH, unless that would leave text that is not UTF-8: Zeek writes bytes of any origin, and the escaped
// form is then the only one that is text.
func (d *zeekTSV) unescape(v []byte) []byte {
	if bytes.IndexByte(v, '\\') < 0 {
		return v
	}
	if d.plain = unescapeZeek(d.plain[:0], v); !utf8.Valid(d.plain) {
		return v
	}
	return d.plain
}

func unescapeZeek(dst, v []byte) []byte {
	for i := 0; i < len(v); i++ {
		if v[i] == '\\' && i+3 < len(v) && v[i+1] == 'x' {
			if x, err := strconv.ParseUint(string(v[i+2:i+4]), 16, 8); err == nil {
				dst = append(dst, byte(x))
				i += 3
				continue
			}
		}
		dst = append(dst, v[i])
	}
	return dst
}
