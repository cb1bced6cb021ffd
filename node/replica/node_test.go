package replica

import (
	"fmt"
	"strings"

	"fednode/dcaa"
	"fednode/query"
	"fednode/query/tuple"
)

// node runs one replica of the fragment in a world, and is its shell.
type node struct {
	w      *world
	n      int
	name   string
	lives  uint64
	r      *Replica // nil while it is down
	inputs []*inputEnd
	// outputs serve the results; runs are the tentative rows of every run, by output.
	outputs []*server
	saved   *recoveryPoint
	paused  bool
	taking  bool // a frame
}

// inputEnd is one input of a node, as its producers see it.
type inputEnd struct {
	node *node
	n    int
}

// recoveryPoint is what a node restarts from.
type recoveryPoint struct {
	state     State
	operators []byte
	stable    [][]*tuple.Frame
}

func (e *inputEnd) opened(id uint64) { e.node.r.Opened(e.node.w.now, e.n, id) }
func (e *inputEnd) closed(id uint64) {
	if e.node.r != nil {
		e.node.r.Closed(e.node.w.now, e.n, id)
	}
}

func (e *inputEnd) truncated(id uint64, first tuple.Position) {
	e.node.w.later(func() { e.node.r.Truncated(e.node.w.now, e.n, id, first) })
}

func (e *inputEnd) frame(id uint64, f *tuple.Frame) {
	e.node.taking = true
	defer func() { e.node.taking = false }()
	if err := e.node.r.Frame(e.node.w.now, e.n, id, f); err != nil {
		e.node.w.wrong("%s, input %d: %v", e.node.name, e.n, err)
	}
}

func (x *node) config() Config {
	c := Config{Plan: x.w.plan, Settings: x.w.settings, Name: x.name, Incarnation: x.lives, SliceRows: x.w.slice}
	for n := range x.w.plan.Inputs {
		in := Input{Source: true}
		for _, p := range x.w.producers[n] {
			in.Producers = append(in.Producers, p.name)
		}
		in.Source = len(in.Producers) == 1
		c.Inputs = append(c.Inputs, in)
	}
	for _, u := range x.w.plan.Unions {
		c.Places = append(c.Places, dcaa.Place{Depth: u.Depth, Path: u.Path})
	}
	for _, other := range x.w.names {
		if other != x.name {
			c.Peers = append(c.Peers, other)
		}
	}
	return c
}

// start begins a life: from the recovery point if there is one.
func (x *node) start() {
	x.lives++
	var err error
	x.outputs = nil
	for range x.w.plan.Outputs {
		s := newServer(1)
		x.outputs = append(x.outputs, &s)
	}
	if x.saved == nil {
		x.r, err = New(x.config(), x.w.now, x)
	} else {
		for o, frames := range x.saved.stable {
			for _, f := range frames {
				x.outputs[o].emit(f)
			}
		}
		x.r, _, err = Restore(x.config(), x.w.now, x, x.saved.state, x.saved.operators, query.RestoreOptions{})
	}
	if err != nil {
		x.w.t.Fatal(err)
	}
}

// save makes a recovery point.
func (x *node) save() {
	var e tuple.Encoder
	x.saved = &recoveryPoint{state: x.r.Snapshot(&e), operators: e.B}
	for _, s := range x.outputs {
		x.saved.stable = append(x.saved.stable, append([]*tuple.Frame(nil), s.stable...))
	}
}

// crash ends a life.
func (x *node) crash() {
	x.r = nil
	for n := range x.inputs {
		for _, p := range x.w.producers[n] {
			p.cut(x.inputs[n])
		}
	}
}

// Open asks a producer.
func (x *node) Open(input int, o dcaa.Opening) {
	x.w.producers[input][o.Producer].ask(x.inputs[input], o)
}

// Close ends a connection.
func (x *node) Close(input int, conn uint64) {
	for _, p := range x.w.producers[input] {
		p.drop(conn, x.inputs[input])
	}
}

// Emit serves a frame, after it has been checked.
func (x *node) Emit(output int, f *tuple.Frame) {
	x.w.emitted(x, output, f)
	x.outputs[output].emit(f)
}

// Tell sends a message; it arrives with the next step.
func (x *node) Tell(peer string, m dcaa.PermissionMessage) {
	x.w.said("%s to %s: %v", x.name, peer, m)
	x.w.mail = append(x.w.mail, letter{from: x.name, to: peer, m: m})
}

// Changed notes a change. None comes while a frame is taken: inputs are chosen anew by it.
func (x *node) Changed(c Change) {
	if x.taking {
		x.w.wrong("%s: %v -> %v within a frame", x.name, c.From, c.To)
	}
	text := fmt.Sprintf("%s: %v -> %v", x.name, c.From, c.To)
	var missing []string
	for _, m := range c.Missing {
		missing = append(missing, m.Stream)
	}
	if len(missing) > 0 {
		text += ", lacks " + strings.Join(missing, " ")
	}
	x.w.said("%s", text)
}

// state says how the node fares, for scripts.
func (x *node) state() string {
	if x.r == nil {
		return x.name + ": down"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", x.name)
	for o := range x.outputs {
		s := x.r.Status(o)
		fmt.Fprintf(&b, " %v", s.State)
		if s.Holding > 0 {
			b.WriteString(" holding")
		}
		for _, m := range x.r.Missing(o) {
			fmt.Fprintf(&b, " without %s", m.Stream)
		}
		b.WriteString(",")
	}
	for n := range x.inputs {
		source, _, tentative, _ := x.r.Input(n)
		fmt.Fprintf(&b, " input %d", n)
		if source >= 0 {
			fmt.Fprintf(&b, " from %s", x.w.producers[n][source].name)
		}
		if tentative {
			b.WriteString(" with Q")
		}
		fmt.Fprintf(&b, " %v,", x.r.Condition(x.w.now, n))
	}
	switch {
	case x.r.Redoing():
		b.WriteString(" redoes")
	case x.r.Asking():
		b.WriteString(" asks")
	default:
		b.WriteString(" asks for nothing")
	}
	return b.String()
}
