package state

import "fednode/query/tuple"

// remaps caches what codes of recent dictionaries mean here. A stream has one dictionary at a time; several occur when
// streams have been united, or when one has grown full and the next began.
type remaps struct {
	recent []*remap
	next   int // the one to replace
}

// maxRemaps is how many dictionaries are remembered.
const maxRemaps = 8

// remap is the number (slot or id) of each code of one dictionary; None where it has not been needed yet.
type remap struct {
	line *tuple.Lineage
	at   []uint32
	// same: the first same codes are their own numbers.
	same int
	// frozen: at is shared with a fork, and copied before it is written.
	frozen bool
	// rows have been looked up by those who ask with paid.
	rows int
}

// paidBy is how many codes of a dictionary a row pays for.
const paidBy = 4

// of returns the remap of a dictionary, long enough for its codes; nil for a plain one, whose codes mean nothing beyond
// their batch.
func (r *remaps) of(d *tuple.Dict) *remap {
	m := r.find(d)
	if m != nil {
		m.extend(d.Len())
	}
	return m
}

// paid returns the remap of a dictionary as far as the rows looked up so far, the next ones included, pay for it: a table
// that sees few rows of a large dictionary, as that of a short window does, stays as small as they are. Codes beyond it,
// and all where it is nil, are looked up by value.
func (r *remaps) paid(d *tuple.Dict, rows int) *remap {
	m := r.find(d)
	if m == nil {
		return nil
	}
	m.rows += rows
	if m.rows >= d.Len()/paidBy {
		m.extend(d.Len())
	}
	return m
}

// find returns the remap of a dictionary, however long; nil for a plain one.
func (r *remaps) find(d *tuple.Dict) *remap {
	if d == nil || !d.Distinct() {
		return nil
	}
	for _, m := range r.recent {
		if m.line == d.Lineage() {
			return m
		}
	}
	m := &remap{line: d.Lineage()}
	if len(r.recent) < maxRemaps {
		r.recent = append(r.recent, m)
	} else {
		r.recent[r.next], r.next = m, (r.next+1)%maxRemaps
	}
	return m
}

func (m *remap) extend(n int) {
	have := len(m.at)
	if n <= have {
		return
	}
	m.thaw()
	if cap(m.at) < n {
		grown := make([]uint32, have, n+n/4)
		copy(grown, m.at)
		m.at = grown
	}
	m.at = m.at[:n]
	for i := have; i < n; i++ {
		m.at[i] = None
	}
}

func (m *remap) thaw() {
	if m.frozen {
		m.at, m.frozen = append([]uint32(nil), m.at...), false
	}
}

func (m *remap) set(code, to uint32) {
	m.thaw()
	m.at[code] = to
	for m.same < len(m.at) && m.at[m.same] == uint32(m.same) {
		m.same++
	}
}

func (r *remaps) fork() remaps {
	f := remaps{next: r.next, recent: make([]*remap, len(r.recent))}
	for i, m := range r.recent {
		m.frozen = true
		c := *m
		f.recent[i] = &c
	}
	return f
}

func (r *remaps) bytes() int64 {
	var n int64
	for _, m := range r.recent {
		n += int64(4 * cap(m.at))
	}
	return n
}
