package sim

import (
	"fmt"

	"fednode/dcaa"
	"fednode/node/replica"
	"fednode/query"
	"fednode/query/tuple"
	"fednode/testnet/sim/host"
	"fednode/testnet/sim/topology"
	"fednode/testnet/sim/world"
)

// replicaActor drives the core of a fragment replica with what its host brings: it is the shell of one life.
type replicaActor struct {
	h    *host.Host
	run  *Run
	id   world.NodeID
	plan *query.FragmentPlan
	core *replica.Replica
	// inputs and outputs are streams by their index in the plan; inputOf and outputOf the other way round, -1 for none.
	inputs, outputs   []int32
	inputOf, outputOf []int32
	// producers are the nodes that give each input; peers the other replicas.
	producers [][]world.NodeID
	peers     []world.NodeID
	buffers   []*host.Buffer
	// dirty: something has happened since Advance last came to an end.
	dirty   bool
	pointAt dcaa.Instant
	saving  *point
	states  []dcaa.State // of each output, as last reported
	// moving: a peer has been asked for its state, with which this replica is to go on; takes: that is being stored.
	moving, takes bool
	// offer is the state that a peer sent while something else was being stored.
	offer     *point
	offerFrom world.NodeID
	// began is how often its results had begun anew when a point was last cut.
	began uint64
	// renewals is how often its forks had been renewed when it last looked.
	renewals uint64
	// caught: it has caught up since it was started.
	caught bool
	// redoing is since when it has been redoing in world time, 0 if it is not.
	redoing int64
}

// point is a recovery point: the core's state, its operators, and the outputs with what is unacknowledged.
type point struct {
	state     replica.State
	operators []byte
	outputs   []heldOutput
}

// heldOutput is what a recovery point holds of one output.
type heldOutput struct {
	frames []*tuple.Frame
	start  tuple.Position
	lost   tuple.Time
}

// Slots of a replica's disk.
const slotPoint = 0

func newReplicaActor(r *Run, h *host.Host, id world.NodeID) *replicaActor {
	t := r.top
	a := &replicaActor{h: h, run: r, id: id, plan: t.Fragment(id), inputOf: none(len(t.Streams)), outputOf: none(len(t.Streams))}
	if r.fragment != nil {
		a.plan = r.fragment(id, a.plan)
	}
	for n, in := range a.plan.Inputs {
		s := t.Stream(in.Stream)
		a.inputs, a.inputOf[s] = append(a.inputs, s), int32(n)
		a.producers = append(a.producers, t.Streams[s].Producers)
	}
	for n, out := range a.plan.Outputs {
		s := t.Stream(out.Stream)
		a.outputs, a.outputOf[s] = append(a.outputs, s), int32(n)
	}
	for _, p := range t.ReplicasOf(t.Nodes[id].Index) {
		if p != id {
			a.peers = append(a.peers, p)
		}
	}
	return a
}

func none(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = -1
	}
	return list
}

// config describes the replica to its core.
func (a *replicaActor) config() replica.Config {
	t, spec := a.run.top, &a.run.top.Spec
	c := replica.Config{Plan: a.plan, Settings: a.run.settings, Name: t.Nodes[a.id].Name, Incarnation: a.h.Life, Peers: a.names(a.peers),
		SliceRows: sliceRows(spec), Checksums: true}
	for n, s := range a.inputs {
		outside := t.Between(t.Nodes[a.id].Index, s)
		c.Inputs = append(c.Inputs, replica.Input{Producers: a.names(a.producers[n]), Preferred: t.Nodes[a.id].Replica % len(a.producers[n]),
			Source: outside || t.Streams[s].Source >= 0, Outside: outside})
	}
	for _, u := range a.plan.Unions {
		c.Places = append(c.Places, placeOf(spec, u.Depth, u.Path))
	}
	return c
}

// sliceTime is for how long a replica may release rows before it looks at its input again, in microseconds.
const sliceTime = 20_000

// sliceRows returns how many rows that is: rows cost far more here than in a daemon, whose slices are of as much work.
func sliceRows(s *topology.Spec) int {
	if s.SliceRows > 0 {
		return int(s.SliceRows)
	}
	return int(max(64, sliceTime/max(1, 2*s.RowCost)))
}

// placeOf says what is normal at the j-th SUnion of a path of so many.
func placeOf(s *topology.Spec, depth, path int) dcaa.Place {
	hop := s.Latency + s.Jitter + 2*tuple.Millisecond
	return dcaa.Place{Depth: depth, Path: path, Slack: s.Slack, Lag: s.Lag, Latency: int64(depth)*hop + 2*s.DiskLatency}
}

func (a *replicaActor) names(ids []world.NodeID) []string {
	var list []string
	for _, id := range ids {
		list = append(list, a.run.top.Nodes[id].Name)
	}
	return list
}

// Boot goes on from the recovery point. With an empty disk it begins empty: if its inputs do not reach back to their
// beginning, the core asks for the state of another replica.
func (a *replicaActor) Boot() {
	a.run.changes.begin(a.id)
	a.pointAt = a.h.Now().Add(a.h.W.Rand.Int64N(a.run.top.Spec.PointInterval))
	p, _ := a.h.W.Load(slotPoint).(*point)
	a.begin(p)
}

