package replica

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"fednode/dcaa"
	"fednode/query"
	"fednode/query/tuple"
)

// world is a fragment with everything around it in virtual time: producers of its inputs, one or more nodes that run it,
// and a client of each output. What happens is decided by the test; the promises are checked all the while.
type world struct {
	t         failer
	plan      *query.FragmentPlan
	settings  dcaa.Settings
	slice     int
	slow      bool // one slice a step of 10 ms
	now       dcaa.Instant
	streams   []*stream
	producers [][]*producer // by input
	names     []string
	nodes     []*node
	clients   []*client
	cuts      map[string]bool
	mail      []letter
	runs      map[runOutput][]tentativeRow
	ends      map[runOutput]tuple.Time
	reference *world // the same without failures; nil in that one
	events    []string
	problems  []string
	deferred  []func()
	watch     *watch // nil where it is not checked that results come in time
}

// failer is what a world needs of a test.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

type letter struct {
	from, to string
	m        dcaa.PermissionMessage
}

type runOutput struct {
	run    tuple.Run
	output int
}

// scene is what a world is made of.
type scene struct {
	plan      *query.FragmentPlan
	settings  dcaa.Settings
	replicas  int
	producers int // of each input
	slice     int
	slow      bool
}

const epoch = dcaa.Instant(1_000_000 * ms)

func newWorld(t failer, s scene) *world {
	w := &world{t: t, plan: s.plan, settings: s.settings, slice: s.slice, slow: s.slow, now: epoch, cuts: map[string]bool{},
		runs: map[runOutput][]tentativeRow{}, ends: map[runOutput]tuple.Time{}}
	for n, in := range s.plan.Inputs {
		st := &stream{schema: in.Schema, offset: tuple.Time(n)}
		w.streams = append(w.streams, st)
		var list []*producer
		for k := range s.producers {
			list = append(list, newProducer(fmt.Sprintf("%c%d", 'a'+n, k+1), st))
		}
		w.producers = append(w.producers, list)
	}
	for n := range s.replicas {
		w.names = append(w.names, fmt.Sprintf("r%d", n+1))
	}
	for n, name := range w.names {
		x := &node{w: w, n: n, name: name}
		for i := range s.plan.Inputs {
			x.inputs = append(x.inputs, &inputEnd{node: x, n: i})
		}
		w.nodes = append(w.nodes, x)
	}
	for _, x := range w.nodes {
		x.start()
	}
	for o := range s.plan.Outputs {
		w.clients = append(w.clients, newClient(w, o))
	}
	for _, x := range w.nodes {
		w.meet(x)
	}
	return w
}

func (w *world) said(format string, args ...any) {
	w.events = append(w.events, fmt.Sprintf("%d ", (w.now-epoch)/ms)+fmt.Sprintf(format, args...))
}

// wrong notes a broken promise.
func (w *world) wrong(format string, args ...any) {
	if len(w.problems) < 20 {
		w.problems = append(w.problems, fmt.Sprintf("%d ms: ", (w.now-epoch)/ms)+fmt.Sprintf(format, args...))
	}
}

func (w *world) check() {
	w.t.Helper()
	if len(w.problems) > 0 {
		w.t.Fatalf("%s\nafter:\n%s", strings.Join(w.problems, "\n"), strings.Join(w.events, "\n"))
	}
}

func (w *world) later(do func()) { w.deferred = append(w.deferred, do) }

func (w *world) stime() tuple.Time { return tuple.Time(w.now - epoch) }

// emitted checks what a node gives.
func (w *world) emitted(x *node, output int, f *tuple.Frame) {
	key := runOutput{f.Run, output}
	switch f.Kind {
	case tuple.Tentative:
		got := tentativeRows(f.Batch)
		for _, r := range got {
			if end, ok := w.ends[key]; ok && r.at < end {
				w.wrong("%s gave a tentative row at %d ms below its tentative boundary %d ms", x.name, r.at/ms, end/ms)
			}
		}
		if len(w.runs[key]) == 0 {
			w.said("%s: the first tentative rows of run %d of output %d", x.name, f.Run.N, output)
		}
		w.runs[key] = append(w.runs[key], got...)
	case tuple.TentativeBoundary:
		w.ends[key] = f.Time
	case tuple.Undo, tuple.RecDone:
		w.said("%s: %v of run %d of output %d", x.name, f.Kind, f.Run.N, output)
	case tuple.Gap:
		w.said("%s: %v", x.name, f)
	}
}

