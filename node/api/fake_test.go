package api

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/node/connect/push"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// fake is a node of the organisation north whose parts a test can set.
type fake struct {
	ready atomic.Bool

	mu       sync.Mutex
	status   Status
	fail     error // of every call that can fail
	added    []string
	deployed []string
	stopped  []string
	accepted []string
	from     []TailFrom
	open     int // tails
	frames   []*tuple.Frame
	inbox    Inbox
	panics   bool
}

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newFake() *fake {
	f := &fake{status: sampleStatus(), inbox: &memoryInbox{}, frames: sampleFrames()}
	f.ready.Store(true)
	return f
}

func (f *fake) locked(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

func (f *fake) error() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fail
}

func (f *fake) Ready() bool { return f.ready.Load() }

func (f *fake) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.panics {
		panic("a bug")
	}
	return f.status
}

func (f *fake) Peers() []PeerInfo {
	return []PeerInfo{{Peer: "12D3Koo", Org: "south", Node: "one", Up: true, Protocol: 1, Software: "fednode 0.1", Address: "/ip4/10.0.0.1/tcp/7481", Dialled: []string{}, RTT: 0.01, SilenceLimit: 0.5}}
}

func (f *fake) AddPeer(_ context.Context, address string) error {
	if err := f.error(); err != nil {
		return err
	}
	f.locked(func() { f.added = append(f.added, address) })
	return nil
}

func (f *fake) Queries() []QueryInfo { return []QueryInfo{f.Status().Queries[0].QueryInfo} }

func (f *fake) Query(name string) (*QueryDetail, error) {
	if err := f.error(); err != nil {
		return nil, err
	}
	if name != "netmon" && name != "north/netmon" {
		return nil, fmt.Errorf("query %s: %w", name, ErrNotFound)
	}
	return &QueryDetail{QueryStatus: f.Status().Queries[0], File: "[query]\n"}, nil
}

func (f *fake) Deploy(_ context.Context, file string, src []byte, replace bool) (*DeployResult, error) {
	if err := f.error(); err != nil {
		return nil, err
	}
	f.locked(func() { f.deployed = append(f.deployed, fmt.Sprint(file, " ", replace, " ", string(src))) })
	return &DeployResult{Query: "netmon", ID: "north/netmon", Term: 1, Epoch: 1, Changed: string(src) != "same"}, nil
}

func (f *fake) StopQuery(_ context.Context, name string) error {
	if err := f.error(); err != nil {
		return err
	}
	if name != "netmon" {
		return fmt.Errorf("query %s: %w", name, ErrNotFound)
	}
	f.locked(func() { f.stopped = append(f.stopped, name) })
	return nil
}

func (f *fake) AcceptReplica(_ context.Context, name, producer string) error {
	if err := f.error(); err != nil {
		return err
	}
	if name != "netmon" {
		return fmt.Errorf("query %s: %w", name, ErrNotFound)
	}
	f.locked(func() { f.accepted = append(f.accepted, producer) })
	return nil
}

func (f *fake) Streams() []StreamInfo {
	return []StreamInfo{{Name: "north/conns", Source: true, Push: true, Columns: ColumnsOf(sampleSchema()), Head: Position{Generation: 1, ID: 9}}}
}

