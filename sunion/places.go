package sunion

import "fednode/query/tuple"

// places knows, for a stretch of the merged order, where the rows of each run go. Rows are then copied run by run:
// reading in sequence, and with what depends on the run looked up once.
type places struct {
	at    []uint32 // places in the stretch, run by run
	begin []int    // of run k in at; it has room there for as many rows as a stretch may have of it
	end   []int    // of run k in at, in this stretch
	from  []int    // entry of run k that comes first in this stretch
}

// start begins at the first entry of every run; a stretch has at most so many rows.
func (p *places) start(runs []run, rows int) {
	p.begin, p.end, p.from = p.begin[:0], p.end[:0], p.from[:0]
	room := 0
	for _, r := range runs {
		p.from = append(p.from, r.lo)
		p.begin = append(p.begin, room)
		p.end = append(p.end, room)
		room += min(rows, r.hi-r.lo)
	}
	p.at = sized(p.at, room)
}

// next takes the following stretch of the order and writes its stimes, of which times has as many.
func (p *places) next(l layout, order []uint64, times []tuple.Time) {
	for k, end := range p.end {
		p.from[k] += end - p.begin[k]
		p.end[k] = p.begin[k]
	}
	at, end, times := p.at, p.end, times[:len(order)]
	for i, w := range order {
		times[i] = l.time(w)
		r := l.run(w)
		n := end[r]
		at[n] = uint32(i)
		end[r] = n + 1
	}
}

// of returns the places of run k's rows and the entry of the run that the first of them is.
func (p *places) of(k int) (at []uint32, from int) { return p.at[p.begin[k]:p.end[k]], p.from[k] }