func link(a, b string) string {
	if a > b {
		a, b = b, a
	}
	return a + "-" + b
}

func (w *world) connected(a, b string) bool { return !w.cuts[link(a, b)] }

// meet tells a node and those around it who can be reached.
func (w *world) meet(x *node) {
	for n := range x.inputs {
		for k, p := range w.producers[n] {
			x.r.Reachable(w.now, n, k, w.connected(x.name, p.name))
		}
	}
	for _, y := range w.nodes {
		w.meetPeer(x, y)
		w.meetPeer(y, x)
	}
	for _, c := range w.clients {
		c.intake.Reachable(w.now, x.n, w.connected("client", x.name))
	}
}

func (w *world) meetPeer(x, y *node) {
	if x == y || x.r == nil {
		return
	}
	k := y.n
	if y.n > x.n {
		k--
	}
	x.r.PeerReachable(w.now, k, y.r != nil && w.connected(x.name, y.name))
}

// connect cuts or heals the way between two of nodes, producers and "client".
func (w *world) connect(a, b string, up bool) {
	if w.cuts[link(a, b)] == !up {
		return
	}
	w.cuts[link(a, b)] = !up
	for _, x := range w.nodes {
		for _, name := range []string{a, b} {
			other := b
			if name == b {
				other = a
			}
			if name == x.name {
				w.notice(x, other, up)
			}
		}
	}
}

// notice tells a node, and who is at the other end, about a way.
func (w *world) notice(x *node, other string, up bool) {
	for n := range x.inputs {
		for k, p := range w.producers[n] {
			if p.name != other || x.r == nil {
				continue
			}
			x.r.Reachable(w.now, n, k, up)
			if !up {
				p.cut(x.inputs[n])
			}
		}
	}
	for _, y := range w.nodes {
		if y.name == other {
			w.meetPeer(x, y)
		}
	}
	if other != "client" {
		return
	}
	for _, c := range w.clients {
		c.intake.Reachable(w.now, x.n, up && x.r != nil)
		if !up {
			x.outputs[c.output].cut(c)
		}
	}
}

// crash and restart end and begin the life of a node.
func (w *world) crash(x *node) {
	if x.r == nil {
		return
	}
	x.crash()
	for _, y := range w.nodes {
		w.meetPeer(y, x)
	}
	for _, c := range w.clients {
		c.intake.Reachable(w.now, x.n, false)
		x.outputs[c.output].cut(c)
	}
}

func (w *world) restart(x *node) {
	if x.r == nil {
		x.start()
		w.meet(x)
	}
}

// run lets time pass in steps of 10 ms.
func (w *world) run(d int64) {
	for end := w.now + dcaa.Instant(d); w.now < end; w.now += 10 * ms {
		w.step()
	}
}

func (w *world) step() {
	for _, s := range w.streams {
		s.produce(w.stime())
	}
	beat := int64(w.now)%(100*ms) == 0
	for _, list := range w.producers {
		for _, p := range list {
			p.step()
		}
	}
	mail := w.mail
	w.mail = nil
	for _, l := range mail {
		for _, x := range w.nodes {
			if x.name == l.to && x.r != nil && w.connected(l.from, l.to) {
				x.r.PeerMessage(w.now, l.from, l.m)
			}
		}
	}
	if beat {
		w.heartbeats()
	}
	for _, list := range w.producers {
		for _, p := range list {
			p.deliver()
		}
	}
	w.settle()
	for _, x := range w.nodes {
		w.advance(x)
	}
	for _, x := range w.nodes {
		if x.r == nil {
			continue
		}
		for _, s := range x.outputs {
			s.deliver()
		}
	}
	w.settle()
	for _, c := range w.clients {
		c.intake.Tick(w.now)
		if w.now >= c.intake.AbandonAt() {
			c.intake.Skip(w.now, "no replica holds these rows any more")
		}
	}
	if w.watch != nil {
		w.watch.look()
	}
}

