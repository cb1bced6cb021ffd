package format

import (
	"bytes"
	"fmt"

	"fednode/node/connect"
)

type quoteStatus uint8

const (
	quoteOK    quoteStatus = iota
	quoteOpen              // the data end within quotes, or before the line end that the last field needs
	quoteBad               // something other than a delimiter follows a closing quote
	quoteLarge             // the record is larger than max_row
)

// quotedRecord is a record with quotes as it was found.
type quotedRecord struct {
	status quoteStatus
	size   int // in bytes with its line end; for quoteBad up to what is wrong
	fields int
	// spans: what is wrong was met behind the record's first line.
	spans bool
}

// quotedRecord cuts the record at the beginning of data. It looks no further than a record may be large, so that what it
// finds does not depend on how much has been read.
func (d *csvDecoder) quotedRecord(data []byte, last bool) (q quotedRecord) {
	most := d.maxRow + len("\r\n")
	if len(data) > most {
		data, last = data[:most], false
	}
	q.size, q.fields, q.status = d.splitQuoted(data, last)
	switch {
	case q.status == quoteOpen:
		q.spans = true
		if len(data) == most {
			q.status = quoteLarge
		}
	case q.status == quoteBad:
		q.spans = bytes.IndexByte(data[:q.size], '\n') >= 0
	case len(trimLineEnd(data[:q.size])) > d.maxRow:
		q.status, q.spans = quoteLarge, true
	}
	return q
}

// takeQuoted handles a record with quotes. One whose quotes are wrong must not swallow what follows, and a field that
// is too large must not make a reject of each of its lines: only the record's first line is set aside, and what follows
// is passed over until a line reads as a row.
func (d *csvDecoder) takeQuoted(rec record, q quotedRecord, rows *Rows) error {
	if q.status == quoteOK {
		return d.record(rec, d.text, q.fields, d.quoted, rows)
	}
	if !d.adrift {
		reason, detail := d.quoteProblem(q.status)
		rows.reject(rec, reason, -1, detail)
		d.adrift = q.spans
	}
	return nil
}

func (d *csvDecoder) quoteProblem(s quoteStatus) (connect.Reason, string) {
	const onward = "; reading goes on at the next line that is a row"
	switch s {
	case quoteBad:
		return connect.Syntax, "a closing quote must be followed by a delimiter or the end of the line"
	case quoteLarge:
		return connect.TooLarge, fmt.Sprintf("the record has more than %d bytes, which max_row allows, or a quote in it is not closed", d.maxRow) + onward
	}
	return connect.Syntax, "a quote is not closed before the end of the input" + onward
}

// passing looks at a part of an oversized record: with a quote in it, what follows may be inside a field.
func (d *csvDecoder) passing(part []byte) {
	if d.quoting && bytes.IndexByte(part, d.quote) >= 0 {
		d.adrift = true
	}
}

// splitQuoted cuts the record at the beginning of data, in which fields may be quoted and span lines. It returns the
// bytes of the record with its line end, of one with wrong quotes those up to there, and the number of its fields, which
// are then in d.text, d.cuts and d.quoted.
func (d *csvDecoder) splitQuoted(data []byte, last bool) (size, fields int, status quoteStatus) {
	d.text, d.quoted, d.cuts = d.text[:0], d.quoted[:0], append(d.cuts[:0], -1)
	for i := 0; ; {
		start := i
		if d.trim {
			for i < len(data) && (data[i] == ' ' || data[i] == '\t') && data[i] != d.delim {
				i++
			}
		}
		isQuoted := i < len(data) && data[i] == d.quote
		if isQuoted {
			if i, status = d.quotedField(data, i+1); status != quoteOK {
				return i, 0, status
			}
		} else {
			i = start + fieldEnd(data[start:], d.delim)
			v := data[start:i]
			if i == len(data) || data[i] == '\n' {
				v = trimCR(v)
			}
			d.text = append(d.text, v...)
		}
		d.quoted = append(d.quoted, isQuoted)
		d.cuts = append(d.cuts, int32(len(d.text)))
		switch {
		case i == len(data) && !last:
			return 0, 0, quoteOpen
		case i == len(data):
			return i, len(d.quoted), quoteOK
		case data[i] == '\n':
			return i + 1, len(d.quoted), quoteOK
		}
		d.text = append(d.text, d.delim)
		i++
	}
}

// quotedField appends the field whose opening quote lies before i to d.text, and returns the place of what ends it.
func (d *csvDecoder) quotedField(data []byte, i int) (int, quoteStatus) {
	for {
		n := bytes.IndexByte(data[i:], d.quote)
		if n < 0 {
			return 0, quoteOpen
		}
		d.text = append(d.text, data[i:i+n]...)
		if i += n + 1; i < len(data) && data[i] == d.quote {
			d.text = append(d.text, d.quote)
			i++
			continue
		}
		break
	}
	if d.trim {
		for i < len(data) && (data[i] == ' ' || data[i] == '\t') && data[i] != d.delim {
			i++
		}
	}
	switch {
	case i == len(data) || data[i] == d.delim || data[i] == '\n':
		return i, quoteOK
	case data[i] == '\r' && i+1 == len(data):
		return i + 1, quoteOK
	case data[i] == '\r' && data[i+1] == '\n':
		return i + 1, quoteOK
	}
	return i, quoteBad
}

// fieldEnd returns the length of an unquoted field: up to the delimiter, the line end or the end of data.
func fieldEnd(data []byte, delim byte) int {
	for i, c := range data {
		if c == delim || c == '\n' {
			return i
		}
	}
	return len(data)
}
