package format

import (
	"encoding/binary"
	"math/bits"
	"strconv"

	"fednode/node/connect"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// delimited is what CSV, TSV and Zeek TSV share: which fields of a record become which columns, and how a line is cut.
type delimited struct {
	stream  *connect.Stream
	delim   byte
	pattern uint64 // delim in every byte

	// from the header
	fields  int      // fields of a record; 0: not known yet
	names   []string // of the fields
	single  []target
	joined  []joinTarget
	missing []int // columns that the header lacks: null
	seen    bool  // an earlier header had every column
	note    string

	// the current line: field f is text[cuts[f]+1:cuts[f+1]]
	cuts []int32
	join []byte
}

type target struct{ col, pos int }

type joinTarget struct {
	col int
	pos []int
}

func newDelimited(s *connect.Stream, delim byte) delimited {
	return delimited{stream: s, delim: delim, pattern: uint64(delim) * 0x0101010101010101, cuts: make([]int32, 0, 64)}
}

// split cuts a line without quotes and returns the number of its fields.
func (d *delimited) split(line []byte) int {
	const low7 = 0x7F7F7F7F7F7F7F7F
	cuts := append(d.cuts[:0], -1)
	i := 0
	for ; i+8 <= len(line); i += 8 {
		x := binary.LittleEndian.Uint64(line[i:]) ^ d.pattern
		// The top bit of each byte that is zero in x, exactly.
		for m := ^((x&low7 + low7) | x | low7); m != 0; m &= m - 1 {
			cuts = append(cuts, int32(i+bits.TrailingZeros64(m)>>3))
		}
	}
	for ; i < len(line); i++ {
		if line[i] == d.delim {
			cuts = append(cuts, int32(i))
		}
	}
	d.cuts = append(cuts, int32(len(line)))
	return len(cuts)
}

// bind finds the columns in a header. The first header of an input must have them all; a later one that lacks some
// leaves them null, with a note, since a live stream must outlive a column that was dropped at its source.
func (d *delimited) bind(file string, names []string) error {
	d.names, d.fields = names, len(names)
	d.single, d.joined, d.missing, d.note = nil, nil, nil, ""
	index := make(map[string]int, len(names))
	for i, n := range names {
		if _, dup := index[n]; !dup {
			index[n] = i
		}
	}
	for c := range d.stream.Columns {
		if err := d.bindColumn(file, c, index); err != nil {
			return err
		}
	}
	d.seen = true
	return nil
}

func (d *delimited) bindColumn(file string, c int, index map[string]int) error {
	s := &d.stream.Columns[c]
	from := s.From
	switch s.Field {
	case connect.FieldFile, connect.FieldLine, connect.FieldOffset:
		return nil
	}
	if len(from) == 0 {
		from = []string{s.Source()}
	}
	pos := make([]int, len(from))
	for i, name := range from {
		p, ok := index[name]
		if !ok {
			err := &HeaderError{file, s.Name, name, spec.DidYouMean(name, d.names)}
			if !d.seen {
				return err
			}
			d.note = err.Error() + "; its values are null"
			d.missing = append(d.missing, c)
			return nil
		}
		pos[i] = p
	}
	if len(s.From) == 0 {
		d.single = append(d.single, target{c, pos[0]})
	} else {
		d.joined = append(d.joined, joinTarget{c, pos})
	}
	return nil
}

// positions are the names of the fields of a file without a header: their numbers from 1.
func positions(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i + 1)
	}
	return names
}

// field returns field f of the current line.
func (d *delimited) field(text []byte, f int) []byte { return text[d.cuts[f]+1 : d.cuts[f+1]] }

// appendJoined reads the columns that are made of several fields; isNull tells of each field whether it is null.
func (d *delimited) appendJoined(rows *Rows, text []byte, isNull func(f int) bool) (col int, reason connect.Reason) {
	for i := range d.joined {
		t := &d.joined[i]
		c := &rows.cols[t.col]
		d.join = d.join[:0]
		null := false
		for k, f := range t.pos {
			if k > 0 {
				d.join = append(d.join, ' ')
			}
			d.join = append(d.join, d.field(text, f)...)
			null = null || isNull(f)
		}
		if null {
			c.appendNull()
		} else if reason := c.appendText(d.join); reason != connect.OK {
			return t.col, reason
		}
	}
	for _, c := range d.missing {
		rows.cols[c].appendNull()
	}
	return -1, connect.OK
}

func (d *delimited) notice() string { return d.note }

// saveHeader appends the header, so that a reader that starts in the middle of a file knows it.
func (d *delimited) saveHeader(e *tuple.Encoder) {
	e.Bool(d.seen)
	e.Uint(uint64(len(d.names)))
	for _, n := range d.names {
		e.String(n)
	}
}

func (d *delimited) restoreHeader(r *tuple.Decoder) {
	d.seen = r.Bool() || d.seen
	names := make([]string, r.Count(1))
	for i := range names {
		names[i] = r.String()
	}
	if len(names) == 0 || r.Err() != nil {
		return
	}
	if err := d.bind("", names); err != nil {
		r.Fail("%v", err)
	}
}