func (w *world) settle() {
	for len(w.deferred) > 0 {
		todo := w.deferred
		w.deferred = nil
		for _, do := range todo {
			do()
		}
	}
}

func (w *world) advance(x *node) {
	if x.r == nil || x.paused {
		return
	}
	for busy := true; busy; {
		var err error
		before := x.r.Renewals().Done
		if busy, err = x.r.Advance(w.now); err != nil {
			w.t.Fatal(err)
		}
		if x.r.Renewals().Done > before {
			w.said("%s: a fork begins anew at %s", x.name, millis(x.r.Released()))
		}
		if w.slow {
			return
		}
	}
}

// heartbeats go to all that can hear them.
func (w *world) heartbeats() {
	for _, x := range w.nodes {
		if x.r == nil {
			continue
		}
		for n := range x.inputs {
			for k, p := range w.producers[n] {
				if w.connected(x.name, p.name) {
					x.r.Heard(w.now, n, k, p.status())
				}
			}
		}
		for _, y := range w.nodes {
			if y == x || y.r == nil || !w.connected(x.name, y.name) {
				continue
			}
			k := x.n
			if x.n > y.n {
				k--
			}
			for o := range x.outputs {
				y.r.PeerHeard(w.now, k, o, x.r.Status(o))
			}
		}
		for _, c := range w.clients {
			if w.connected("client", x.name) {
				c.intake.Heard(w.now, x.n, x.r.Status(c.output))
			}
		}
	}
}

// find returns the producer or node of a name.
func (w *world) find(name string) (*producer, *node) {
	for _, list := range w.producers {
		for _, p := range list {
			if p.name == name {
				return p, nil
			}
		}
	}
	for _, x := range w.nodes {
		if x.name == name {
			return nil, x
		}
	}
	return nil, nil
}

// heal ends every failure, and the streams; what has begun ends.
func (w *world) heal() {
	for _, name := range slices.Sorted(maps.Keys(w.cuts)) {
		a, b, _ := strings.Cut(name, "-")
		w.connect(a, b, true)
	}
	for _, x := range w.nodes {
		w.restart(x)
	}
	for _, list := range w.producers {
		for _, p := range list {
			p.set(gives)
		}
	}
}

// conclude ends the streams and lets what is left happen.
func (w *world) conclude() {
	for _, s := range w.streams {
		s.end()
	}
	w.run(4000 * ms)
	if w.reference == nil {
		return
	}
	for k := 0; k < 10 && !w.over(); k++ {
		w.run(3000 * ms)
	}
	for o, c := range w.clients {
		if want := w.reference.clients[o].rows; !slices.Equal(c.rows, want) {
			w.wrong("output %d: %d stable rows at the end, want %d, or others", o, len(c.rows), len(want))
		}
		if _, _, _, held := c.intake.Suffix(); held || len(c.q) > 0 {
			w.wrong("output %d: Q is held at the end, %d rows", o, len(c.q))
		}
	}
	for _, x := range w.nodes {
		for _, p := range x.r.paths {
			if p.fork != nil {
				w.wrong("%s has a fork at the end", x.name)
			}
		}
	}
}

// over reports whether all has been corrected.
func (w *world) over() bool {
	for o, c := range w.clients {
		if _, _, _, held := c.intake.Suffix(); held || len(c.rows) != len(w.reference.clients[o].rows) {
			return false
		}
	}
	for _, x := range w.nodes {
		for _, p := range x.r.paths {
			if p.fork != nil {
				return false
			}
		}
	}
	return true
}

// withReference gives a world the same without failures that has run to d beyond now.
func (w *world) withReference(s scene, d int64) {
	s.replicas, s.producers = 1, 1
	w.reference = newWorld(w.t, s)
	w.reference.run(d)
	w.reference.conclude()
}
