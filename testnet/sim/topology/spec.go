package topology

import (
	"fmt"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// Shape says how the fragments hang together.
type Shape string

// The shapes.
const (
	// Chain: all sources enter the first fragment, and each fragment reads the one before it.
	Chain Shape = "chain"
	// Diamond: the first fragment feeds two, which meet in a fourth; further ones follow as a chain.
	Diamond Shape = "diamond"
	// Join: two fragments read half of the sources each, and a third joins them; further ones follow as a chain.
	Join Shape = "join"
	// Lanes: the first fragment has two outputs that have nothing to do with each other, over half of the sources each, and
	// the second unites them; further ones follow as a chain.
	Lanes Shape = "lanes"
	// Queries: a chain over the first half of the sources is a query of its own, and the first fragment of another query, a
	// chain too, reads its output and the rest of the sources.
	Queries Shape = "queries"
	// Uneven: the same as one query, into which the rest of the sources comes half way.
	Uneven Shape = "uneven"
)

// halved reports whether only half of the sources enter the first fragment.
func (s Shape) halved() bool { return s == Lanes || s == Queries || s == Uneven }

// Work says what the fragments do.
type Work string

// The kinds of work.
const (
	// Pass: filters and maps, so that every row of a source can be followed to the client.
	Pass Work = "pass"
	// Windows: an aggregate over windows stands among them.
	Windows Work = "windows"
)

// Spec of a simulated federation. Durations are microseconds.
type Spec struct {
	Shape     Shape
	Fragments int // 1 to 8; at least 4 for a diamond, 3 for a join, 2 for lanes, queries and uneven
	Replicas  int // of each fragment, 1 to 3
	Sources   int // 1 to 8; at least 2 for a join, lanes, queries and uneven
	Work      Work

	// Window is the length of the aggregate's windows.
	Window int64

	// Rate is in rows a second of each source; Keys is how many different keys they have.
	Rate int64
	Keys int64
	// Slack is what the sources declare (max_out_of_order), Disorder how far rows really lie behind each other; a row
	// beyond the slack is late. Lag is how long rows take from their stime to the source proxy.
	Slack    int64
	Disorder int64
	Lag      int64

	Bucket           int64
	BoundaryInterval int64
	Heartbeat        int64
	Miss             int
	MaxDelay         int64
	Failure          string // process, delay or suspend
	Stabilization    string
	Consistency      string // eventual or stable-only
	Redo             string // fork or undo
	Losses           string // none or named

	// Latency and Jitter of each link; Bandwidth in bytes a second, 0 for no limit; DiskLatency of a commit.
	Latency     int64
	Jitter      int64
	Bandwidth   int64
	DiskLatency int64
	// RowCost is what a node spends on each row that it takes, and again on each that it gives.
	RowCost int64
	// PointInterval is how often a replica stores a recovery point.
	PointInterval int64
	// SliceRows is about how many rows a replica works on before it looks at what has arrived; 0 is as many as take a moment.
	SliceRows int64
	// ForgetAfter is after how long a reader that is away is no longer waited for.
	ForgetAfter int64
	// AbandonAfter is how long rows are waited for that nobody within reach holds, while somebody who is away may.
	AbandonAfter int64

	// Calm is how long the federation runs before the first fault, Trouble for how long faults begin and last, Settle how
	// long it then has to become stable again.
	Calm    int64
	Trouble int64
	Settle  int64
}

// Bounds of a federation.
const (
	MaxFragments = 8
	MaxReplicas  = 3
	MaxSources   = 8
)

// Default returns a chain of four fragments with two replicas each.
func Default() Spec {
	const ms, s = tuple.Millisecond, tuple.Second
	return Spec{
		Shape: Chain, Fragments: 4, Replicas: 2, Sources: 3, Work: Pass, Window: 500 * ms, Rate: 20, Keys: 8,
		Bucket: 100 * ms, BoundaryInterval: 100 * ms, Heartbeat: 100 * ms, Miss: 3, MaxDelay: 3 * s,
		Failure: "delay", Stabilization: "process", Consistency: Eventual, Redo: RedoFork, Losses: NoLosses,
		Latency: 2 * ms, Jitter: 1 * ms, DiskLatency: 2 * ms, RowCost: 5, PointInterval: 5 * s, ForgetAfter: 10 * tuple.Minute, AbandonAfter: 2 * tuple.Minute,
		Calm: 5 * s, Trouble: 60 * s, Settle: 60 * s,
	}
}

// Check returns what is wrong with the spec, nil if nothing is.
func (s *Spec) Check() error {
	switch {
	case s.Fragments < 1 || s.Fragments > MaxFragments:
		return fmt.Errorf("fragments = %d: expected 1 to %d", s.Fragments, MaxFragments)
	case s.Replicas < 1 || s.Replicas > MaxReplicas:
		return fmt.Errorf("replicas = %d: expected 1 to %d", s.Replicas, MaxReplicas)
	case s.Sources < 1 || s.Sources > MaxSources:
		return fmt.Errorf("sources = %d: expected 1 to %d", s.Sources, MaxSources)
	case s.Shape == Diamond && s.Fragments < 4:
		return fmt.Errorf("fragments = %d: a diamond has at least 4", s.Fragments)
	case s.Shape == Join && (s.Fragments < 3 || s.Sources < 2):
		return fmt.Errorf("fragments = %d, sources = %d: a join has at least 3 fragments and 2 sources", s.Fragments, s.Sources)
	case s.Shape.halved() && (s.Fragments < 2 || s.Sources < 2):
		return fmt.Errorf("fragments = %d, sources = %d: %s takes at least 2 fragments and 2 sources", s.Fragments, s.Sources, s.Shape)
	case s.Bucket > s.MaxDelay:
		return fmt.Errorf("bucket = %s: longer than max_delay", tuple.AppendDuration(nil, s.Bucket))
	}
	return nil
}

// field is one number of a spec with its place in the file. Durations are written as such.
type field struct {
	key      string
	value    *int64
	lo, hi   int64
	duration bool
}

// numbers lists the numbers of a spec in the order in which they are printed.
func (s *Spec) numbers() []field {
	const hour = tuple.Hour
	return []field{
		{"window", &s.Window, tuple.Millisecond, hour, true},
		{"rate", &s.Rate, 1, 10_000, false},
		{"keys", &s.Keys, 1, 1_000_000, false},
		{"slack", &s.Slack, 0, hour, true},
		{"disorder", &s.Disorder, 0, hour, true},
		{"lag", &s.Lag, 0, hour, true},
		{"bucket", &s.Bucket, tuple.Millisecond, hour, true},
		{"boundary_interval", &s.BoundaryInterval, tuple.Millisecond, hour, true},
		{"heartbeat", &s.Heartbeat, tuple.Millisecond, hour, true},
		{"max_delay", &s.MaxDelay, tuple.Millisecond, hour, true},
		{"latency", &s.Latency, 0, hour, true},
		{"jitter", &s.Jitter, 0, hour, true},
		{"bandwidth", &s.Bandwidth, 0, 1 << 40, false},
		{"disk_latency", &s.DiskLatency, 0, hour, true},
		{"row_cost", &s.RowCost, 0, tuple.Second, true},
		{"point_interval", &s.PointInterval, tuple.Millisecond, hour, true},
		{"slice_rows", &s.SliceRows, 0, 1 << 24, false},
		{"forget_after", &s.ForgetAfter, tuple.Millisecond, 24 * hour, true},
		{"abandon_after", &s.AbandonAfter, tuple.Millisecond, 24 * hour, true},
		{"calm", &s.Calm, 0, 24 * hour, true},
		{"trouble", &s.Trouble, 0, 24 * hour, true},
		{"settle", &s.Settle, 0, 24 * hour, true},
	}
}

// choice is one word of a spec.
type choice struct {
	key   string
	value *string
	names []string
}

func (s *Spec) choices() []choice {
	policies := []string{"process", "delay", "suspend"}
	return []choice{
		{"shape", (*string)(&s.Shape), []string{string(Chain), string(Diamond), string(Join), string(Lanes), string(Queries), string(Uneven)}},
		{"work", (*string)(&s.Work), []string{string(Pass), string(Windows)}},
		{"failure", &s.Failure, policies},
		{"stabilization", &s.Stabilization, policies},
		{"consistency", &s.Consistency, []string{Eventual, StableOnly, BestEffort}},
		{"redo", &s.Redo, []string{RedoFork, RedoUndo}},
		{"losses", &s.Losses, []string{NoLosses, NamedLosses}},
	}
}

// counts lists the small numbers of a spec.
func (s *Spec) counts() []struct {
	key    string
	value  *int
	lo, hi int64
} {
	return []struct {
		key    string
		value  *int
		lo, hi int64
	}{
		{"fragments", &s.Fragments, 1, MaxFragments},
		{"replicas", &s.Replicas, 1, MaxReplicas},
		{"sources", &s.Sources, 1, MaxSources},
		{"miss", &s.Miss, 1, 100},
	}
}

// Read takes the keys of a table over what the spec has; what is wrong is recorded in r.P.
func (s *Spec) Read(r *spec.Reader) {
	for _, c := range s.choices() {
		*c.value = r.OneOf(c.key, *c.value, c.names...)
	}
	for _, c := range s.counts() {
		*c.value = int(r.Int(c.key, int64(*c.value), c.lo, c.hi))
	}
	for _, f := range s.numbers() {
		if f.duration {
			*f.value = r.Duration(f.key, *f.value, f.lo, f.hi)
		} else {
			*f.value = r.Int(f.key, *f.value, f.lo, f.hi)
		}
	}
	if err := s.Check(); err != nil {
		r.P.Add(r.T.Pos, r.T.Path, "", "%v", err)
	}
}

// AppendTOML appends every key that differs from the default.
func (s *Spec) AppendTOML(b []byte) []byte {
	d := Default()
	for i, c := range s.choices() {
		if *c.value != *d.choices()[i].value {
			b = fmt.Appendf(b, "%s = %q\n", c.key, *c.value)
		}
	}
	for i, c := range s.counts() {
		if *c.value != *d.counts()[i].value {
			b = fmt.Appendf(b, "%s = %d\n", c.key, *c.value)
		}
	}
	for i, f := range s.numbers() {
		switch {
		case *f.value == *d.numbers()[i].value:
		case f.duration:
			b = fmt.Appendf(b, "%s = %q\n", f.key, tuple.AppendDuration(nil, *f.value))
		default:
			b = fmt.Appendf(b, "%s = %d\n", f.key, *f.value)
		}
	}
	return b
}

// The consistencies.
const (
	Eventual   = "eventual"
	StableOnly = "stable-only"
	BestEffort = "best-effort"
)

// Whether a case loses rows that nobody holds any more, so that a GAP has to name them.
const (
	NoLosses    = "none"
	NamedLosses = "named"
)

// The ways to redo.
const (
	RedoFork = "fork"
	RedoUndo = "undo"
)
