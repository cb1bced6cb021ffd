package sim

import (
	"fmt"
	"slices"

	"fednode/dcaa"
	"fednode/node/replica"
	"fednode/query"
	"fednode/query/tuple"
	"fednode/testnet/sim/fault"
	"fednode/testnet/sim/host"
	"fednode/testnet/sim/topology"
	"fednode/testnet/sim/world"
)

// Case is everything that a run depends on.
type Case struct {
	Seed   uint64
	Spec   topology.Spec
	Faults fault.Plan
}

// Options of a run.
type Options struct {
	// Trace takes what happens, nil for nothing.
	Trace *Trace
	// Observer is told what the run shows; it may be nil.
	Observer Observer
	// GoOn lets a run go to its end whatever promise breaks, so that all it shows can be measured.
	GoOn bool
	// fragment replaces the plan of a replica, for tests of what the promises notice; nil leaves it.
	fragment func(id world.NodeID, f *query.FragmentPlan) *query.FragmentPlan
	// says replaces what the heartbeats of a replica say of its outputs; nil leaves it.
	says func(id world.NodeID, s dcaa.StreamStatus) dcaa.StreamStatus
}

// Breach is a promise that did not hold.
type Breach struct {
	// At is the world time in microseconds.
	At int64
	// Promise names the rule, Text says what was seen.
	Promise string
	Text    string
}

// String renders the breach on one line.
func (b *Breach) String() string {
	return fmt.Sprintf("%s: %s: %s", tuple.AppendDuration(nil, b.At), b.Promise, b.Text)
}

// Result is what a run showed.
type Result struct {
	Seed uint64
	// Breach is nil if every promise held. Others are those of other promises that broke later, in a run that goes on.
	Breach *Breach
	Others []Breach
	// Simulated is how long the run was in world time, Steps how many events programs handled.
	Simulated int64
	Steps     uint64
	// Rows and Tentative are how many of each kind the client got; Worst is the longest incremental delay while a path was
	// healthy, Settled how long after the last fault everything was stable again. Microseconds.
	Rows, Tentative uint64
	Worst           int64
	Settled         int64
	// Worked is the processor time that all replicas have taken, in microseconds.
	Worked   int64
	Coverage Coverage
}

// Run is one federation in the middle of its run.
type Run struct {
	top      *topology.Topology
	w        *world.World
	settings dcaa.Settings
	hosts    host.Settings
	names    []string
	// subscribers are the nodes' names as subscribers.
	subscribers []string
	faults      fault.Plan
	trace       *Trace
	observer    Observer
	goOn        bool
	fragment    func(world.NodeID, *query.FragmentPlan) *query.FragmentPlan
	says        func(world.NodeID, dcaa.StreamStatus) dcaa.StreamStatus

	logs     []*sourceLog
	replicas []*replicaActor // by node, nil where none runs
	sessions []*host.Host
	silent   []int // faults that keep the node from acknowledging
	watch    *watch
	ref      *reference
	health   *health
	inject   *injector
	rules    *rules
	same     *same
	changes  *changes
	result   Result
}

// The numbers of what is scheduled; faults follow.
const (
	actLook uint32 = iota
	actEnd
	actFaults
	// actRestart and a node's number.
	actRestart uint32 = 1 << 30
)

// lookEvery is how often promises are looked at that do not hang on an event, in microseconds.
const lookEvery = 100_000

// Execute runs a case to its end or its first breach.
func Execute(c Case, o Options) (Result, error) {
	t, err := topology.Build(c.Spec)
	if err != nil {
		return Result{}, err
	}
	return ExecuteOn(t, c, o)
}

