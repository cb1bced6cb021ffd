package evaluate

import (
	"fmt"
	"slices"

	"fednode/dcaa"
	"fednode/node/replica"
	"fednode/query/tuple"
	"fednode/testnet/sim"
)

// span is a time of a run in microseconds since its beginning; to is not part of it.
type span struct{ from, to int64 }

func (s span) has(at int64) bool { return at >= s.from && at < s.to }

// meter measures one simulated run. It is a sim.Observer.
type meter struct {
	// calm is a time in which nothing has failed yet, healed when the last failure is over.
	calm   span
	healed int64
	// away are the times in which the rows of a source cannot reach the client, whatever anybody does; by source.
	away [][]span

	seen [][]bool
	// ordinary are the delays of rows in calm; worst is the longest of a new row behind calm.
	ordinary []int64
	worst    int64
	rows     int
	// covered is up to where the client has been complete, in world time.
	covered int64
	holes   int
	// tentative counts rows; last is when the client got the last one, over when it last let go of what was tentative.
	tentative  int
	last, over int64
	// stable is when a replica last became STABLE behind calm.
	stable int64
	// news is when rows last came that the client did not have; gap is the longest pause between two such times.
	news, gap int64
	line      *timeline
}

var _ sim.Observer = (*meter)(nil)

func newMeter(calm span, healed int64, away [][]span) *meter {
	return &meter{calm: calm, healed: healed, away: away, seen: make([][]bool, len(away)), covered: -1}
}

// Margins around the time in which a source is away: what it sent just before may be on its way still, and after it the
// connection has to be found broken, dialled anew and subscribed to.
const (
	marginBefore = 400 * tuple.Millisecond
	marginAfter  = 2500 * tuple.Millisecond
)

// reachable reports whether a row that came to be at a time has a way to the client.
func (m *meter) reachable(source int, born int64) bool {
	for _, a := range m.away[source] {
		if born >= a.from-marginBefore && born < a.to+marginAfter {
			return false
		}
	}
	return true
}

// Rows measures the delay of every row that the client did not have.
func (m *meter) Rows(at int64, f *tuple.Frame, tentative bool) {
	if tentative {
		m.tentative += f.Batch.Rows()
		m.last = at
	} else {
		m.rows += f.Batch.Rows()
	}
	fresh := false
	for i := range f.Batch.Rows() {
		row := f.Batch.Row(i)
		if source, number := sim.RowOf(f.Batch, row); m.first(source, number) {
			fresh = true
			m.row(at, source, sim.WorldTime(f.Batch.Time[row]))
		}
	}
	if fresh {
		if m.news > 0 && at >= m.calm.to {
			m.gap = max(m.gap, at-m.news)
		}
		m.news = at
	}
}

// first marks a row, and reports whether it had not been marked.
func (m *meter) first(source int, number uint64) bool {
	s := m.seen[source]
	if n := int(number) + 1; n > len(s) {
		s = slices.Grow(s, n-len(s))[:n]
		m.seen[source] = s
	}
	was := s[number]
	s[number] = true
	return !was
}

// row takes in the delay of one row that came to be at a time.
func (m *meter) row(at int64, source int, born int64) {
	switch late := at - born; {
	case m.calm.has(born) && at < m.calm.to:
		m.ordinary = append(m.ordinary, late)
	case born >= m.calm.from && m.reachable(source, born):
		m.worst = max(m.worst, late)
		if born < m.covered {
			m.holes++
		}
	}
}

// Reached notes up to where the client is complete.
func (m *meter) Reached(at int64, t tuple.Time, tentative bool) {
	m.covered = max(m.covered, sim.WorldTime(t))
	m.line.reached(at, sim.WorldTime(t), tentative)
}

// Over notes that nothing tentative is held.
func (m *meter) Over(at int64) { m.over = at }

// Changed notes when replicas become stable.
func (m *meter) Changed(at int64, _ string, c replica.Change) {
	if c.To == dcaa.Stable && at >= m.calm.to {
		m.stable = at
	}
}

// figures sums up.
func (m *meter) figures(r *sim.Result) Figures {
	slices.Sort(m.ordinary)
	f := Figures{Runs: 1, Rows: m.rows, Tentative: m.tentative, Holes: m.holes, Delay: Micros(m.worst), Gap: Micros(m.gap), Worked: Micros(r.Worked)}
	if n := len(m.ordinary); n > 0 {
		f.Normal, f.Normal99 = Micros(m.ordinary[n-1]), Micros(m.ordinary[n*99/100])
	}
	f.Incremental = max(0, f.Delay-f.Normal)
	if m.tentative > 0 {
		f.Corrected = Micros(max(0, max(m.over, m.last)-m.healed))
	}
	if m.stable > 0 {
		f.Settled = Micros(max(0, m.stable-m.healed))
	}
	for _, b := range r.Breaches() {
		f.Breaches = append(f.Breaches, fmt.Sprintf("seed %d: %s", r.Seed, &b))
		if b.Promise == sim.PromiseEqual || b.Promise == sim.PromiseRest {
			f.Unequal = 1
		}
	}
	return f
}
