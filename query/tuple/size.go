package tuple

// Bytes estimates the memory that a batch holds. Dictionaries that it shares with others are not counted: many batches share one, see
// Dictionaries.
func (b *Batch) Bytes() int64 {
	size := int64(8 * len(b.Time))
	for i := range b.Cols {
		size += b.Cols[i].bytes()
	}
	return size
}

func (c *Column) bytes() int64 {
	n := int64(128 + len(c.Valid) + len(c.Bool) + 8*len(c.Int) + 8*len(c.Float) + 4*len(c.Code) + 4*len(c.Off))
	if c.Dict != nil && !c.Dict.Distinct() {
		n += int64(c.Dict.Size()) // a plain column brings its own values
	}
	if c.Elem != nil {
		n += c.Elem.bytes()
	}
	return n
}

// Dictionaries knows which dictionaries are held by batches that are kept one behind the other, so that each counts once: strings
// of which no two are equal lie in one dictionary after another, and take more than all else. The zero value knows none.
type Dictionaries struct{ seen map[*Lineage]int }

// mostLineages bounds what is remembered; a dictionary that has been forgotten counts again.
const mostLineages = 64

// Grown returns by how many bytes the dictionaries of a batch are larger than they have been in any before; at most what the rows of
// the batch refer to, for whoever made the rest holds it anyway.
func (d *Dictionaries) Grown(b *Batch) (bytes int64) {
	for i := range b.Cols {
		for c := &b.Cols[i]; c != nil; c = c.Elem {
			bytes += c.refers(d.grown(c.Dict))
		}
	}
	return bytes
}

func (d *Dictionaries) grown(x *Dict) int64 {
	if x == nil || !x.Distinct() {
		return 0 // a plain column's values are the batch's own
	}
	n, had := x.Size(), d.seen[x.Lineage()]
	if n <= had {
		return 0
	}
	if d.seen == nil || len(d.seen) >= mostLineages && had == 0 {
		d.seen = make(map[*Lineage]int)
	}
	d.seen[x.Lineage()] = n
	return int64(n - had)
}

// refers returns how many bytes of its dictionary the rows of a column refer to, a value that comes twice counted twice, if that is
// less than most.
func (c *Column) refers(most int64) (sum int64) {
	if most == 0 {
		return 0
	}
	for _, code := range c.Code {
		if int(code) >= c.Dict.Len() {
			continue // of a null row
		}
		if sum += int64(len(c.Dict.At(code))); sum >= most {
			return most
		}
	}
	return sum
}