// ExecuteOn runs a case whose federation has been built already; the topology is not changed, and several runs may share
// it.
func ExecuteOn(t *topology.Topology, c Case, o Options) (Result, error) {
	r := &Run{top: t, faults: c.Faults, trace: o.Trace, observer: o.Observer, goOn: o.GoOn, fragment: o.fragment, says: o.says, result: Result{Seed: c.Seed}}
	if r.observer == nil {
		r.observer = unobserved{}
	}
	n := len(t.Nodes)
	r.settings, r.hosts = settingsOf(&t.Spec), host.DefaultSettings()
	r.hosts.Heartbeat, r.hosts.Miss, r.hosts.RowCost = t.Spec.Heartbeat, t.Spec.Miss, t.Spec.RowCost
	r.hosts.Heavy = max(1, windowTime/(max(1, t.Spec.RowCost)*r.hosts.Window))
	r.replicas, r.sessions = make([]*replicaActor, n), make([]*host.Host, n)
	r.silent = make([]int, n)
	for i := range t.Nodes {
		r.names = append(r.names, t.Nodes[i].Name)
		r.subscribers = append(r.subscribers, r.subscriber(world.NodeID(i)))
	}
	cfg := world.Default()
	cfg.Seed, cfg.Nodes, cfg.DiskLatency = c.Seed, n, t.Spec.DiskLatency
	cfg.NewProgram, cfg.Script = r.program, r
	r.w = world.New(cfg)
	r.addLogs(c.Seed)
	var err error
	if r.ref, err = newReference(t, r.logs); err != nil {
		return Result{}, err
	}
	r.watch, r.health, r.rules, r.same = newWatch(r), newHealth(r), newRules(r), newSame(r)
	r.changes = newChanges(r)
	for i, l := range r.logs {
		l.watch, l.index = r.watch, i
	}
	if r.inject, err = newInjector(r); err != nil {
		return Result{}, err
	}
	r.begin()
	end := max(c.Faults.Healed(), t.Spec.Calm+t.Spec.Trouble) + t.Spec.Settle
	r.w.At(end, actEnd)
	r.w.Run(end)
	r.finish(end)
	return r.result, nil
}

// settingsOf says what the nodes know of the query.
func settingsOf(s *topology.Spec) dcaa.Settings {
	d := dcaa.DefaultSettings()
	d.MaxDelay, d.Bucket, d.BoundaryInterval = s.MaxDelay, s.Bucket, s.BoundaryInterval
	d.Heartbeat, d.Miss, d.IdleAfter = s.Heartbeat, s.Miss, 3*s.BoundaryInterval
	d.AbandonAfter = s.AbandonAfter
	d.Failure, d.Stabilization = policyOf(s.Failure), policyOf(s.Stabilization)
	if s.Redo == topology.RedoUndo {
		d.Redo = dcaa.RedoUndo
	}
	switch s.Consistency {
	case topology.StableOnly:
		d.Consistency, d.MaxDelay = dcaa.StableOnly, dcaa.Unbounded
	case topology.BestEffort:
		d.Consistency = dcaa.BestEffort
	}
	return d
}

// windowTime is for how long the rows of a full window keep a node busy, in microseconds.
const windowTime = 100_000

func policyOf(name string) dcaa.Policy {
	for p := dcaa.Process; p <= dcaa.Suspend; p++ {
		if p.String() == name {
			return p
		}
	}
	return dcaa.Delay
}

func (r *Run) addLogs(seed uint64) {
	for i := range r.top.Spec.Sources {
		l := &sourceLog{gen: newGenerator(seed, i, &r.top.Spec), boundary: tuple.MinTime}
		start := tuple.Position{Generation: 1, Time: tuple.MinTime}
		l.output = host.NewBuffer(dcaa.NewOutputBuffer(1, start), r.subscribers)
		l.output.Count(r.top.Streams[i].Readers, start)
		r.logs = append(r.logs, l)
	}
}

// begin sets every link up and starts every node.
func (r *Run) begin() {
	s := &r.top.Spec
	q := world.Quality{Latency: s.Latency, Jitter: s.Jitter, Bandwidth: s.Bandwidth}
	for a := range r.top.Nodes {
		for _, b := range r.top.Nodes[a].Peers {
			r.w.SetQuality(world.NodeID(a), b, q)
		}
	}
	for i := range r.faults {
		r.inject.schedule(i)
	}
	r.w.At(lookEvery, actLook)
	for i := range r.top.Nodes {
		r.w.Start(world.NodeID(i))
	}
}

// program makes what runs on a node.
func (r *Run) program(id world.NodeID, life uint64) world.Program {
	node := &r.top.Nodes[id]
	peers := make([]host.Peer, 0, len(node.Peers))
	for _, p := range node.Peers {
		// Who reads dials; replicas of one fragment dial those before them.
		peers = append(peers, host.Peer{ID: p, Dial: p < id})
	}
	h := host.New(r.w, id, life, &r.hosts, len(r.top.Nodes), len(r.top.Streams), peers)
	r.sessions[id] = h
	switch node.Role {
	case topology.Source:
		h.Run(newSource(h, &r.top.Spec, r.logs[node.Index], int32(node.Index), r.top.Schema))
	case topology.Replica:
		a := newReplicaActor(r, h, id)
		r.replicas[id] = a
		h.Run(a)
	default:
		h.Run(newClient(r, h))
	}
	return h
}

