package fragment

import (
	"time"

	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/node/replica"
	"fednode/query"
	"fednode/query/tuple"
	"fednode/storage"
)

// Points stores recovery points of fragments.
type Points interface {
	// LoadPoint returns the newest usable point of a fragment, nil if there is none, and what had to be passed over.
	LoadPoint(fragment string) (*storage.RecoveryPoint, []string, error)
	// SavePoint stores a point durably and lets go of the oldest.
	SavePoint(p *storage.RecoveryPoint) error
	// PackPoint encodes a point for another replica of the fragment, UnpackPoint reads one from there.
	PackPoint(p *storage.RecoveryPoint) ([]byte, error)
	UnpackPoint(fragment string, b []byte) (*storage.RecoveryPoint, error)
}

// Config of a running fragment.
type Config struct {
	// Name identifies the fragment's state on this node: org/query/fragment.
	Name string
	// Subscriber is the name under which its inputs know it: org/node/query/fragment.
	Subscriber string
	Plan       *query.FragmentPlan
	// Epoch of the descriptor that it runs by.
	Epoch uint64
	// Self is this node, "org/node"; Incarnation tells its lives apart. Peers are the nodes of the other replicas.
	Self        string
	Incarnation uint64
	Peers       []string
	// Producers say by stream who gives it, the same list at every replica.
	Producers map[string][]string
	// Settings of availability, and where each SUnion of the plan stands.
	Settings dcaa.Settings
	Places   []dcaa.Place
	Network  Network
	Points   Points
	Clock    connect.Clock
	// Processor is how much processor time the process has used; nil asks the system.
	Processor func() time.Duration
	Log       *zap.Logger
	// Readers are the subscribers that each output waits for before it drops anything, by stream. An empty list says that
	// nobody is known to read the stream; without an entry it is not known.
	Readers map[string][]string
	// Counts says whether a subscriber that a recovery point has counted may still come: one whose query has been stopped
	// meanwhile must not hold an output back. nil counts all.
	Counts func(stream, subscriber string) bool
	// Own is the prefix of our own organisation's subscribers; those of others never hold an output back beyond its limit.
	Own string
	// ClockSkew is how far the clocks of other organisations may differ from ours. What a stream of theirs is ahead of our
	// clock beyond that and its max_future_skew waits.
	ClockSkew time.Duration
	// PointInterval is how often a recovery point is stored; 0 means 5 s.
	PointInterval time.Duration
	// PointBytes stores one earlier, after so much input; 0 means 64 MiB.
	PointBytes int64
	// OutputBytes is how much of each output is kept in memory unacknowledged before input stops; 0 means 64 MiB.
	OutputBytes int64
	// OverflowDir is where each output puts what would fill more than half of that, at most OverflowBytes; an empty one puts
	// nothing on disk. It belongs to the fragment alone.
	OverflowDir   string
	OverflowBytes int64
	// Keep gives up the oldest results of an output that can hold no more, but for those of the last Keep microseconds of
	// stime; 0 gives up nothing, and input stops.
	Keep int64
	// Room says whether the disk has room; while it fails nothing is put there. nil has always room.
	Room func() error
	// Partner bounds what a subscriber of another organisation may hold back.
	Partner flow.Partner
	// Checksums lets the boundaries of outputs carry checksums.
	Checksums bool
	// WaitingRows is how many rows may wait in an input that is ahead of the others before it is held; 0 means 33 million.
	WaitingRows int
	// InputBytes is how much the inputs may keep in memory, tentative rows included; 0 means 1 GiB. From three quarters of it on
	// those that are ahead are held, which leaves what waits for boundaries that do not come. Beyond it the fragment
	// stops: what an input without boundaries has sent can neither be worked off nor be put anywhere else.
	InputBytes int64
	// StateBytes is how much memory the operators may hold; 0 sets no limit. Beyond it the fragment stops.
	StateBytes int64
	// AllowChanged starts operators that changed since the last point without state.
	AllowChanged bool
}

func (c *Config) complete() {
	if c.Processor == nil {
		c.Processor = processorTime
	}
	if c.PointInterval == 0 {
		c.PointInterval = 5 * time.Second
	}
	if c.PointBytes == 0 {
		c.PointBytes = 64 << 20
	}
	if c.OutputBytes == 0 {
		c.OutputBytes = 64 << 20
	}
	if c.InputBytes == 0 {
		c.InputBytes = 1 << 30
	}
}

// Status is a copy of how a fragment stands.
type Status struct {
	Name     string
	Operator query.Status
	// Released is up to where the stable instance has been given every bucket.
	Released tuple.Time
	Inputs   []InputStatus
	Outputs  []OutputStatus
	// StateBytes of all operators.
	StateBytes int64
	// Load is the share of the last ten seconds in which the fragment worked, 0 to 1. CannotCatchUp: corrections are under way
	// and have not gained on the input in that time. Worked is for how long it has worked since it started.
	Load          float64
	CannotCatchUp bool
	Worked        time.Duration
	// Renewals counts what has come of it that corrections had stopped half way.
	Renewals replica.Renewals
	// PointAt is when the last recovery point became durable, the zero time before the first; PointBoundary is its place.
	PointAt       time.Time
	PointBoundary tuple.Time
	// Failure is what keeps the fragment from going on; "" if nothing does.
	Failure string
}

// InputStatus is one input of a fragment.
type InputStatus struct {
	Stream    string
	Connected bool
	Cause     string // why not
	// Producer is the node that it is read from; "" if there is none.
	Producer  string
	Condition dcaa.Condition
	Boundary  tuple.Time
	Waiting   int
	Rows      uint64
	// Tentative: a suffix is held that will be corrected.
	Tentative bool
	// Held: the input is ahead of the others and waits for them.
	Held bool
	// Diverged are producers that are not read from because they gave other rows than another one.
	Diverged []string
}

// OutputStatus is one output of a fragment.
type OutputStatus struct {
	Stream string
	Head   tuple.Position
	Bytes  int64 // in memory
	Limit  int64
	// Spare is what is kept in memory besides, though it is acknowledged, for readers that are not counted.
	Spare int64
	// Spilled is what is held outside of memory.
	Spilled     flow.Spilled
	Subscribers map[string]tuple.Position
	// Lapsed are subscriptions of partners that are not waited for any more.
	Lapsed map[string]flow.Lapse
	State  dcaa.State
	// Since is when the state began, the zero time if it never changed.
	Since time.Time
	// Holding is for how long a bucket has been held beyond when it was due.
	Holding time.Duration
	// Tentative counts the tentative rows given in this life; Missing are the inputs that lack now.
	Tentative uint64
	Missing   []tuple.Missing
	// Delay is the age of the last boundary beyond what is normal, Bound the availability bound; 0 is none.
	Delay time.Duration
	Bound time.Duration
	// Delays counts the boundaries of this life by their delay.
	Delays Delays
	// Redo is how long the last stabilization took.
	Redo time.Duration
	// Anew is how results of best effort fare, nil of others.
	Anew *replica.AnewView
}
