package sim

import (
	"slices"

	"fednode/dcaa"
	"fednode/node/replica"
	"fednode/query"
	"fednode/query/tuple"
	"fednode/testnet/sim/fault"
	"fednode/testnet/sim/host"
	"fednode/testnet/sim/world"
)

// changes checks that readers learn: who has left a producer for a stall that passed leaves none for a shorter one that passes
// in the minute after, but once, while nothing is wrong but that packets are lost. Without that they would change for ever on
// such a line.
type changes struct {
	r       *Run
	readers [][]reading // by node and stream
	// states of the outputs of replicas, by node.
	states []map[int]dcaa.State
	// steady is since when the same faults hold.
	steady int64
}

// reading is what a reader has been told of one stream, and what it did.
type reading struct {
	from  int   // producer that new rows came from last, -1 for none
	late  int64 // what of max_delay had been spent on what came of it last
	conns map[uint64]asking
	told  []telling // by producer
	beats []telling // the latest, furthest boundaries that any of them told of; both fields rise
	left  leaving   // for a stall that may pass
	knows leaving   // the longest that has passed
	again int       // how often it has left one for a shorter stall, which passed
	// hurried: what the reader makes of it is tentative, so it bears no stall.
	hurried bool
}

// asking is what a connection was asked for.
type asking struct {
	producer int
	data     bool // new rows, not corrections alone
}

// telling is how far a producer told to be, and when. One that is away tells nothing.
type telling struct {
	boundary tuple.Time
	at       int64
	up       bool
	stable   bool // STABLE
	// generation of its stream.
	generation uint64
}

// leaving is that a producer was left after it had stalled for so long.
type leaving struct {
	producer int // -1 for none
	stall    int64
	since    int64 // when the stall began
	at       int64
	known    bool // as long a stall has passed before
}

const (
	// mostLoss is how many percent of packets may be lost.
	mostLoss = 20
	// mostAgain is how often a reader may leave a producer for what has passed before: more than a stall has its part in that.
	mostAgain = 1
	// undisturbed is for how long nothing else may have been wrong.
	undisturbed = 10 * tuple.Second
	// learned is for how long what was learned lasts in full.
	learned = 60 * tuple.Second
	// mostPatience is what a reader puts up with at most, unless a third of max_delay is less.
	mostPatience = tuple.Second
)

func newChanges(r *Run) *changes {
	c := &changes{r: r, readers: make([][]reading, len(r.top.Nodes)), states: make([]map[int]dcaa.State, len(r.top.Nodes))}
	for id := range c.readers {
		c.readers[id] = make([]reading, len(r.top.Streams))
		c.begin(world.NodeID(id))
	}
	return c
}

// begin begins a life of a reader: it knows nothing.
func (c *changes) begin(reader world.NodeID) {
	c.states[reader] = make(map[int]dcaa.State)
	for n := range c.readers[reader] {
		x := reading{from: -1, conns: make(map[uint64]asking), left: leaving{producer: -1}, told: make([]telling, len(c.r.top.Streams[n].Producers))}
		for k := range x.told {
			x.told[k].boundary = tuple.MinTime
		}
		c.readers[reader][n] = x
	}
}

// touched notes that a fault begins or ends.
func (c *changes) touched() { c.steady = c.r.w.Now() }

func (c *changes) producer(stream int, id world.NodeID) int {
	return slices.Index(c.r.top.Streams[stream].Producers, id)
}

// reaches takes in that a reader can or cannot talk to another node. One that was left, and goes away, had failed.
func (c *changes) reaches(reader, peer world.NodeID, up bool) {
	for n := range c.readers[reader] {
		x := &c.readers[reader][n]
		if k := c.producer(n, peer); k >= 0 {
			x.told[k].up = up
			if !up && x.left.producer == k {
				x.left.producer = -1
			}
		}
	}
}

// frame takes in what a reader gets over a connection.
func (c *changes) frame(h *host.Host, stream int32, conn uint64, f *tuple.Frame) {
	reader := h.ID
	x := &c.readers[reader][stream]
	a, ok := x.conns[conn]
	if !ok {
		return
	}
	if a.data {
		x.from = a.producer
	}
	if f.Kind == tuple.Boundary {
		if a.data {
			way := h.Way(c.r.top.Streams[stream].Producers[a.producer])
			x.late = max(0, dcaa.AgeOf(f).After(way.Age()).Delay())
		}
		c.reached(reader, stream, a.producer, f.Time)
	}
}

// heard takes in how far a producer tells a reader to be, in a heartbeat.
func (c *changes) heard(reader, producer world.NodeID, s *world.Status) {
	k := c.producer(int(s.Stream), producer)
	t := &c.readers[reader][s.Stream].told[k]
	t.stable, t.generation = s.State == dcaa.Stable, s.Generation
	c.reached(reader, s.Stream, k, s.Boundary)
}

