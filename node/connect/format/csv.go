package format

import (
	"bytes"
	"fmt"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// csvDecoder reads RFC 4180 and its relatives.
type csvDecoder struct {
	delimited
	quote     byte
	quoting   bool
	header    bool
	trim      bool
	emptyNull bool
	nulls     [][]byte // other texts that mean null
	maxRow    int

	// of a record with quotes: its fields unquoted, with a delimiter after each; which were quoted
	text   []byte
	quoted []bool

	// adrift: a quote went wrong over more than its line, so what follows may lie within a field. Lines are passed over
	// until one reads as a row.
	adrift bool
}

func newCSV(s *connect.Stream, o *Options) *csvDecoder {
	d := &csvDecoder{delimited: newDelimited(s, o.Delimiter), quote: o.Quote, quoting: o.Quote != 0, header: o.Header, trim: o.Trim, maxRow: o.MaxRow}
	d.seen = o.Later
	for _, n := range o.Null {
		if n == "" {
			d.emptyNull = true
		} else {
			d.nulls = append(d.nulls, []byte(n))
		}
	}
	return d
}

func (d *csvDecoder) decode(data []byte, at cursor, last bool, rows *Rows) (cursor, error) {
	quoteAt := d.nextQuote(data, 0)
	for i := 0; i < len(data) && !rows.Full(); {
		nl := bytes.IndexByte(data[i:], '\n')
		next, rec := i+nl+1, record{line: at.line, offset: at.offset}
		if nl < 0 {
			if !last {
				break
			}
			nl, next = len(data)-i, len(data)
		}
		line := trimCR(data[i : i+nl])
		rec.raw, rec.size = line, int64(len(line))
		lineCount := int64(1)
		switch {
		case len(line) > d.maxRow:
			d.passing(line)
			rows.reject(rec, connect.TooLarge, -1, fmt.Sprintf("the record has %d bytes, max_row allows %d", len(line), d.maxRow))
		case quoteAt < i+len(line):
			q := d.quotedRecord(data[i:], last)
			if q.status == quoteOpen && !last {
				return at, nil // the rest of the record is still to come
			}
			if q.status == quoteOK {
				next, lineCount = i+q.size, int64(bytes.Count(data[i:i+q.size], []byte{'\n'}))
				rec.raw, rec.size = trimLineEnd(data[i:next]), int64(q.size)
			}
			if err := d.takeQuoted(rec, q, rows); err != nil {
				return at, err
			}
		default:
			if err := d.record(rec, line, d.split(line), nil, rows); err != nil {
				return at, err
			}
		}
		at.offset += int64(next - i)
		at.line += lineCount
		if i = next; quoteAt < i {
			quoteAt = d.nextQuote(data, i)
		}
	}
	return at, nil
}

// nextQuote returns the place of the first quote from i on, the length of data if there is none: most files have none,
// and looking once is cheaper than looking in every line.
func (d *csvDecoder) nextQuote(data []byte, i int) int {
	if d.quoting {
		if n := bytes.IndexByte(data[i:], d.quote); n >= 0 {
			return i + n
		}
	}
	return len(data)
}

// record handles one record of n fields that has been cut; quoted is nil if it has no quotes.
func (d *csvDecoder) record(rec record, text []byte, n int, quoted []bool, rows *Rows) error {
	if !d.adrift || d.fields == 0 {
		return d.row(rec, text, n, quoted, rows)
	}
	if n != d.fields || len(text) == 0 {
		return nil
	}
	before := rows.n
	err := d.row(rec, text, n, quoted, rows)
	if d.adrift = rows.n == before; d.adrift {
		rows.rejects = rows.rejects[:len(rows.rejects)-1] // it belongs to the record that was set aside already
	}
	return err
}

// row handles a record that begins where the one before it ended.
func (d *csvDecoder) row(rec record, text []byte, n int, quoted []bool, rows *Rows) error {
	if d.fields == 0 {
		if len(text) == 0 {
			return nil // blank lines before the header
		}
		return d.first(rec, text, n, quoted, rows)
	}
	if n != d.fields {
		if len(text) > 0 || quoted != nil { // a blank line is no record
			rows.reject(rec, connect.FieldCount, -1, fmt.Sprintf("%d fields, expected %d", n, d.fields))
		}
		return nil
	}
	cuts := d.cuts
	for k := range d.single {
		t := &d.single[k]
		v := text[cuts[t.pos]+1 : cuts[t.pos+1]]
		c := &rows.cols[t.col]
		if quoted == nil || !quoted[t.pos] {
			if d.trim {
				v = bytes.Trim(v, " \t")
			}
			if len(v) == 0 && d.emptyNull || len(d.nulls) > 0 && d.isNull(v) {
				c.appendNull()
				continue
			}
		}
		if reason := c.appendText(v); reason != connect.OK {
			rows.rejectValue(rec, reason, t.col, v)
			return nil
		}
	}
	if len(d.joined)+len(d.missing) > 0 {
		null := func(f int) bool {
			v := d.field(text, f)
			return (quoted == nil || !quoted[f]) && (len(v) == 0 && d.emptyNull || d.isNull(v))
		}
		if col, reason := d.appendJoined(rows, text, null); reason != connect.OK {
			rows.rejectValue(rec, reason, col, d.join)
			return nil
		}
	}
	if col, reason := rows.endRow(rec.line, rec.offset); reason != connect.OK {
		rows.rejectValue(rec, reason, col, nil)
	}
	return nil
}

// first handles the first record: the header, or without one the record that says how many fields there are.
func (d *csvDecoder) first(rec record, text []byte, n int, quoted []bool, rows *Rows) error {
	if !d.header {
		if err := d.bind(rows.file, positions(n)); err != nil {
			return err
		}
		return d.row(rec, text, n, quoted, rows)
	}
	names := make([]string, n)
	for f := range names {
		names[f] = string(bytes.TrimSpace(d.field(text, f)))
	}
	return d.bind(rows.file, names)
}

func (d *csvDecoder) isNull(v []byte) bool {
	for _, n := range d.nulls {
		if bytes.Equal(n, v) {
			return true
		}
	}
	return false
}

// save appends adrift only where it holds: a place among whole records is what it was before there was such a thing.
func (d *csvDecoder) save(e *tuple.Encoder) {
	d.saveHeader(e)
	if d.adrift {
		e.Bool(true)
	}
}

func (d *csvDecoder) restore(r *tuple.Decoder) {
	d.restoreHeader(r)
	d.adrift = r.Err() == nil && r.Remaining() > 0 && r.Bool()
}

func trimCR(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

func trimLineEnd(rec []byte) []byte {
	if n := len(rec); n > 0 && rec[n-1] == '\n' {
		rec = rec[:n-1]
	}
	return trimCR(rec)
}
