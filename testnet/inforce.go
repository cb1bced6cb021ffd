package testnet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// FaultView is a fault in force.
type FaultView struct {
	Fault string    `json:"fault"`
	Since time.Time `json:"since"`
	// Until is when it ends by itself; null if it does not.
	Until *time.Time `json:"until"`
	// Undo is the fault that ends it sooner.
	Undo string `json:"undo"`
}

// Did says what a fault did.
type Did struct {
	What string `json:"what"`
	// Undo is the fault that undoes it, "" if nothing has to be undone.
	Undo string `json:"undo"`
}

// inForce is a fault in force.
type inForce struct {
	Fault
	nodes [][]int // of each target
	since time.Time
	end   *time.Timer // nil if it does not end by itself
}

// covers reports whether any of some nodes is among its targets.
func (x *inForce) covers(nodes []int) bool {
	return slices.ContainsFunc(x.nodes, func(t []int) bool {
		return slices.ContainsFunc(t, func(n int) bool { return slices.Contains(nodes, n) })
	})
}

// undo is the fault that ends this one.
func (x *inForce) undo() string {
	switch x.Kind {
	case FaultStop:
		return FaultCont + " " + x.Targets[0]
	case FaultPause:
		return FaultResume + " " + x.Targets[0]
	}
	return FaultHeal + " " + x.Targets[0]
}

func (x *inForce) view() FaultView {
	v := FaultView{Fault: x.String(), Since: x.since, Undo: x.undo()}
	if x.For > 0 {
		until := x.since.Add(x.For)
		v.Until = &until
	}
	return v
}

// Apply does a fault. It returns when the fault is in force, not when it has ended; a restart when the node is ready and has
// met the others that it can reach.
func (n *Net) Apply(ctx context.Context, f Fault) (Did, error) {
	n.orders.Lock()
	defer n.orders.Unlock()
	if n.ending {
		return Did{}, errorf(ErrNone, "the testnet is ending")
	}
	nodes := make([][]int, len(f.Targets))
	for i, t := range f.Targets {
		found, err := n.resolve(t)
		if err != nil {
			return Did{}, err
		}
		nodes[i] = found
	}
	switch f.Kind {
	case FaultKill, FaultEnd, FaultLose, FaultDamage, FaultAmbush, FaultRestart:
		return n.applyProcess(ctx, f, nodes)
	}
	n.faults.Lock()
	defer n.faults.Unlock()
	switch f.Kind {
	case FaultHeal:
		return n.heal(nodes)
	case FaultCont, FaultResume:
		return n.undoKind(f, nodes[0])
	}
	return n.begin(f, nodes)
}

// Faults returns the faults in force, the oldest first.
func (n *Net) Faults() []FaultView {
	out := []FaultView{}
	n.shown.Lock()
	defer n.shown.Unlock()
	for _, x := range n.active {
		out = append(out, x.view())
	}
	return out
}

// setActive changes the faults in force, which others may be looking at. Callers hold n.faults.
func (n *Net) setActive(list []*inForce) {
	n.shown.Lock()
	defer n.shown.Unlock()
	n.active = list
}

// resolve returns the nodes that a name stands for: a node's id, ORG/NODE, or an organisation with all its nodes.
func (n *Net) resolve(name string) ([]int, error) {
	var org []int
	for i, d := range n.daemons {
		if d.id == name || d.org+"/"+d.name == name {
			return []int{i}, nil
		}
		if d.org == name {
			org = append(org, i)
		}
	}
	if org == nil {
		return nil, errorf(ErrNone, "there is no node %s; the nodes are %s", name, strings.Join(n.Nodes(), ", "))
	}
	return org, nil
}

// applyProcess ends or starts processes.
func (n *Net) applyProcess(ctx context.Context, f Fault, targets [][]int) (Did, error) {
	did := map[string]string{FaultKill: "was killed", FaultEnd: "has ended", FaultLose: "was killed, and has lost what it had stored", FaultDamage: "was killed, and what it stored last is damaged",
		FaultAmbush: "was killed in the middle of a " + f.Moment, FaultRestart: "runs again"}
	nodes := targets[len(targets)-1] // in an ambush the last one is killed
	if len(targets[0]) > 1 && len(targets) > 1 {
		return Did{}, errorf(ErrSpec, "%s stands for %s; name the one that takes over a state", f.Targets[0], plural(len(targets[0]), "node"))
	}
	for _, i := range nodes {
		d := n.daemons[i]
		var err error
		switch f.Kind {
		case FaultKill:
			err = d.kill()
		case FaultEnd:
			err = d.stop()
		case FaultLose:
			err = d.lose()
		case FaultDamage:
			err = d.damage()
		case FaultAmbush:
			err = n.watched(targets, i).ambush(ctx, f.Moment, d)
		default:
			err = n.restart(ctx, d)
		}
		if err != nil {
			return Did{}, err
		}
		// A process that has ended does not stand still any more.
		if err := n.ended(func(x *inForce) bool { return x.Kind == FaultStop && x.covers([]int{i}) }); err != nil {
			return Did{}, err
		}
	}
	out := Did{What: fmt.Sprintf("%s %s.", n.named(nodes), did[f.Kind])}
	if f.Kind != FaultRestart {
		out.Undo = FaultRestart + " " + f.Targets[len(f.Targets)-1]
	}
	return out, nil
}