// closed takes in that a reader gives up a connection.
func (c *changes) closed(reader world.NodeID, stream int32, conn uint64) {
	delete(c.readers[reader][stream].conns, conn)
}

func (c *changes) reached(reader world.NodeID, stream int32, k int, boundary tuple.Time) {
	x, now := &c.readers[reader][stream], c.r.w.Now()
	t := &x.told[k]
	if boundary <= t.boundary {
		return
	}
	t.boundary, t.at = boundary, now
	if x.left.producer == k {
		c.passed(reader, stream, x)
	}
	if n := len(x.beats); n == 0 || boundary > x.beats[n-1].boundary {
		x.beats = append(x.beats, *t)
	}
	old := 0
	for old < len(x.beats)-1 && x.beats[old+1].at < now-2*mostPatience {
		old++
	}
	x.beats = x.beats[old:]
}

// passed takes in that the producer which was left goes on after all.
func (c *changes) passed(reader world.NodeID, stream int32, x *reading) {
	now, left := c.r.w.Now(), x.left
	x.left.producer = -1
	if left.known {
		if x.again++; x.again > mostAgain {
			c.r.breach("readers put up with what has passed before", "%s has left %s after %s, for the %d. time although %s have passed before",
				c.r.name(reader), c.r.name(c.r.top.Streams[stream].Producers[left.producer]), tuple.AppendDuration(nil, left.stall), x.again, tuple.AppendDuration(nil, x.knows.stall))
		}
	}
	if now-left.since > c.mostPatience()-c.r.settings.Heartbeat {
		return
	}
	if left.stall >= x.knows.stall || now-x.knows.at >= learned {
		x.knows = left
		x.knows.at = now
	}
}

// stalled is for how long a producer has told nothing new, or not of what another one has told.
func (x *reading) stalled(now int64, producer int) int64 {
	t := &x.told[producer]
	since := t.at
	for i := range x.beats {
		if b := &x.beats[i]; b.boundary > t.boundary {
			since = min(since, b.at)
			break
		}
	}
	return now - since
}

// asked takes in that a reader asks a producer for a stream. What is judged is why it leaves the one that it has: one that is
// not STABLE, cannot be talked to or has gone on with another history is rightly left.
func (c *changes) asked(reader, producer world.NodeID, stream int32, o *dcaa.Opening) {
	x, now := &c.readers[reader][stream], c.r.w.Now()
	x.conns[o.Conn] = asking{c.producer(int(stream), producer), o.Tentative}
	had := x.from
	if !o.Tentative || had < 0 || had == x.conns[o.Conn].producer || !x.told[had].up || !c.judged() {
		return
	}
	if !x.told[had].stable || !x.told[x.conns[o.Conn].producer].stable {
		return // one gives what the other one holds or corrects
	}
	if o.From.Generation != 0 && x.told[had].generation != o.From.Generation {
		return
	}
	stall := x.stalled(now, had)
	x.left = leaving{producer: had, stall: stall, since: now - stall, known: stall < c.putsUpWith(x, now)}
}

// putsUpWith is the shortest stall for which a reader may leave a producer: three times what has passed before, less what came
// last was late; nothing while it hurries. What the reader knows of a stall can be longer by the heartbeat that told of its beginning.
func (c *changes) putsUpWith(x *reading, now int64) int64 {
	if x.knows.stall == 0 || now-x.knows.at >= learned || x.hurried {
		return 0
	}
	return min(3*x.knows.stall, c.mostPatience()) - x.late - c.r.settings.Heartbeat
}

// mostPatience is what a reader puts up with at most. A stall that lasts longer in the end teaches nothing.
func (c *changes) mostPatience() int64 { return min(mostPatience, c.r.settings.MaxDelay/3) }

// changed takes in that paths of a replica have another state, which those know that it reads for them.
func (c *changes) changed(a *replicaActor, change replica.Change) {
	if change.From == change.To {
		return
	}
	for _, o := range change.Outputs {
		c.states[a.id][o] = change.To
	}
	for n, s := range a.inputs {
		c.readers[a.id][s].hurried = c.hurries(a, n)
	}
}

// hurries reports whether anything that a replica makes of an input is tentative.
func (c *changes) hurries(a *replicaActor, input int) bool {
	return slices.ContainsFunc(a.plan.Unions, func(u query.UnionPlan) bool {
		return slices.Contains(u.Inputs, input) && slices.ContainsFunc(u.Outputs, func(o int) bool {
			s := c.states[a.id][o]
			return s == dcaa.UpstreamFailure || s == dcaa.Stabilization
		})
	})
}

// judged reports whether nothing is wrong, and has not been for a while, but that packets are lost.
func (c *changes) judged() bool {
	now := c.r.w.Now()
	if now-c.steady < undisturbed {
		return false
	}
	return !slices.ContainsFunc(c.r.faults, func(f fault.Fault) bool {
		return f.At <= now && now < f.End() && (f.Kind != fault.Loss || f.Amount > mostLoss)
	})
}