func (f *fake) Tail(ctx context.Context, stream string, from TailFrom) (Tail, error) {
	if err := f.error(); err != nil {
		return nil, err
	}
	if stream != "north/conns" && stream != "north/netmon/tail" {
		return nil, fmt.Errorf("stream %s: %w", stream, ErrNotFound)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.from = append(f.from, from)
	f.open++
	return &memoryTail{f: f, from: from, frames: f.frames}, nil
}

func (f *fake) PushTarget(stream string) (PushTarget, error) {
	if err := f.error(); err != nil {
		return PushTarget{}, err
	}
	if stream != "north/conns" {
		return PushTarget{}, fmt.Errorf("stream %s: %w", stream, ErrNotFound)
	}
	shape, problems := connect.NewStream("conns", []connect.ColumnSpec{{Name: "n", Type: tuple.Of(tuple.Int64)}}, "")
	if len(problems) > 0 {
		return PushTarget{}, fmt.Errorf("%v", problems)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return PushTarget{Shape: shape, Inbox: f.inbox}, nil
}

func (f *fake) Exports() []ExportInfo {
	return []ExportInfo{{Name: "conns", Stream: "north/conns", To: []string{"south"}, Expires: &at, Columns: ColumnsOf(sampleSchema()), History: 3600}}
}

func (f *fake) Catalog(org string) []Offer {
	all := []Offer{{Org: "east", Stream: "east/flows", State: "stable", Boundary: EndTime}, {Org: "south", Stream: "south/conns", State: "starting", Boundary: NoTime}}
	return slices.DeleteFunc(all, func(o Offer) bool { return org != "" && o.Org != org })
}

func (f *fake) Config() []Setting {
	return []Setting{{Path: "node.org", Value: "north", Origin: "node.toml:2:1", Effect: "restart"}}
}

func (f *fake) openTails() (n int) {
	f.locked(func() { n = f.open })
	return n
}

// begun is how many tails have been opened in all.
func (f *fake) begun() (n int) {
	f.locked(func() { n = len(f.from) })
	return n
}

// memoryTail delivers frames and then waits.
type memoryTail struct {
	f      *fake
	from   TailFrom
	frames []*tuple.Frame
}

func (t *memoryTail) Next(ctx context.Context) (*tuple.Frame, error) {
	for len(t.frames) > 0 {
		fr := t.frames[0]
		t.frames = t.frames[1:]
		if fr.Kind == tuple.Insertion && fr.LastID <= t.from.After.ID {
			continue
		}
		if fr.Kind == tuple.Insertion && fr.FirstID <= t.from.After.ID {
			return fr.After(t.from.After.ID), nil
		}
		return fr, nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (t *memoryTail) Close() { t.f.locked(func() { t.f.open-- }) }

// memoryInbox keeps what is pushed.
type memoryInbox struct {
	mu   sync.Mutex
	keys []string
	rows int
	err  error
	hold bool // until the context ends
}

func (in *memoryInbox) Push(ctx context.Context, key string, blocks []*connect.Block) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.hold {
		<-ctx.Done()
		return fmt.Errorf("push: %w", ctx.Err())
	}
	if in.err != nil {
		return in.err
	}
	in.keys = append(in.keys, key)
	for _, b := range blocks {
		in.rows += b.Rows()
	}
	return nil
}

var (
	_ Backend = (*fake)(nil)
	_ Inbox   = (*push.Inbox)(nil)
)

func sampleSchema() *tuple.Schema {
	return tuple.MustSchema(tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)}, tuple.Field{Name: "who", Type: tuple.Of(tuple.String)})
}

// insertion returns a frame of rows with ids from first on.
func insertion(first, n int) *tuple.Frame {
	b := tuple.NewBatchBuilder(sampleSchema())
	for i := first; i < first+n; i++ {
		b.AppendInt(0, int64(i))
		b.AppendBin(1, fmt.Appendf(nil, "row %d", i))
		b.EndRow(tuple.Time(int64(i) * tuple.Second))
	}
	return &tuple.Frame{Kind: tuple.Insertion, Generation: 3, FirstID: uint64(first), LastID: uint64(first + n - 1), Batch: b.Take()}
}

func sampleFrames() []*tuple.Frame {
	return []*tuple.Frame{
		insertion(1, 2),
		{Kind: tuple.Boundary, Time: tuple.Time(3 * tuple.Second)},
		{Kind: tuple.Gap, Generation: 3, FirstID: 3, Time: tuple.Time(3 * tuple.Second), To: tuple.Time(4 * tuple.Second), Reason: "gone"},
		insertion(4, 2),
		{Kind: tuple.Boundary, Time: tuple.MaxTime},
	}
}

func sampleStatus() Status {
	bound := 3.0
	head := Position{Generation: 1, ID: 9, Boundary: StreamTime(5 * tuple.Second)}
	return Status{
		Node: NodeStatus{Org: "north", Name: "edge-1", Peer: "12D3KooWself", Version: "0.1.0", Started: at, Ready: true, P2P: []string{"/ip4/127.0.0.1/tcp/7481"},
			API: []string{"http://127.0.0.1:7480"}, MemoryBytes: 50 << 20, CPUSeconds: 1.5, Goroutines: 60, CertificateExpires: &at},
		Storage: StorageStatus{Dir: "/var/lib/fednode", FreeBytes: 1 << 30, ReserveBytes: 1 << 28, StoreBytes: 1 << 20},
		Sources: []SourceStatus{sampleSource("north/conns", head)},
		Queries: []QueryStatus{{
			QueryInfo: QueryInfo{ID: "north/netmon", Org: "north", Name: "netmon", State: "running", Term: 1, Epoch: 2, Home: "north/edge-1", Created: at,
				Assignments: []Assignment{{Fragment: "main", Org: "north", Node: "edge-1"}}, Here: true},
			MaxDelay: &bound, Sources: []SourceStatus{},
			Fragments: []FragmentStatus{sampleFragment("main", head)},
			Sinks:     []SinkStatus{{Output: "suspects", Stream: "north/netmon/suspects", Connected: true, Rows: 7, At: head, Committed: head, Diverged: []string{}}},
		}},
		Partners: []PartnerStatus{{Org: "east"}, {Org: "north", Up: 1, Known: 1}, {Org: "south", Up: 1, Known: 2}},
	}
}

func sampleSource(name string, head Position) SourceStatus {
	return SourceStatus{Stream: name, Condition: "reading", Rows: 9, Late: 2, Errors: 1, ByReason: map[string]uint64{"syntax": 1, "late": 2},
		Head: head, High: head.Boundary, LogBytes: 1000, LogLimitBytes: 4 << 30, Subscribers: []Subscriber{{Name: "north/edge-1/netmon/main", Acknowledged: head}}}
}

func sampleFragment(name string, head Position) FragmentStatus {
	point := time.Now().Add(-4 * time.Second)
	return FragmentStatus{Name: name, State: FragmentRunning, StateBytes: 4096, Released: head.Boundary, PointAt: &point, PointBoundary: head.Boundary,
		Operators: []OperatorStatus{{Name: "per_source", Kind: "aggregate", RowsIn: 9, RowsOut: 3, StateBytes: 4096, Boundary: head.Boundary, Lag: 0.5, HeldBy: "conns"}},
		Inputs:    []InputStatus{{Stream: "north/conns", Connected: true, Producer: "north/edge-1", Condition: "live", Rows: 9, Boundary: head.Boundary, Waiting: 1, Diverged: []string{"north/edge-2"}}},
		Outputs: []OutputStatus{{Stream: "north/netmon/suspects", State: "stable", Head: head, Bytes: 10, Limit: 100, Subscribers: []Subscriber{},
			TentativeRows: 4, Anew: Anew{Phase: PhaseWhole, Times: 2}, Missing: []MissingInput{}, Delays: DelayCounts{UpTo: []float64{0.1, 0.25}, Boundaries: []uint64{3, 2, 1}, Sum: 1.5}}},
	}
}

// twoProblems is what a wrong query file gives.
func twoProblems(t testing.TB) error {
	var p spec.Problems
	p.Add(spec.Pos{File: "q.toml", Line: 3, Column: 7}, "operators.active.where", "did you mean `conns`?", "no column %s", "cons")
	p.Add(spec.Pos{File: "q.toml", Line: 9, Column: 1}, "outputs.x", "", "no input")
	require.Error(t, p.Err())
	return fmt.Errorf("deploy: %w", p.Err())
}
