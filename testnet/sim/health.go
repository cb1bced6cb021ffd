package sim

import (
	"fednode/dcaa"
	"fednode/query/tuple"
	"fednode/testnet/sim/topology"
	"fednode/testnet/sim/world"
)

// health knows since when each node and each way between two has been without any fault, as the world sees it: the ground
// on which availability is judged.
type health struct {
	r *Run
	// since is by node, way by a·n + b for a < b; bad while something is wrong.
	since []int64
	way   []int64
	// lived is when each node was last seen up; sinceThen and wayThen are what since and way were when it, or both ends, last were.
	lived     []int64
	sinceThen []int64
	wayThen   []int64
	// stable is since when each output of each replica has been STABLE and not holding, by stream and producer.
	stable [][]int64
	// past are the stable boundaries of each producer of each stream at the latest looks, the present one at looks modulo
	// their number.
	past  [][][pastLooks]tuple.Time
	looks int
	// settled is since when everything that lives has been stable.
	settled int64
}

// pastLooks is how many looks lie in switchTime, and one.
const pastLooks = switchTime/lookEvery + 1

// bad is later than every time.
const bad = int64(1) << 62

func newHealth(r *Run) *health {
	n := len(r.top.Nodes)
	h := &health{r: r, since: make([]int64, n), way: make([]int64, n*n), lived: make([]int64, n), settled: bad}
	h.sinceThen, h.wayThen = make([]int64, n), make([]int64, n*n)
	for i := range h.since {
		h.since[i] = bad
	}
	for i := range h.way {
		h.way[i] = bad
	}
	for _, s := range r.top.Streams {
		list := make([]int64, len(s.Producers))
		for i := range list {
			list[i] = bad
		}
		h.stable = append(h.stable, list)
		h.past = append(h.past, make([][pastLooks]tuple.Time, len(s.Producers)))
	}
	return h
}

// touched notes that a fault begins or ends at some nodes: what is healthy counts from now at the earliest.
func (h *health) touched(nodes [2]world.NodeID) {
	now := h.r.w.Now()
	a, b := nodes[0], nodes[1]
	if b >= 0 {
		h.renew(&h.way[h.index(a, b)], now)
		return
	}
	h.renew(&h.since[a], now)
	for _, p := range h.r.top.Nodes[a].Peers {
		h.renew(&h.way[h.index(a, p)], now)
	}
}

// reached notes that a node can or cannot talk to another, as it sees it: a session that ends and stands again between two looks
// has not been healthy all the while.
func (h *health) reached(a, b world.NodeID) { h.renew(&h.way[h.index(a, b)], h.r.w.Now()) }

func (h *health) renew(at *int64, now int64) {
	if *at != bad {
		*at = now
	}
}

func (h *health) index(a, b world.NodeID) int {
	return int(min(a, b))*len(h.r.top.Nodes) + int(max(a, b))
}

// look brings everything up to date.
func (h *health) look() {
	now := h.r.w.Now()
	for i := range h.since {
		note(&h.since[i], h.node(world.NodeID(i)), now)
		if h.r.w.Up(world.NodeID(i)) {
			h.lived[i], h.sinceThen[i] = now, h.since[i]
		}
	}
	for a := range h.r.top.Nodes {
		for _, b := range h.r.top.Nodes[a].Peers {
			if world.NodeID(a) < b {
				k := h.index(world.NodeID(a), b)
				note(&h.way[k], h.link(world.NodeID(a), b), now)
				if h.r.w.Up(world.NodeID(a)) && h.r.w.Up(b) {
					h.wayThen[k] = h.way[k]
				}
			}
		}
	}
	h.looks++
	all := h.r.watch.level(now)
	for n := range h.stable {
		for k, id := range h.r.top.Streams[n].Producers {
			state, holding := h.state(n, id)
			note(&h.stable[n][k], state && !holding, now)
			h.past[n][k][h.looks%pastLooks] = h.boundary(n, id)
			all = all && (state || !h.r.w.Up(id))
		}
	}
	note(&h.settled, all, now)
}

func note(since *int64, good bool, now int64) {
	switch {
	case !good:
		*since = bad
	case *since == bad:
		*since = now
	}
}

// node reports whether nothing is wrong with a node: a replica has caught up since it was started.
func (h *health) node(id world.NodeID) bool {
	if !h.r.w.Healthy(id) {
		return false
	}
	switch n := &h.r.top.Nodes[id]; n.Role {
	case topology.Source:
		l := h.r.logs[n.Index]
		return l.boundary != tuple.MinTime && l.disconnected == 0 && l.behind == 0 && !h.r.w.DiskFull(id) && h.r.w.Now()-int64(l.boundary-epoch)-h.r.top.Spec.Lag < h.r.rules.source
	case topology.Replica:
		a := h.r.replicas[id]
		return a != nil && a.caughtUp()
	}
	return true
}

