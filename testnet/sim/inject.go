package sim

import (
	"errors"
	"fmt"

	"fednode/testnet/sim/fault"
	"fednode/testnet/sim/topology"
	"fednode/testnet/sim/world"
)

// ErrCase says that a case makes no sense.
var ErrCase = errors.New("not a case that can be run")

// injector makes the faults of a plan happen.
type injector struct {
	r    *Run
	ends [][2]world.NodeID // nodes of each fault
	// open counts, by kind and node, the faults that hold at the moment, so that overlapping ones end with the last.
	open [fault.Kinds][]int
	// slow are the factors that hold, by node.
	slow [][]int64
}

func newInjector(r *Run) (*injector, error) {
	in := &injector{r: r, slow: make([][]int64, len(r.top.Nodes))}
	for k := range in.open {
		in.open[k] = make([]int, len(r.top.Nodes))
	}
	for i := range r.faults {
		f := &r.faults[i]
		a, b := r.top.Node(f.A), world.NodeID(-1)
		if f.B != "" {
			b = r.top.Node(f.B)
		}
		if a < 0 || f.B != "" && b < 0 {
			return nil, fmt.Errorf("%w: fault %q: there is no such node in this federation", ErrCase, f)
		}
		if sourceOnly(f.Kind) && r.top.Nodes[a].Role != topology.Source {
			return nil, fmt.Errorf("%w: fault %q: %s is not a source", ErrCase, f, f.A)
		}
		if f.Kind == fault.Quiet {
			g := r.logs[r.top.Nodes[a].Index].gen
			g.quiet = append(g.quiet, stretch{from: f.At, to: f.At + f.For})
		}
		in.ends = append(in.ends, [2]world.NodeID{a, b})
	}
	return in, nil
}

func sourceOnly(k fault.Kind) bool {
	return k == fault.Disconnect || k == fault.Behind || k == fault.Quiet
}

// schedule puts the beginning and the end of a fault into the world's queue.
func (in *injector) schedule(i int) {
	f := &in.r.faults[i]
	in.r.w.At(f.At, actFaults+2*uint32(i))
	if f.For > 0 && f.For != fault.Forever {
		in.r.w.At(f.End(), actFaults+2*uint32(i)+1)
	}
}

// act begins or ends the fault of a number.
func (in *injector) act(number uint32) {
	i, end := number/2, number%2 == 1
	f := &in.r.faults[i]
	in.r.trace.line(in.r.w.Now(), "fault", f.A, "text", f.String(), "phase", phase(end))
	if !end {
		in.r.result.Coverage.Faults[f.Kind]++
	}
	in.r.health.touched(in.ends[i])
	in.r.changes.touched()
	in.apply(f, in.ends[i][0], in.ends[i][1], end)
}

func phase(end bool) string {
	if end {
		return "ends"
	}
	return "begins"
}

// first counts a fault of a kind at a node in or out, and reports whether something changes by it.
func (in *injector) first(k fault.Kind, id world.NodeID, end bool) bool {
	n := &in.open[k][id]
	if end {
		*n--
		return *n == 0
	}
	*n++
	return *n == 1
}

func (in *injector) apply(f *fault.Fault, a, b world.NodeID, end bool) {
	w := in.r.w
	switch f.Kind {
	case fault.Crash, fault.Off, fault.Wipe:
		in.down(f.Kind, a, end)
	case fault.Pause:
		if in.first(fault.Pause, a, end) {
			if end {
				w.Resume(a)
			} else {
				w.Pause(a)
			}
		}
	case fault.Slow:
		in.slower(a, f.Amount, end)
	case fault.Jump:
		if n := &in.r.top.Nodes[a]; n.Role == topology.Source {
			in.r.logs[n.Index].wall += f.Amount
		} else {
			w.Jump(a, f.Amount)
		}
	case fault.Full:
		if in.first(fault.Full, a, end) {
			w.SetDiskFull(a, !end)
		}
	case fault.Cut:
		in.cut(a, b, end)
		in.cut(b, a, end)
	case fault.OneWay:
		in.cut(a, b, end)
	case fault.Isolate:
		for _, p := range in.r.top.Nodes[a].Peers {
			in.cut(a, p, end)
			in.cut(p, a, end)
		}
	case fault.Reset:
		w.Reset(a, b)
	case fault.Silent:
		in.r.silent[a] += sign(end)
	case fault.Disconnect:
		in.r.logs[in.r.top.Nodes[a].Index].disconnected += sign(end)
	case fault.Behind:
		in.r.logs[in.r.top.Nodes[a].Index].behind += sign(end)
	case fault.Loss, fault.Delay, fault.Narrow, fault.Repeat, fault.Overtake:
		in.degrade(a, b)
		in.degrade(b, a)
	}
}

func sign(end bool) int {
	if end {
		return -1
	}
	return 1
}

// down takes a node away, or brings it back with the last fault that keeps it down.
func (in *injector) down(k fault.Kind, a world.NodeID, end bool) {
	w := in.r.w
	if !end {
		in.open[k][a]++
		w.Crash(a, k == fault.Off)
		in.r.replicas[a] = nil
		if k == fault.Wipe {
			w.Wipe(a)
		}
		return
	}
	in.open[k][a]--
	if in.open[fault.Crash][a]+in.open[fault.Off][a]+in.open[fault.Wipe][a] > 0 {
		return
	}
	w.Start(a)
	if in.open[fault.Pause][a] > 0 {
		w.Pause(a)
	}
}

func (in *injector) cut(a, b world.NodeID, end bool) {
	if end {
		in.r.w.Heal(a, b)
	} else {
		in.r.w.Cut(a, b)
	}
}

// slower slows a node by the largest factor that holds.
func (in *injector) slower(a world.NodeID, by int64, end bool) {
	list := in.slow[a]
	if !end {
		list = append(list, by)
	} else {
		for i := range list {
			if list[i] == by {
				list = append(list[:i], list[i+1:]...)
				break
			}
		}
	}
	in.slow[a] = list
	most := int64(1)
	for _, x := range list {
		most = max(most, x)
	}
	in.r.w.SetSlow(a, 100*most)
}

// degrade makes a direction as bad as the faults that hold on its pair say together.
func (in *injector) degrade(a, b world.NodeID) {
	s := &in.r.top.Spec
	q := world.Quality{Latency: s.Latency, Jitter: s.Jitter, Bandwidth: s.Bandwidth}
	now := in.r.w.Now()
	const percent = 10_000
	for i := range in.r.faults {
		f, e := &in.r.faults[i], in.ends[i]
		if e != [2]world.NodeID{a, b} && e != [2]world.NodeID{b, a} || now < f.At || now >= f.End() {
			continue
		}
		switch f.Kind {
		case fault.Loss:
			q.Loss = max(q.Loss, f.Amount*percent)
		case fault.Delay:
			q.Latency += f.Amount
		case fault.Narrow:
			if q.Bandwidth == 0 || f.Amount < q.Bandwidth {
				q.Bandwidth = f.Amount
			}
		case fault.Repeat:
			q.Repeat = max(q.Repeat, f.Amount*percent)
		case fault.Overtake:
			q.Overtake = max(q.Overtake, f.Amount*percent)
		}
	}
	in.r.w.SetQuality(a, b, q)
}
