package fault

import "math"

// Kind is what goes wrong.
type Kind uint8

// The kinds. Those that end are taken back when their time is over.
const (
	// Crash kills the process of a node; its kernel ends the connections. It starts again at the end.
	Crash Kind = iota
	// Off takes the whole machine away: nobody hears of it.
	Off
	// Wipe is a crash that loses the disk.
	Wipe
	// Pause stops a process as SIGSTOP does.
	Pause
	// Slow makes everything on a node take Amount times as long.
	Slow
	// Jump moves a node's clock ahead by Amount microseconds: the monotonic one, but at a source, where stream time hangs
	// on it, the wall clock.
	Jump
	// Full refuses what a node wants to make durable.
	Full
	// Cut lets nothing pass between two nodes; OneWay nothing from the first to the second.
	Cut
	OneWay
	// Isolate cuts a node from all others.
	Isolate
	// Reset breaks the connection of two nodes once.
	Reset
	// Loss loses transmissions between two nodes with a chance of Amount per cent.
	Loss
	// Delay adds Amount microseconds to the way between two nodes.
	Delay
	// Narrow leaves Amount bytes a second between two nodes.
	Narrow
	// Repeat and Overtake let control messages between two nodes come twice, or late, with a chance of Amount per cent.
	Repeat
	Overtake
	// Disconnect takes the connector of a source away from what it reads.
	Disconnect
	// Behind lets a source read no further, while what there is to read grows.
	Behind
	// Quiet lets a source have nothing to read.
	Quiet
	// Silent keeps a subscriber from acknowledging anything.
	Silent

	kinds
)

// Kinds is how many kinds there are.
const Kinds = int(kinds)

// unit says how the amount of a kind is written.
type unit uint8

const (
	none unit = iota
	factor
	percent
	duration
	bytesPerSecond
)

// shape is how a kind of fault is written.
type shape struct {
	name   string
	nodes  int
	amount unit
	lasts  bool
}

func (k Kind) shape() shape {
	return [kinds]shape{
		Crash: {"crash", 1, none, true}, Off: {"off", 1, none, true}, Wipe: {"wipe", 1, none, true},
		Pause: {"pause", 1, none, true}, Slow: {"slow", 1, factor, true}, Jump: {"jump", 1, duration, false},
		Full: {"full", 1, none, true}, Cut: {"cut", 2, none, true}, OneWay: {"oneway", 2, none, true},
		Isolate: {"isolate", 1, none, true}, Reset: {"reset", 2, none, false}, Loss: {"loss", 2, percent, true},
		Delay: {"delay", 2, duration, true}, Narrow: {"narrow", 2, bytesPerSecond, true}, Repeat: {"repeat", 2, percent, true},
		Overtake: {"overtake", 2, percent, true}, Disconnect: {"disconnect", 1, none, true}, Behind: {"behind", 1, none, true},
		Quiet: {"quiet", 1, none, true}, Silent: {"silent", 1, none, true},
	}[k]
}

// String names the kind as in a plan.
func (k Kind) String() string { return k.shape().name }

// Forever is the length of a fault that nobody mends.
const Forever int64 = math.MaxInt64

// Fault is one thing that goes wrong. Times are microseconds; At counts from the beginning of the run.
type Fault struct {
	At   int64
	Kind Kind
	// A and B are nodes by name; B is "" where the kind has one.
	A, B string
	// Amount is what the kind says; 0 where it has none.
	Amount int64
	// For is how long it lasts; 0 for a kind that does not.
	For int64
}

// End is when the fault is over; Forever if never.
func (f *Fault) End() int64 {
	if f.For == Forever {
		return Forever
	}
	return f.At + f.For
}

// Plan is what goes wrong in one run, in order of time.
type Plan []Fault

// Healed is when the last fault that ends is over.
func (p Plan) Healed() int64 {
	at := int64(0)
	for i := range p {
		if p[i].For == Forever {
			at = max(at, p[i].At)
			continue
		}
		at = max(at, p[i].End())
	}
	return at
}