// watched is the node whose moment an ambush waits for: the victim itself, or who takes over its state.
func (n *Net) watched(targets [][]int, victim int) *daemon {
	if len(targets) == 1 {
		return n.daemons[victim]
	}
	return n.daemons[targets[0][0]]
}

// named names nodes for people.
func (n *Net) named(nodes []int) string {
	var ids []string
	for _, i := range nodes {
		ids = append(ids, n.daemons[i].id)
	}
	if len(ids) == 1 {
		return "Node " + ids[0]
	}
	return "Each of " + strings.Join(ids, ", ")
}

// begin puts a fault in force.
func (n *Net) begin(f Fault, nodes [][]int) (Did, error) {
	if err := n.possible(f, nodes); err != nil {
		return Did{}, err
	}
	x := &inForce{Fault: f, nodes: nodes, since: time.Now()}
	if f.Kind == FaultStop {
		if err := n.signal(nodes[0], false); err != nil {
			return Did{}, err
		}
	}
	before := n.active
	n.setActive(append(slices.Clone(before), x))
	if err := n.renew(); err != nil {
		n.setActive(before)
		return Did{}, err
	}
	if f.For > 0 {
		x.end = time.AfterFunc(f.For, func() { n.expire(x) })
	}
	return Did{What: "In force: " + f.String() + ".", Undo: x.undo()}, nil
}

// possible refuses what this network cannot do.
func (n *Net) possible(f Fault, nodes [][]int) error {
	if f.Kind != FaultPause {
		return nil
	}
	if !slices.ContainsFunc(nodes[0], func(i int) bool { return n.feeds[i] != nil }) {
		return errorf(ErrSpec, "%s has no live source; `live` in the testnet's file makes one", f.Targets[0])
	}
	return nil
}

// expire ends a fault whose time is over. What it could not undo shows in the state of the node.
func (n *Net) expire(x *inForce) {
	n.faults.Lock()
	defer n.faults.Unlock()
	if n.ending || !slices.Contains(n.active, x) {
		return
	}
	if err := n.drop(func(y *inForce) bool { return y == x }); err != nil {
		fmt.Fprintf(os.Stderr, "testnet: end of %s: %v\n", x.Fault, err)
	}
}

// ended ends the faults that are chosen, for who does not hold n.faults.
func (n *Net) ended(chosen func(*inForce) bool) error {
	n.faults.Lock()
	defer n.faults.Unlock()
	return n.drop(chosen)
}

// drop ends the faults that are chosen. Callers hold n.faults.
func (n *Net) drop(chosen func(*inForce) bool) error {
	var errs []error
	kept := n.active[:0:0]
	for _, x := range n.active {
		if !chosen(x) {
			kept = append(kept, x)
			continue
		}
		if x.end != nil {
			x.end.Stop()
		}
		if x.Kind == FaultStop {
			errs = append(errs, n.signal(x.nodes[0], true))
		}
	}
	n.setActive(kept)
	return errors.Join(append(errs, n.renew())...)
}

func (n *Net) heal(nodes [][]int) (Did, error) {
	count := len(n.active)
	err := n.drop(func(x *inForce) bool { return len(nodes) == 0 || x.covers(nodes[0]) })
	return Did{What: plural(count-len(n.active), "fault") + " ended."}, err
}

// undoKind ends the faults that cont and resume are about.
func (n *Net) undoKind(f Fault, nodes []int) (Did, error) {
	kind := map[string]string{FaultCont: FaultStop, FaultResume: FaultPause}[f.Kind]
	count := len(n.active)
	err := n.drop(func(x *inForce) bool { return x.Kind == kind && x.covers(nodes) })
	if err == nil && len(n.active) == count {
		err = errorf(ErrSpec, "no %s of %s is in force", kind, f.Targets[0])
	}
	return Did{What: n.named(nodes) + " goes on."}, err
}

// signal lets processes stand still, or go on. One that does not run is passed over when it is to go on.
func (n *Net) signal(nodes []int, goOn bool) error {
	var errs []error
	for _, i := range nodes {
		d := n.daemons[i]
		if goOn && !d.running() {
			continue
		}
		errs = append(errs, d.still(!goOn))
	}
	return errors.Join(errs...)
}

// renew makes the network, the sources and the nodes as the faults in force say.
func (n *Net) renew() error {
	n.fabric.set(waysOf(n.active, len(n.daemons)))
	for i, f := range n.feeds {
		if f != nil {
			f.pause(paused(n.active, i))
		}
	}
	for i, d := range n.daemons {
		if err := d.haunt(hauntOf(n.active, i)); err != nil {
			return err
		}
	}
	return nil
}

// restart starts a node again, after ending it if it runs, and returns when it is ready and has met the others.
func (n *Net) restart(ctx context.Context, d *daemon) error {
	if d.running() {
		if err := d.stop(); err != nil {
			return err
		}
	}
	if err := d.start(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	return n.waitPeers(ctx, d)
}
