package topview

import (
	"time"

	"fednode/node/api"
)

// Sample is what a daemon answered at one moment.
type Sample struct {
	// At is when the answer came, by the clock of this process.
	At     time.Time
	Status api.Status
	Peers  []api.PeerInfo
}

// counter names a count that only grows while whatever counts it runs.
type counter struct {
	kind              counterKind
	query, part, name string
}

type counterKind uint8

const (
	sourceRows counterKind = iota
	sourceLate
	inputRows
	fragmentRows
	operatorIn
	operatorOut
	sinkRows
	peerFlaps
)

// past is the earlier of two samples.
type past struct {
	seconds float64 // between the samples; 0 if there is nothing to compare with
	cpu     float64 // processor seconds so far
	counts  map[counter]uint64
}

// pastOf returns what rates of cur are computed from. Nothing is comparable across a restart of the daemon.
func pastOf(prev, cur *Sample) *past {
	if prev == nil || cur == nil || !prev.Status.Node.Started.Equal(cur.Status.Node.Started) || !cur.At.After(prev.At) {
		return &past{}
	}
	p := &past{seconds: cur.At.Sub(prev.At).Seconds(), cpu: prev.Status.Node.CPUSeconds, counts: make(map[counter]uint64)}
	p.sources("", prev.Status.Sources)
	for i := range prev.Status.Queries {
		p.query(&prev.Status.Queries[i])
	}
	for i := range prev.Peers {
		p.counts[counter{peerFlaps, "", "", prev.Peers[i].Peer}] = prev.Peers[i].Flaps
	}
	return p
}

func (p *past) sources(query string, list []api.SourceStatus) {
	for i := range list {
		p.counts[counter{sourceRows, query, "", list[i].Stream}] = list[i].Rows
		p.counts[counter{sourceLate, query, "", list[i].Stream}] = list[i].Late
	}
}

func (p *past) query(q *api.QueryStatus) {
	p.sources(q.ID, q.Sources)
	for i := range q.Fragments {
		f := &q.Fragments[i]
		p.counts[counter{fragmentRows, q.ID, f.Name, ""}] = rowsIn(f)
		for _, in := range f.Inputs {
			p.counts[counter{inputRows, q.ID, f.Name, in.Stream}] = in.Rows
		}
		for _, o := range f.Operators {
			p.counts[counter{operatorIn, q.ID, f.Name, o.Name}] = o.RowsIn
			p.counts[counter{operatorOut, q.ID, f.Name, o.Name}] = o.RowsOut
		}
	}
	for _, k := range q.Sinks {
		p.counts[counter{sinkRows, q.ID, "", k.Output}] = k.Rows
	}
}

// rate returns how fast a count grows, per second; ok is false if that is not known.
func (p *past) rate(c counter, now uint64) (perSec float64, ok bool) {
	was, ok := p.counts[c]
	if !ok || now < was {
		return 0, false
	}
	return float64(now-was) / p.seconds, true
}

// cpuShare returns the use of the processor in percent of one core; ok is false if that is not known.
func (p *past) cpuShare(seconds float64) (percent float64, ok bool) {
	if p.seconds == 0 || seconds < p.cpu {
		return 0, false
	}
	return (seconds - p.cpu) / p.seconds * 100, true
}

// rowsIn counts the rows that have entered a fragment.
func rowsIn(f *api.FragmentStatus) uint64 {
	n := uint64(0)
	for i := range f.Inputs {
		n += f.Inputs[i].Rows
	}
	return n
}
