package fault

import (
	"math/rand/v2"

	"fednode/query/tuple"
)

// Field is what faults can hit.
type Field struct {
	// Sources, and the replicas of each fragment, by name.
	Sources   []string
	Fragments [][]string
	Client    string
	// Links are the pairs of nodes that talk to each other.
	Links [][2]string
	// Keep: no disk and no replica is lost for good. Where one that is away is soon no longer waited for, only the one that
	// has acknowledged most is sure to find what it needs.
	Keep bool
	// Begin is when the first fault can begin; all that are mended have been by End.
	Begin, End int64
}

// Draw makes a plan from chance: one to a dozen faults of all kinds, half of them at one fragment. Some overlap,
// some hit a fragment while it recovers from the one before. What can never be mended is left out: a fragment keeps a
// replica whose disk is whole. Where no time is left for trouble the plan is empty.
func Draw(r *rand.Rand, at Field) Plan {
	if at.End <= at.Begin {
		return nil
	}
	d := &drawer{rand: r, field: at, spent: make([]bool, len(at.Fragments)), victim: r.IntN(len(at.Fragments))}
	n := 2 + r.IntN(5)
	if r.IntN(3) == 0 {
		n += r.IntN(12)
	}
	for range n {
		if r.IntN(8) == 0 {
			d.addAll()
		} else {
			d.add()
		}
	}
	d.plan.Sort()
	return d.plan
}

// drawer draws one plan.
type drawer struct {
	rand  *rand.Rand
	field Field
	plan  Plan
	// spent: a replica of the fragment has been lost for good, or its disk.
	spent []bool
	// victim is the fragment that half of the faults hit.
	victim int
}

const (
	ms     = tuple.Millisecond
	second = tuple.Second
)

// length draws how long a fault lasts: mostly about the availability bound, sometimes much longer.
func (d *drawer) length() int64 {
	switch d.rand.IntN(8) {
	case 0:
		return 10*ms + d.rand.Int64N(300*ms)
	case 1, 2:
		return 300*ms + d.rand.Int64N(2*second)
	case 3, 4, 5, 6:
		return 2*second + d.rand.Int64N(8*second)
	}
	return 10*second + d.rand.Int64N(20*second)
}

// start draws when a fault begins: anywhere, or just after or while another one is mended.
func (d *drawer) start() int64 {
	if n := len(d.plan); n > 0 && d.rand.IntN(2) == 0 {
		f := &d.plan[d.rand.IntN(n)]
		if f.For != Forever {
			return max(d.field.Begin, f.End()-500*ms+d.rand.Int64N(3*second))
		}
	}
	return d.field.Begin + d.rand.Int64N(d.field.End-d.field.Begin)
}

// kind draws a kind: any, or one of those that take an input away.
func (d *drawer) kind() Kind {
	severe := [...]Kind{Disconnect, Behind, Crash, Off, Isolate, Cut, OneWay}
	if d.rand.IntN(3) == 0 {
		return severe[d.rand.IntN(len(severe))]
	}
	return Kind(d.rand.IntN(Kinds))
}

// addAll takes all replicas of a fragment away, one after the other or nearly at once.
func (d *drawer) addAll() {
	kind := [...]Kind{Crash, Off, Isolate, Pause}[d.rand.IntN(4)]
	at, apart := d.start(), d.rand.Int64N(3*second)
	for i, name := range d.field.Fragments[d.victim] {
		f := Fault{Kind: kind, A: name, At: at + int64(i)*apart, For: d.length()}
		if f.End() <= d.field.End {
			d.plan = append(d.plan, f)
		}
	}
}

// add draws one fault, if there is room for it.
func (d *drawer) add() {
	f := Fault{Kind: d.kind(), At: d.start()}
	s := f.Kind.shape()
	if s.lasts {
		f.For = d.length()
	}
	if f.End() > d.field.End {
		return
	}
	fragment := d.victim
	if d.rand.IntN(2) == 0 {
		fragment = d.rand.IntN(len(d.field.Fragments))
	}
	replicas := d.field.Fragments[fragment]
	f.A = replicas[d.rand.IntN(len(replicas))]
	switch f.Kind {
	case Crash, Off:
		d.maybeForever(&f, fragment)
	case Wipe:
		if len(replicas) < 2 || d.spent[fragment] || d.field.Keep {
			return
		}
		d.spent[fragment] = true
	case Disconnect, Behind, Quiet:
		f.A = d.source()
	case Pause, Jump, Full, Slow, Isolate:
		f.A = d.any(f.A)
	case Silent:
		if d.rand.IntN(3) == 0 {
			f.A = d.field.Client
		}
	}
	if s.nodes == 2 {
		l := d.link(f.A)
		f.A, f.B = l[0], l[1]
		if d.rand.IntN(2) == 0 {
			f.A, f.B = f.B, f.A
		}
	}
	f.Amount = d.amount(f.Kind)
	d.plan = append(d.plan, f)
}

// link returns a pair of nodes that talk, half of the time one with a given node.
func (d *drawer) link(with string) [2]string {
	l := d.field.Links[d.rand.IntN(len(d.field.Links))]
	if d.rand.IntN(2) == 0 {
		return l
	}
	from := d.rand.IntN(len(d.field.Links))
	for i := range d.field.Links {
		if at := d.field.Links[(from+i)%len(d.field.Links)]; at[0] == with || at[1] == with {
			return at
		}
	}
	return l
}

// maybeForever lets a replica never come back, while another is left.
func (d *drawer) maybeForever(f *Fault, fragment int) {
	switch {
	case d.rand.IntN(8) == 0 && len(d.field.Fragments[fragment]) > 1 && !d.spent[fragment] && !d.field.Keep:
		d.spent[fragment] = true
		f.For = Forever
	case d.rand.IntN(6) == 0 && f.Kind == Crash:
		f.A = d.any(f.A)
	}
}

// any returns a source or the client now and then, else the replica given.
func (d *drawer) any(replica string) string {
	switch d.rand.IntN(8) {
	case 0, 1:
		return d.source()
	case 2:
		return d.field.Client
	}
	return replica
}

func (d *drawer) source() string { return d.field.Sources[d.rand.IntN(len(d.field.Sources))] }

func (d *drawer) amount(k Kind) int64 {
	switch k {
	case Slow:
		return []int64{2, 10, 40, 200, 1000}[d.rand.IntN(5)]
	case Jump:
		return []int64{50 * ms, 400 * ms, 2 * second, 10 * second}[d.rand.IntN(4)]
	case Loss:
		return []int64{1, 5, 20, 40}[d.rand.IntN(4)]
	case Delay:
		return []int64{20 * ms, 100 * ms, 400 * ms, second}[d.rand.IntN(4)]
	case Narrow:
		return []int64{200_000, 50_000, 10_000}[d.rand.IntN(3)]
	case Repeat, Overtake:
		return []int64{5, 20, 60}[d.rand.IntN(3)]
	}
	return 0
}
