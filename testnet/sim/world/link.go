package world

import "math/rand/v2"

// Quality is how one direction between two nodes behaves. Durations are microseconds, chances parts per million.
type Quality struct {
	Latency int64
	// Jitter is added to the latency, evenly from 0.
	Jitter int64
	// Bandwidth is in bytes a second; 0 does not limit.
	Bandwidth int64
	// Loss is the chance of a transmission to be lost; what is lost is sent again.
	Loss int64
	// Repeat and Overtake are the chances of a control message to come twice, and to be overtaken by later ones.
	Repeat   int64
	Overtake int64
}

// link is one direction between two nodes.
type link struct {
	Quality
	cuts   int      // how many faults cut it
	held   []uint32 // what waits for the cuts to end, in order
	freeAt int64    // when the wire has taken the last message
	last   int64    // arrival of the last message of connection epoch
	epoch  uint32
}

// Times of TCP.
const (
	firstRetransmit = 200_000
	// worstOvertake is how late a control message can come that others overtake.
	worstOvertake = 500_000
)

func chance(r *rand.Rand, ppm int64) bool { return ppm > 0 && r.Int64N(million) < ppm }

// transmit puts a message on its way. from is when the sender lets go of it.
func (w *World) transmit(l *link, number uint32, from, bytes int64) {
	if l.cuts > 0 {
		l.held = append(l.held, number)
		return
	}
	m := &w.pool.slots[number]
	at := from
	if l.Bandwidth > 0 {
		l.freeAt = max(l.freeAt, from) + bytes*million/l.Bandwidth
		at = l.freeAt
	}
	m.leaves = at
	at += l.Latency
	if l.Jitter > 0 {
		at += w.Rand.Int64N(l.Jitter + 1)
	}
	for again := int64(firstRetransmit); chance(w.Rand, l.Loss); again = min(2*again, w.cfg.Retransmit) {
		at += again
	}
	to := m.to
	if m.epoch < l.epoch {
		// What is left of an older connection is in nobody's way.
		w.queue.push(event{at: at, kind: evArrive, node: to, arg: number})
		return
	}
	if m.epoch > l.epoch {
		l.epoch, l.last = m.epoch, 0
	}
	if m.Control && (l.Repeat > 0 || l.Overtake > 0) {
		if chance(w.Rand, l.Repeat) {
			twice := w.pool.copyOf(number)
			w.pool.slots[twice].loose = true
			w.queue.push(event{at: max(at, l.last) + w.Rand.Int64N(worstOvertake), kind: evArrive, node: to, arg: twice})
		}
		if chance(w.Rand, l.Overtake) {
			w.pool.slots[number].loose = true
			w.queue.push(event{at: max(at, l.last) + w.Rand.Int64N(worstOvertake), kind: evArrive, node: to, arg: number})
			return
		}
	}
	l.last = max(at, l.last)
	w.queue.push(event{at: l.last, kind: evArrive, node: to, arg: number})
}

func (w *World) link(from, to NodeID) *link { return &w.links[int(from)*len(w.nodes)+int(to)] }

// Quality returns how the direction behaves now.
func (w *World) Quality(from, to NodeID) Quality { return w.link(from, to).Quality }

// SetQuality changes how the direction behaves from now on. What waits for the wire goes at its new rate.
func (w *World) SetQuality(from, to NodeID, q Quality) {
	l := w.link(from, to)
	was := l.Bandwidth
	l.Quality = q
	if was != q.Bandwidth && was > 0 && l.freeAt > w.now {
		w.repace(from, to, was)
	}
}

// repace moves the arrivals of what waits for a wire that had another rate.
func (w *World) repace(from, to NodeID, was int64) {
	l := w.link(from, to)
	takes := func(leaves int64) int64 { // a wire that limits nothing takes all of it at once
		if l.Bandwidth == 0 {
			return w.now
		}
		return w.now + int64(float64(leaves-w.now)*float64(was)/float64(l.Bandwidth))
	}
	l.freeAt = takes(l.freeAt)
	last := w.now
	w.queue.rearrange(func(e *event) {
		if e.kind != evArrive || e.node != to {
			return
		}
		m := &w.pool.slots[e.arg]
		if m.from != from {
			return
		}
		if m.leaves > w.now {
			leaves := takes(m.leaves)
			e.at, m.leaves = e.at+leaves-m.leaves, leaves
		}
		if m.epoch == l.epoch && !m.loose {
			last = max(last, e.at)
			e.at = last
		}
	})
	l.last = last
}

// Cut stops one direction between two nodes. Cuts count: it takes as many calls of Heal to end them.
func (w *World) Cut(from, to NodeID) { w.link(from, to).cuts++ }

// Heal takes back one Cut. When none is left, what waited is sent again, a retransmission later.
func (w *World) Heal(from, to NodeID) {
	l := w.link(from, to)
	if l.cuts == 0 {
		return
	}
	l.cuts--
	if l.cuts > 0 || len(l.held) == 0 {
		return
	}
	held := l.held
	l.held = nil
	at := w.now + w.Rand.Int64N(w.cfg.Retransmit)
	for _, m := range held {
		w.transmit(l, m, at, 0)
	}
}

// Backlog returns for how long what has been sent in a direction is still on its way, beyond its latency, in
// microseconds: after a narrow or lossy time it takes a while to drain.
func (w *World) Backlog(from, to NodeID) int64 {
	l := w.link(from, to)
	return max(0, l.last-w.now-l.Latency-l.Jitter)
}

// Reachable reports whether no cut lies in either direction.
func (w *World) Reachable(a, b NodeID) bool { return w.link(a, b).cuts == 0 && w.link(b, a).cuts == 0 }