// begin makes the core and what is served.
func (a *replicaActor) begin(p *point) {
	var err error
	if p == nil {
		a.core, err = replica.New(a.config(), a.h.Now(), a)
	} else {
		a.core, _, err = replica.Restore(a.config(), a.h.Now(), a, p.state, p.operators, query.RestoreOptions{})
	}
	if err != nil {
		a.run.broken(fmt.Sprintf("%s does not start: %v", a.run.name(a.id), err))
		return
	}
	a.dirty = true
	a.states = make([]dcaa.State, len(a.outputs))
	for n, s := range a.outputs {
		start, lost := tuple.Position{Generation: 1, Time: tuple.MinTime}, tuple.MinTime
		var frames []*tuple.Frame
		if p != nil {
			start, frames, lost = p.outputs[n].start, p.outputs[n].frames, p.outputs[n].lost
		}
		b := dcaa.NewOutputBuffer(start.Generation, start)
		b.LostBefore(lost)
		buffer := host.NewBuffer(b, a.run.subscribers)
		for _, f := range frames {
			buffer.Append(f, a.h.Now())
		}
		buffer.Count(a.run.top.Streams[s].Readers, start)
		a.buffers = append(a.buffers, buffer)
		a.h.Serve(s, buffer)
	}
	for n := range a.peers {
		a.Reachable(a.peers[n], a.h.Up(a.peers[n]))
	}
	for _, list := range a.producers {
		for _, id := range list {
			a.Reachable(id, a.h.Up(id))
		}
	}
}

// Due is when the core has something to do.
func (a *replicaActor) Due() dcaa.Instant {
	switch {
	case a.core == nil:
		return dcaa.Never
	case a.dirty:
		return a.h.Now()
	}
	return min(a.core.Due(), a.pointAt)
}

// Wake lets go what may go, and stores a recovery point when it is time.
func (a *replicaActor) Wake() {
	now := a.h.Now()
	busy, err := a.core.Advance(now)
	if err != nil {
		a.run.broken(fmt.Sprintf("%s has stopped: %v", a.run.name(a.id), err))
		a.core = nil
		return
	}
	a.dirty = busy
	a.run.result.Coverage.Renewals += a.core.Renewals().Done - a.renewals
	a.renewals = a.core.Renewals().Done
	for _, s := range a.outputs {
		a.h.Pump(s)
	}
	began := a.core.Beginnings()
	if now >= a.pointAt || began != a.began && a.saving == nil {
		a.began = began
		a.pointAt = now.Add(a.run.top.Spec.PointInterval)
		a.store()
		for n := range a.outputs {
			a.buffers[n].Forget(func(id world.NodeID) bool { return a.h.Away(id) > a.run.top.Spec.ForgetAfter })
		}
	}
}

// store makes a recovery point durable, unless the last one is still on its way.
func (a *replicaActor) store() {
	if a.saving == nil {
		a.saving = a.point()
		a.h.W.Commit(slotPoint, a.saving)
	}
}

// point cuts a recovery point.
func (a *replicaActor) point() *point {
	var e tuple.Encoder
	p := &point{state: a.core.Snapshot(&e)}
	p.operators = e.B
	for n := range a.buffers {
		p.outputs = append(p.outputs, a.held(n))
	}
	return p
}

// held is what a point holds of an output.
func (a *replicaActor) held(output int) heldOutput {
	b := a.buffers[output].Stable
	return heldOutput{frames: b.Unacknowledged(), start: b.Truncated(), lost: b.Lost()}
}

// Stored acknowledges upstream what a durable point covers.
func (a *replicaActor) Stored(_ uint32, ok bool) {
	p := a.saving
	a.saving = nil
	if a.takes {
		if !ok {
			// The disk is full: what came is stored as soon as there is room.
			a.saving = p
			a.h.W.Commit(slotPoint, p)
			return
		}
		a.takes = false
		a.run.restart(a.id)
		return
	}
	if o := a.offer; o != nil && a.moving {
		a.offer = nil
		a.offered(a.offerFrom, o)
	}
	if !ok || a.run.silent[a.id] > 0 {
		return
	}
	for n, s := range a.inputs {
		at := p.state.Covered(a.plan, n)
		for _, id := range a.producers[n] {
			a.h.Ack(id, s, at)
		}
	}
}

// Open asks a producer for an input.
func (a *replicaActor) Open(input int, o dcaa.Opening) {
	a.run.asks(a.id, a.producers[input][o.Producer], a.inputs[input], &o)
	a.h.Subscribe(a.producers[input][o.Producer], a.inputs[input], o.Conn, host.Request{
		From: o.From, Durable: tuple.Position{Generation: o.From.Generation, Time: tuple.MinTime}, Tentative: o.Tentative, TentativeFrom: o.TentativeFrom,
	})
}

// Close ends a subscription.
func (a *replicaActor) Close(input int, conn uint64) {
	a.run.leaves(a.id, a.inputs[input], conn)
	a.h.Unsubscribe(a.inputs[input], conn)
}

// Emit serves a frame.
func (a *replicaActor) Emit(output int, f *tuple.Frame) {
	if f.Batch != nil {
		a.h.SpendRows(f.Batch.Rows())
	}
	a.buffers[output].Append(f, a.h.Now())
	a.run.emitted(a, output, f)
}

// Tell sends a message about permission.
func (a *replicaActor) Tell(peer string, m dcaa.PermissionMessage) {
	a.h.Tell(a.run.top.Node(peer), m)
}

// Diverged says that two replicas that this one reads from differ.
func (a *replicaActor) Diverged(input int, d dcaa.Divergence) {
	a.run.diverged(a.id, a.inputs[input], d)
}

// Relied reports whether anybody takes tentative results of an output.
func (a *replicaActor) Relied(output int) bool { return a.h.Relied(a.outputs[output]) }

// Changed reports a change of state.
func (a *replicaActor) Changed(c replica.Change) {
	a.noteRedo()
	a.run.changed(a, c)
}

// noteRedo notes since when the replica may redo at full speed. Its redo begins with a change of state; that it ends shows later.
func (a *replicaActor) noteRedo() {
	if a.redoing == 0 && a.core != nil && a.core.Redoing() {
		a.redoing = a.run.w.Now()
	}
}