// restart ends the life of a node and begins the next, after the present event.
func (r *Run) restart(id world.NodeID) { r.w.At(r.w.Now(), actRestart+uint32(id)) }

// Act does what was scheduled. It is called by the world.
func (r *Run) Act(number uint32) {
	switch number {
	case actLook:
		r.w.At(r.w.Now()+lookEvery, actLook)
		r.health.look()
		r.rules.look()
	case actEnd:
		r.w.Stop()
	default:
		if number >= actRestart {
			r.again(world.NodeID(number - actRestart))
			return
		}
		r.inject.act(number - actFaults)
	}
}

// again restarts a node, unless it is down by now.
func (r *Run) again(id world.NodeID) {
	if !r.w.Up(id) {
		return
	}
	r.trace.line(r.w.Now(), "restart", r.name(id))
	r.w.Crash(id, false)
	r.replicas[id] = nil
	r.w.Start(id)
}

// finish makes the last checks.
func (r *Run) finish(end int64) {
	if r.result.Breach == nil || r.goOn {
		r.rules.last()
	}
	r.result.Simulated, r.result.Steps = min(r.w.Now(), end), r.w.Steps
	for id, a := range r.replicas {
		if a != nil {
			r.result.Worked += r.w.Spent(world.NodeID(id))
		}
	}
	r.trace.end(&r.result)
}

// breach records the first promise that does not hold, and ends the run, unless it is to go on: then it records the first
// breach of each promise.
func (r *Run) breach(promise, format string, args ...any) {
	if first := r.result.Breach; first != nil {
		if !r.goOn || first.Promise == promise || slices.ContainsFunc(r.result.Others, func(b Breach) bool { return b.Promise == promise }) {
			return
		}
	}
	b := Breach{At: r.w.Now(), Promise: promise, Text: fmt.Sprintf(format, args...)}
	if r.result.Breach == nil {
		r.result.Breach = &b
	} else {
		r.result.Others = append(r.result.Others, b)
	}
	if !r.goOn {
		r.w.Stop()
	}
	r.trace.line(r.w.Now(), "breach", "", "promise", promise, "text", b.Text)
}

// broken records something that must never happen, whatever fails.
func (r *Run) broken(text string) { r.breach("no error of our own", "%s", text) }

func (r *Run) name(id world.NodeID) string { return r.names[id] }

// changed takes in that a path of a replica changes its state.
func (r *Run) changed(a *replicaActor, c replica.Change) {
	r.result.Coverage.Transitions[c.From][c.To]++
	if c.From == dcaa.UpstreamFailure && c.To == dcaa.Stabilization && r.settings.Redo == dcaa.RedoUndo {
		r.result.Coverage.UndoRedos++
	}
	r.observer.Changed(r.w.Now(), r.name(a.id), c)
	r.changes.changed(a, c)
	if r.trace != nil {
		r.trace.line(r.w.Now(), "state", r.name(a.id), "from", c.From.String(), "to", c.To.String(), "missing", missingText(c.Missing), "run_rows", fmt.Sprint(c.Tentative))
	}
	r.rules.changed(a, c)
}

// PromiseSame: no consumer finds two replicas of a producer to differ.
const PromiseSame = "the checksums of replicas are the same"

// diverged takes in that a consumer has found two producers of a stream to differ.
func (r *Run) diverged(id world.NodeID, stream int32, d dcaa.Divergence) {
	r.breach(PromiseSame, "DIVERGED: %s finds that the rows of %s before %v have the checksum %x at %s, %x at %s", r.name(id),
		r.top.Streams[stream].Name, d.Boundary, d.Sum, d.Producer, d.OtherSum, d.Other)
}

func missingText(list []tuple.Missing) string {
	text := ""
	for _, m := range list {
		text += fmt.Sprintf("%s since %v; ", m.Stream, m.Since)
	}
	return text
}

// emitted takes in what a replica gives.
func (r *Run) emitted(a *replicaActor, output int, f *tuple.Frame) {
	if f.Kind == tuple.Insertion {
		r.same.emitted(a, output, f)
	}
	if r.trace.frames() {
		r.trace.line(r.w.Now(), "emit", r.name(a.id), "frame", f.String())
	}
}

// subscriber returns the name under which a node's acknowledgements count.
func (r *Run) subscriber(id world.NodeID) string {
	n := &r.top.Nodes[id]
	reads, part := topology.QueryName, n.Name
	if n.Role == topology.Replica {
		f := r.top.Fragments[n.Index]
		reads, part = f.Query, f.Name
	}
	return topology.Org + "/" + n.Name + "/" + reads + "/" + part
}