// caughtUp reports whether the replica has been STABLE or UPSTREAM_FAILURE in this life. One that takes over the state of
// another has none to speak of until the life that begins with it.
func (a *replicaActor) caughtUp() bool {
	if a.core == nil || a.moving || a.takes {
		return false
	}
	if !a.caught {
		a.caught = true
		for n := range a.outputs {
			s := a.core.Status(n).State
			a.caught = a.caught && (s == dcaa.Stable || s == dcaa.UpstreamFailure || s == dcaa.Ended)
		}
	}
	return a.caught
}

// link reports whether nothing is wrong between two nodes.
func (h *health) link(a, b world.NodeID) bool {
	s := &h.r.top.Spec
	want := world.Quality{Latency: s.Latency, Jitter: s.Jitter, Bandwidth: s.Bandwidth}
	w := h.r.w
	return w.Up(a) && w.Up(b) && w.Reachable(a, b) && w.Quality(a, b) == want && w.Quality(b, a) == want &&
		w.Backlog(a, b) == 0 && w.Backlog(b, a) == 0 &&
		h.r.sessions[a].Up(b) && h.r.sessions[b].Up(a)
}

// state reports whether a producer gives its stream as it should be, and whether it holds a bucket that is due.
func (h *health) state(stream int, id world.NodeID) (stable, holding bool) {
	s := &h.r.top.Streams[stream]
	if s.Source >= 0 {
		return h.node(id), false
	}
	a := h.r.replicas[id]
	if a == nil || a.core == nil {
		return false, false
	}
	st := a.core.Status(s.Output)
	return st.State == dcaa.Stable, st.Holding > 0
}

// boundary returns how far a producer's stream is stable.
func (h *health) boundary(stream int, id world.NodeID) tuple.Time {
	s := &h.r.top.Streams[stream]
	if s.Source >= 0 {
		return h.r.logs[s.Source].boundary
	}
	if a := h.r.replicas[id]; a != nil && a.core != nil {
		return a.core.Status(s.Output).Boundary
	}
	return tuple.MinTime
}

// path reports whether a way of nodes and links that have been healthy since a time leads from a source to the client.
func (h *health) path(source int, since int64) bool {
	if h.since[h.r.top.Client()] > since || h.since[source] > since {
		return false
	}
	return h.reaches(world.NodeID(source), int32(source), since)
}

// allWays reports whether every way that leads from a source to the client has been healthy since a time, for as long as its nodes
// have lived since then: whichever replicas were read from, none had an excuse. That one has died is none, while others live.
func (h *health) allWays(source int, since int64) bool {
	if h.since[source] > since {
		return false
	}
	for n := range h.r.top.Streams {
		s := &h.r.top.Streams[n]
		if s.Source >= 0 && s.Source != source {
			continue
		}
		for _, p := range s.Producers {
			for _, id := range s.Readers {
				alive := h.r.w.Up(p) && h.r.w.Up(id)
				if !alive && h.r.settings.Consistency == dcaa.BestEffort {
					return false // what was read from there may be what a GAP names: nobody corrects it
				}
				if (alive || min(h.lived[p], h.lived[id]) > since) && h.wellSince(p, id) > since {
					return false
				}
			}
		}
	}
	return h.path(source, since)
}

// wellSince is since when two nodes and the way between them have been healthy, or had been until one of them died.
func (h *health) wellSince(p, id world.NodeID) int64 {
	at, way := int64(0), h.way[h.index(p, id)]
	for _, n := range []world.NodeID{p, id} {
		if h.r.w.Up(n) {
			at = max(at, h.since[n])
			continue
		}
		at, way = max(at, h.sinceThen[n]), h.wayThen[h.index(p, id)]
	}
	return max(at, way)
}

// reaches follows a stream from one of its healthy producers towards the client.
func (h *health) reaches(from world.NodeID, stream int32, since int64) bool {
	for _, id := range h.r.top.Streams[stream].Readers {
		if h.since[id] > since || h.way[h.index(from, id)] > since {
			continue
		}
		if h.r.top.Nodes[id].Role == topology.Client {
			return true
		}
		for n := range h.r.top.Streams {
			if h.r.top.Streams[n].Fragment == h.r.top.Nodes[id].Index && h.reaches(id, int32(n), since) {
				return true
			}
		}
	}
	return false
}
