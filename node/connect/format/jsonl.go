package format

import (
	"bytes"
	"fmt"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// jsonDecoder reads one JSON object a line. Only the declared fields are read; everything else is passed over, though
// checked to be well-formed as far as brackets, strings and separators go. A declared field that is there twice is
// refused: programs differ in which one counts, and organisations would see different rows in one record.
type jsonDecoder struct {
	root   *jsonNode
	parts  []jsonParts
	maxRow int

	// the current record
	rows    *Rows
	text    []byte
	serial  uint64
	set     int  // columns that have a value
	escapes bool // there is a backslash in the text
	fail    jsonFailure
	plain   []byte // a string without its escapes
}

// jsonParts are the texts of a column that is made of several fields.
type jsonParts struct {
	col   int
	texts [][]byte
	set   int
	join  []byte
}

// jsonFailure is why a record cannot be read.
type jsonFailure struct {
	reason connect.Reason
	col    int
	value  []byte
	detail string // for Syntax
	at     int
}

// maxDepth is how deep values may be nested.
const maxDepth = 64

func newJSONL(s *connect.Stream, o *Options) *jsonDecoder {
	d := &jsonDecoder{root: &jsonNode{}, maxRow: o.MaxRow}
	for c := range s.Columns {
		col := &s.Columns[c]
		switch col.Field {
		case connect.FieldFile, connect.FieldLine, connect.FieldOffset:
			continue
		}
		for k, name := range col.From {
			d.root.add(name, jsonTarget{col: c, parts: len(d.parts), part: k})
		}
		if len(col.From) > 0 {
			d.parts = append(d.parts, jsonParts{col: c, texts: make([][]byte, len(col.From))})
			continue
		}
		d.root.add(col.Source(), jsonTarget{col: c, parts: -1})
	}
	return d
}

func (d *jsonDecoder) decode(data []byte, at cursor, last bool, rows *Rows) (cursor, error) {
	escapeAt := nextEscape(data, 0)
	for i := 0; i < len(data) && !rows.Full(); {
		nl := bytes.IndexByte(data[i:], '\n')
		next := i + nl + 1
		if nl < 0 {
			if !last {
				break
			}
			nl, next = len(data)-i, len(data)
		}
		if line := trimCR(data[i : i+nl]); len(line) > 0 {
			d.escapes = escapeAt < i+len(line)
			d.record(record{at.line, at.offset, line, int64(len(line))}, rows)
		}
		at.offset += int64(next - i)
		at.line++
		if i = next; escapeAt < i {
			escapeAt = nextEscape(data, i)
		}
	}
	return at, nil
}

// nextEscape returns the place of the first backslash from i on, the length of data if there is none. Most inputs have
// few, and in a line without one a string ends at the next quote.
func nextEscape(data []byte, i int) int {
	if n := bytes.IndexByte(data[i:], '\\'); n >= 0 {
		return i + n
	}
	return len(data)
}

func (d *jsonDecoder) record(rec record, rows *Rows) {
	if len(rec.raw) > d.maxRow {
		rows.reject(rec, connect.TooLarge, -1, fmt.Sprintf("the record has %d bytes, max_row allows %d", len(rec.raw), d.maxRow))
		return
	}
	d.rows, d.text = rows, rec.raw
	d.serial++
	d.set = 0
	for k := range d.parts {
		d.parts[k].set = 0
	}
	i := skipBlank(d.text, 0)
	if i == len(d.text) {
		return // a blank line
	}
	if d.text[i] != '{' {
		rows.reject(rec, connect.Syntax, -1, "expected a JSON object, got "+quoteText(d.text[i:]))
		return
	}
	i, ok := d.object(d.root, i+1, 0)
	if ok {
		if i = skipBlank(d.text, i); i < len(d.text) {
			ok = d.syntax(i, "the end of the line")
		}
	}
	if ok {
		ok = d.endParts()
	}
	if !ok {
		d.refuse(rec)
		return
	}
	if d.set < len(rows.cols)-len(rows.places) {
		rows.fill(d.serial)
	}
	if col, reason := rows.endRow(rec.line, rec.offset); reason != connect.OK {
		rows.rejectValue(rec, reason, col, nil)
	}
}

func (d *jsonDecoder) refuse(rec record) {
	f := &d.fail
	if f.reason == connect.Syntax {
		got := "the end of the line"
		if f.at < len(d.text) {
			got = quoteText(d.text[f.at:min(len(d.text), f.at+20)])
		}
		d.rows.reject(rec, f.reason, -1, fmt.Sprintf("at byte %d: expected %s, got %s", f.at+1, f.detail, got))
		return
	}
	d.rows.rejectValue(rec, f.reason, f.col, f.value)
}

// syntax notes where a record stops being JSON. It returns false.
func (d *jsonDecoder) syntax(at int, expected string) bool {
	d.fail = jsonFailure{reason: connect.Syntax, at: at, detail: expected}
	return false
}

// object reads the members of an object from behind its brace, and returns the place behind it.
func (d *jsonDecoder) object(node *jsonNode, i, depth int) (int, bool) {
	text := d.text
	if depth >= maxDepth {
		return i, d.syntax(i, "at most 64 levels of objects")
	}
	if i = skipBlank(text, i); i < len(text) && text[i] == '}' {
		return i + 1, true
	}
	for pos := 0; ; {
		if i < len(text) && text[i] == ' ' {
			i++
		}
		field, after := node.expected(text, i, &pos)
		if after == 0 {
			var ok bool
			if field, after, ok = d.key(node, i, &pos); !ok {
				return i, false
			}
		}
		i = after
		if i < len(text) && text[i] <= ' ' {
			i = skipBlank(text, i)
		}
		end, ok := 0, false
		if field != nil && field.col >= 0 && i < len(text) {
			end, ok = d.plainValue(field, i)
		}
		if !ok {
			if end, ok = d.member(field, i, depth); !ok {
				return i, false
			}
		}
		if end < len(text) && text[end] == ',' {
			i = end + 1
			continue
		}
		if i = skipBlank(text, end); i == len(text) {
			return i, d.syntax(i, "a comma or }")
		}
		switch text[i] {
		case ',':
			i++
		case '}':
			return i + 1, true
		default:
			return i, d.syntax(i, "a comma or }")
		}
	}
}

// key reads a key and its colon in any form, and returns the place behind.
func (d *jsonDecoder) key(node *jsonNode, i int, pos *int) (field *jsonField, after int, ok bool) {
	text := d.text
	if i = skipBlank(text, i); i == len(text) || text[i] != '"' {
		return nil, 0, d.syntax(i, "a key in quotes")
	}
	if field, after = node.next(text, i+1, pos); after == 0 {
		if field, after, ok = d.slowKey(node, i+1, pos); !ok {
			return nil, 0, false
		}
	}
	if i = skipBlank(text, after); i == len(text) || text[i] != ':' {
		return nil, 0, d.syntax(i, "a colon")
	}
	return field, i + 1, true
}

// slowKey finds a key that is not where it was in the records before.
func (d *jsonDecoder) slowKey(node *jsonNode, i int, pos *int) (*jsonField, int, bool) {
	end, escaped := stringEnd(d.text, i)
	if end < 0 {
		return nil, 0, d.syntax(len(d.text), "the end of a string")
	}
	key := d.text[i:end]
	if escaped {
		var reason connect.Reason
		switch key, reason = unescapeJSON(nil, key); reason {
		case connect.Syntax:
			return nil, 0, d.syntax(i, "a string with valid escapes")
		case connect.BadUTF8:
			return nil, end + 1, true // no declared field has such a name
		}
	}
	return node.find(key, pos), end + 1, true
}

// member reads the value of a field at i and returns the place behind it. A field nobody wants is nil or has no targets.
func (d *jsonDecoder) member(field *jsonField, i, depth int) (int, bool) {
	text := d.text
	if i == len(text) {
		return i, d.syntax(i, "a value")
	}
	if field != nil && (field.into != nil || len(field.targets) > 0) {
		if field.serial == d.serial {
			return i, d.syntax(i, "each declared key once: "+quoteText([]byte(field.key))+" was there")
		}
		field.serial = d.serial
	}
	if field != nil && field.into != nil && text[i] == '{' {
		end, ok := d.object(field.into, i+1, depth+1)
		if !ok {
			return i, false
		}
		if len(field.targets) == 0 {
			return end, true
		}
		return end, d.assign(field, jsonValue{text: text[i:end], kind: jsonObject})
	}
	if field == nil || len(field.targets) == 0 {
		if text[i] == '"' && !d.escapes {
			if end := quoteEnd(text, i+1); end >= 0 {
				return end + 1, true
			}
		}
		end := skipValue(text, i)
		if end < 0 {
			return i, d.syntax(-end-1, "a JSON value")
		}
		return end, true
	}
	v, end, ok := d.value(field, i)
	if !ok {
		return i, false
	}
	return end, d.assign(field, v)
}

// plainValue reads the value at i straight into its column if it is what values mostly are: a string without escapes,
// or an integer for a column of integers. Otherwise it does nothing.
func (d *jsonDecoder) plainValue(field *jsonField, i int) (end int, ok bool) {
	text, c := d.text, &d.rows.cols[field.col]
	if c.serial == d.serial || c.parse == parseList {
		return 0, false
	}
	if text[i] == '"' {
		if d.escapes {
			return 0, false
		}
		end := quoteEnd(text, i+1)
		if end < 0 || c.appendText(text[i+1:end]) != connect.OK {
			return 0, false
		}
		c.serial, field.serial = d.serial, d.serial
		d.set++
		return end + 1, true
	}
	if c.parse != parseInt || c.valid != nil {
		return 0, false
	}
	x, first := int64(0), i
	for i < len(text) && text[i]-'0' <= 9 {
		x = x*10 + int64(text[i]-'0')
		i++
	}
	if i == first || i-first > 18 || i == len(text) || text[i] != ',' && text[i] != '}' {
		return 0, false
	}
	c.ints = append(c.ints, x)
	c.serial, field.serial = d.serial, d.serial
	d.set++
	return i, true
}

// value reads the value of a field at i: the text of a string without quotes and escapes, the text of anything else as it is.
func (d *jsonDecoder) value(field *jsonField, i int) (v jsonValue, end int, ok bool) {
	text := d.text
	if text[i] != '"' {
		end = skipValue(text, i)
		if end < 0 {
			return v, i, d.syntax(-end-1, "a JSON value")
		}
		return jsonValue{text[i:end], kindOf(text[i])}, end, true
	}
	end, escaped := stringEnd(text, i+1)
	if end < 0 {
		return v, i, d.syntax(len(text), "the end of a string")
	}
	s := text[i+1 : end]
	if escaped {
		var reason connect.Reason
		switch d.plain, reason = unescapeJSON(d.plain[:0], s); reason {
		case connect.Syntax:
			return v, i, d.syntax(i, "a string with valid escapes")
		case connect.BadUTF8:
			d.fail = jsonFailure{reason: reason, col: field.targets[0].col, value: s}
			return v, i, false
		}
		s = d.plain
	}
	return jsonValue{s, jsonString}, end + 1, true
}

// assign gives a value to the columns of a field.
func (d *jsonDecoder) assign(field *jsonField, v jsonValue) bool {
	for k := range field.targets {
		t := &field.targets[k]
		if t.parts >= 0 {
			d.parts[t.parts].take(t.part, v)
			continue
		}
		c := &d.rows.cols[t.col]
		if c.serial == d.serial {
			if t.path {
				continue // the exact key was there, or the path before: the first counts
			}
			c.truncate(d.rows.n)
			d.set--
		}
		c.serial = d.serial
		d.set++
		if v.kind == jsonNull {
			c.appendNull()
			continue
		}
		reason := c.appendJSON(v)
		if reason != connect.OK {
			d.fail = jsonFailure{reason: reason, col: t.col, value: v.text}
			return false
		}
	}
	return true
}

// take keeps the text of one part.
func (p *jsonParts) take(part int, v jsonValue) {
	if v.kind != jsonNull {
		p.texts[part] = append(p.texts[part][:0], v.text...)
		p.set |= 1 << part
	}
}

// endParts reads the columns that are made of several fields, once all fields are known.
func (d *jsonDecoder) endParts() bool {
	for k := range d.parts {
		p := &d.parts[k]
		if p.set != 1<<len(p.texts)-1 {
			continue // one is missing: the column is null
		}
		d.rows.cols[p.col].serial = d.serial
		d.set++
		p.join = append(p.join[:0], bytes.Join(p.texts, []byte{' '})...)
		if reason := d.rows.cols[p.col].appendText(p.join); reason != connect.OK {
			d.fail = jsonFailure{reason: reason, col: p.col, value: p.join}
			return false
		}
	}
	return true
}

func (d *jsonDecoder) passing([]byte) {}

func (d *jsonDecoder) save(*tuple.Encoder) {}

func (d *jsonDecoder) restore(*tuple.Decoder) {}

func (d *jsonDecoder) notice() string { return "" }
