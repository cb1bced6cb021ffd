package format

import (
	"bytes"
	"fmt"
)

type quoteStatus uint8

const (
	quoteOK   quoteStatus = iota
	quoteOpen             // the data end within quotes, or before the line end that the last field needs
	quoteBad              // something other than a delimiter follows a closing quote
)

func quoteProblem(s quoteStatus, maxRow int) string {
	if s == quoteBad {
		return "a closing quote must be followed by a delimiter or the end of the line"
	}
	return fmt.Sprintf("a quote is not closed within max_row, %d bytes", maxRow)
}

// splitQuoted cuts the record at the beginning of data, in which fields may be quoted and span lines. It returns the
// bytes of the record with its line end, and the number of its fields, which are then in d.text, d.cuts and d.quoted.
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
				return 0, 0, status
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
	return 0, quoteBad
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
