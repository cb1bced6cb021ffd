package op

import "fednode/query/tuple"

// chunkRows is the number of rows of a full chunk of a rowLog.
const chunkRows = 1024

// rowLog keeps rows of one stream in order of arrival, each under a position that counts up from 0. Rows are added at
// the end and dropped from the front. Full chunks are never changed again, so a fork shares them.
//
// The zero value is not usable; see newRowLog.
type rowLog struct {
	schema *tuple.Schema
	first  int64 // position of the oldest row kept
	next   int64 // position that the next row gets
	base   int64 // position of the first row of chunks[0], a multiple of chunkRows
	chunks []*tuple.Batch
	shared bool       // a fork also sees the last chunk: copy it before adding to it
	recode []*recoder // of the last chunk: set where rows of several dictionaries have met
}

func newRowLog(s *tuple.Schema) *rowLog {
	return &rowLog{schema: s, recode: make([]*recoder, s.Len())}
}

// size is the number of rows kept.
func (l *rowLog) size() int64 { return l.next - l.first }

// at returns the chunk that holds a position, and the row in it. first <= pos < next.
func (l *rowLog) at(pos int64) (*tuple.Batch, int) {
	return l.chunks[(pos-l.base)/chunkRows], int(pos % chunkRows)
}

// time returns the stime of the row at a position.
func (l *rowLog) time(pos int64) tuple.Time {
	b, i := l.at(pos)
	return b.Time[i]
}

// run returns the chunk that holds positions from, ..., and the rows [lo, hi) in it, hi at most for position to - 1.
func (l *rowLog) run(from, to int64) (b *tuple.Batch, lo, hi int) {
	b, lo = l.at(from)
	return b, lo, int(min(int64(len(b.Time)), int64(lo)+to-from))
}

// drop forgets the rows before a position.
func (l *rowLog) drop(to int64) {
	l.first = max(l.first, to)
	n := min(int((l.first-l.base)/chunkRows), len(l.chunks))
	if n == 0 {
		return
	}
	l.base += int64(n) * chunkRows
	// A fork may hold the same array, so it is not shifted in place.
	l.chunks = append(make([]*tuple.Batch, 0, len(l.chunks)-n+1), l.chunks[n:]...)
}

// add appends the selected rows of a batch, which may be borrowed.
func (l *rowLog) add(b *tuple.Batch) {
	rows := b.Sel
	for done, n := 0, b.Rows(); done < n; {
		c := l.tail()
		k := min(chunkRows-len(c.Time), n-done)
		if rows != nil {
			l.addTo(c, b, rows[done:done+k])
		} else {
			l.addTo(c, b.Slice(done, done+k), nil)
		}
		l.next += int64(k)
		done += k
	}
}

// tail returns the last chunk with room, ready to be added to.
func (l *rowLog) tail() *tuple.Batch {
	last := len(l.chunks) - 1
	switch {
	case last < 0 || len(l.chunks[last].Time) == chunkRows:
		c := &tuple.Batch{Schema: l.schema, Cols: make([]tuple.Column, l.schema.Len())}
		for j, f := range l.schema.Fields() {
			c.Cols[j].Reset(f.Type)
		}
		l.chunks = append(l.chunks[:last+1:last+1], c)
		l.shared = false
		clear(l.recode)
		return c
	case l.shared:
		l.chunks = append(make([]*tuple.Batch, 0, last+2), l.chunks...)
		l.chunks[last] = l.chunks[last].Clone()
		l.shared = false
	}
	return l.chunks[last]
}

func (l *rowLog) addTo(c *tuple.Batch, b *tuple.Batch, rows []uint32) {
	a := assembly{b: *c, recoded: l.recode}
	for j := range c.Cols {
		src, dst := &b.Cols[j], &a.b.Cols[j]
		switch k := src.Type.Kind; {
		case k.IsBinary() && l.adopts(j, dst, src):
			src.Gather(dst, rows)
		case k.IsBinary() || k == tuple.List && src.Type.Elem.IsBinary():
			l.ownCodes(j, dst)
			a.take(j, src, rows)
		default:
			a.take(j, src, rows)
		}
	}
	a.times(b.Time, rows)
	for j, r := range l.recode {
		if r != nil {
			setDict(&a.b.Cols[j], r.dict.Dict())
		}
	}
	*c = a.b
}

// adopts reports whether column j of the chunk can keep the codes of src: it is empty or of the same dictionary.
func (l *rowLog) adopts(j int, dst, src *tuple.Column) bool {
	if l.recode[j] != nil || src.Dict == nil || !src.Dict.Distinct() {
		return false
	}
	return dst.Dict == nil && len(dst.Code) == 0 || dst.Dict != nil && dst.Dict.Lineage() == src.Dict.Lineage()
}

// ownCodes gives column j of the last chunk a dictionary of its own, unless it has one.
func (l *rowLog) ownCodes(j int, dst *tuple.Column) {
	if l.recode[j] != nil {
		return
	}
	r := newRecoder()
	l.recode[j] = r
	if dst.Type.Kind == tuple.List {
		dst = dst.Elem
	}
	dst.Code = r.append(make([]uint32, 0, max(len(dst.Code), 16)), dst, nil)
}

func setDict(c *tuple.Column, d *tuple.Dict) {
	if c.Type.Kind == tuple.List {
		c = c.Elem
	}
	c.Dict = d
}

// fork returns an independent log with the same rows.
func (l *rowLog) fork() *rowLog {
	f := *l
	f.recode = make([]*recoder, len(l.recode))
	clear(l.recode)
	l.shared, f.shared = true, true
	f.chunks = l.chunks[:len(l.chunks):len(l.chunks)]
	l.chunks = f.chunks
	return &f
}

// bytes estimates the memory of the rows kept, with the dictionaries they keep alive.
func (l *rowLog) bytes() int64 {
	n := l.size() * rowBytes(l.schema)
	for j, f := range l.schema.Fields() {
		if !f.Type.Kind.IsBinary() {
			continue
		}
		var last *tuple.Lineage
		for _, c := range l.chunks { // chunks of one dictionary follow each other
			if d := c.Cols[j].Dict; d != nil && d.Lineage() != last {
				last = d.Lineage()
				n += int64(d.Size())
			}
		}
	}
	return n
}
