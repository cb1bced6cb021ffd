package replica

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// liarsQuery has an output that depends on what liars say, and one that does not.
const liarsQuery = head + `
[operators.both]
kind = "union"
inputs = ["a", "b"]

[operators.sums]
kind = "aggregate"
input = "both"
window = { tumbling = "1s" }
group_by = ["k"]
aggregates = { n = "count()", s = "sum(v)" }

[operators.alone]
kind = "filter"
input = "b"
where = "v >= 0"

[outputs.sums]
input = "sums"
connector = "node"

[outputs.alone]
input = "alone"
connector = "node"
`

// beset is a replica that has an input of its own, b, and one of a partner, a, that two nodes give which both lie. Another
// replica of the fragment, at a third organisation, lies as well.
type beset struct {
	t    *testing.T
	rng  *rand.Rand
	now  dcaa.Instant
	r    *Replica
	b    stream
	sent int // of b's log
	conn uint64
	// plausible lies continue what came before, so that they are not noticed at once.
	plausible bool
	tentative int // frames of both
	// lies are the connections that liars were asked for.
	lies []lie
	runs uint64
	out  []structure
	rows int // of alone, stable
}

// lie is a connection to a liar.
type lie struct {
	conn   uint64
	opened bool
}

// structure is what every stable stream keeps to, whatever is in it.
type structure struct {
	generation, id uint64
	boundary       tuple.Time
}

func (s *beset) Open(input int, o dcaa.Opening) {
	if input == 0 {
		s.lies = append(s.lies, lie{conn: o.Conn})
		return
	}
	s.conn, s.sent = o.Conn, 0
	for s.sent < len(s.b.log) && before(s.b.log[s.sent], o.From) {
		s.sent++
	}
}

func (s *beset) Close(input int, conn uint64) {
	for n, l := range s.lies {
		if input == 0 && l.conn == conn {
			s.lies = append(s.lies[:n], s.lies[n+1:]...)
			return
		}
	}
}

func (*beset) Tell(string, dcaa.PermissionMessage) {}
func (*beset) Changed(Change)                      {}

// Emit holds what is given to what every stream promises, and the rows of alone to what b had.
func (s *beset) Emit(output int, f *tuple.Frame) {
	o := &s.out[output]
	switch f.Kind {
	case tuple.Insertion:
		if f.Generation < o.generation || f.Generation == o.generation && f.FirstID != o.id+1 {
			s.t.Fatalf("output %d: ids %d:%d-%d after %d:%d", output, f.Generation, f.FirstID, f.LastID, o.generation, o.id)
		}
		for i := range f.Batch.Rows() {
			if at := f.Batch.Time[f.Batch.Row(i)]; at < o.boundary {
				s.t.Fatalf("output %d: a row of %v after the boundary %v", output, at, o.boundary)
			}
		}
		o.generation, o.id = f.Generation, f.LastID
		if output == s.alone() {
			s.rows += f.Batch.Rows()
		}
	case tuple.Boundary:
		if f.Time < o.boundary {
			s.t.Fatalf("output %d: boundary %v after %v", output, f.Time, o.boundary)
		}
		o.boundary = f.Time
	case tuple.Gap:
		if f.Generation < o.generation || f.Generation == o.generation && f.FirstID < o.id {
			s.t.Fatalf("output %d: a gap to %d:%d after %d:%d", output, f.Generation, f.FirstID, o.generation, o.id)
		}
		o.generation, o.id = f.Generation, f.FirstID
		if output == s.alone() {
			s.t.Fatalf("a gap in what depends on no liar: %v", f)
		}
	default:
		s.tentative++
		if output == s.alone() {
			s.t.Fatalf("%v in what depends on no liar", f)
		}
	}
}

func (s *beset) alone() int {
	for n, o := range s.r.cfg.Plan.Outputs {
		if strings.HasSuffix(o.Stream, "/alone") {
			return n
		}
	}
	s.t.Fatal("no output alone")
	return 0
}

// time draws an stime: near by, far off, or at the end of all numbers.
func (s *beset) time() tuple.Time {
	at := tuple.Time(s.now - epoch)
	if s.plausible {
		return max(s.r.inputs[0].intake.Position().Time, at.Add(s.rng.Int64N(400*ms)-200*ms))
	}
	switch s.rng.IntN(8) {
	case 0:
		return tuple.MinTime
	case 1:
		return tuple.MaxTime
	case 2:
		return tuple.Time(s.rng.Int64())
	case 3:
		return -tuple.Time(s.rng.Int64())
	case 4:
		return at.Add(s.rng.Int64N(3600_000 * ms))
	}
	return at.Add(s.rng.Int64N(2000*ms) - 1500*ms)
}

// number draws an id, a generation or another count.
func (s *beset) number() uint64 {
	if s.plausible {
		return s.rng.Uint64N(3)
	}
	switch s.rng.IntN(6) {
	case 0:
		return 0
	case 1:
		return math.MaxUint64 - s.rng.Uint64N(3)
	case 2:
		return s.rng.Uint64()
	}
	return s.rng.Uint64N(20)
}

func (s *beset) status() dcaa.StreamStatus {
	return dcaa.StreamStatus{State: dcaa.State(1 + s.rng.IntN(6)), Boundary: s.time(), Holding: s.rng.Int64N(1 << 40), Generation: s.number(),
		LastID: s.number(), Sum: s.number(), Begins: s.time()}
}

func (s *beset) run() tuple.Run {
	if s.runs == 0 || s.rng.IntN(3) == 0 && !s.plausible {
		s.runs++
	}
	return tuple.Run{Producer: fmt.Sprint("a", 1+s.rng.IntN(2)), Incarnation: s.number(), N: s.runs}
}

// frame draws one that is well formed.
func (s *beset) frame() *tuple.Frame {
	missing := []tuple.Missing{{Stream: "far/x", Since: s.time()}}
	switch s.rng.IntN(7) {
	case 0, 1:
		f := s.batch()
		f.Kind, f.Generation = tuple.Insertion, 1+s.number()%4
		if at := s.r.inputs[0].intake.Position(); s.plausible {
			f.Generation, f.LastID = max(1, at.Generation), at.ID+uint64(f.Batch.Rows())
			f.FirstID = at.ID + 1
		}
		return f
	case 2:
		f := s.batch()
		f.Kind, f.Run, f.Missing = tuple.Tentative, s.run(), missing
		return f
	case 3:
		return &tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: s.time(), Age: s.rng.Int64() - s.rng.Int64(), Normal: s.rng.Int64(), Sum: s.number() / 2}
	case 4:
		return &tuple.Frame{Kind: tuple.TentativeBoundary, Run: s.run(), Time: s.time(), Missing: missing, Age: s.rng.Int64() - s.rng.Int64()}
	case 5:
		from, to := s.time(), s.time()
		return &tuple.Frame{Kind: tuple.Gap, Generation: 1 + s.number()%4, FirstID: s.number(), Time: min(from, to), To: max(from, to), Reason: "lost"}
	}
	return &tuple.Frame{Kind: []tuple.FrameKind{tuple.Undo, tuple.RecDone}[s.rng.IntN(2)], Run: s.run(), Time: s.time()}
}

func (s *beset) batch() *tuple.Frame {
	b, rows := tuple.NewBatchBuilder(s.b.schema), 1+s.rng.IntN(3)
	for range rows {
		at := min(max(s.time(), tuple.MinTime+1), tuple.MaxTime-1)
		b.AppendInt(0, int64(at))
		b.AppendBin(1, []byte("lie"))
		b.AppendInt(2, s.rng.Int64())
		b.EndRow(at)
	}
	first := s.number() % (1 << 60)
	return &tuple.Frame{FirstID: first + 1, LastID: first + uint64(rows), Batch: b.Take()}
}

// lieOnce does one thing that a partner's node may do.
func (s *beset) lieOnce() {
	s.plausible = s.rng.IntN(50) > 0
	producer := s.rng.IntN(2)
	switch s.rng.IntN(12) {
	case 0:
		s.r.Heard(s.now, 0, producer, s.status())
	case 1:
		s.r.Reachable(s.now, 0, producer, s.rng.IntN(4) > 0)
	case 2:
		s.r.PeerHeard(s.now, 0, s.rng.IntN(len(s.out)), s.status())
	case 3:
		s.r.PeerReachable(s.now, 0, s.rng.IntN(4) > 0)
	case 4:
		s.r.PeerMessage(s.now, "south/n2", dcaa.PermissionMessage{Kind: dcaa.PermissionKind(1 + s.rng.IntN(2)), Asker: []string{"north/n1", "south/n2", "east/n9"}[s.rng.IntN(3)],
			AskerIncarnation: s.number(), Number: s.number(), Missed: s.number()})
	default:
		s.lieOn()
	}
}

// lieOn does something to a connection.
func (s *beset) lieOn() {
	if len(s.lies) == 0 {
		return
	}
	l := &s.lies[s.rng.IntN(len(s.lies))]
	id := l.conn
	if !l.opened {
		l.opened = true
		switch s.rng.IntN(6) {
		case 0:
			s.r.Refused(s.now, 0, id)
		case 1:
			s.r.Truncated(s.now, 0, id, tuple.Position{Generation: s.number(), ID: s.number(), Time: s.time()})
		default:
			s.r.Opened(s.now, 0, id)
		}
		return
	}
	if s.rng.IntN(30) == 0 {
		s.r.Closed(s.now, 0, id)
		return
	}
	if !s.r.Held(0) {
		_ = s.r.Frame(s.now, 0, id, s.frame()) // an error says that it was noticed
	}
}

// step lets 10 ms pass.
func (s *beset) step(lies int) {
	s.b.produce(tuple.Time(s.now - epoch))
	for ; s.sent < len(s.b.log) && s.conn != 0; s.sent++ {
		if err := s.r.Frame(s.now, 1, s.conn, s.b.log[s.sent]); err != nil {
			s.t.Fatal(err)
		}
	}
	if int64(s.now)%(100*ms) == 0 {
		last := s.b.log[len(s.b.log)-1]
		s.r.Heard(s.now, 1, 0, dcaa.StreamStatus{State: dcaa.Stable, Boundary: last.Time, Generation: 1, LastID: s.b.last})
	}
	for range lies {
		s.lieOnce()
	}
	for n := 0; ; n++ {
		busy, err := s.r.Advance(s.now)
		if err != nil {
			s.t.Fatal(err)
		}
		if !busy {
			break
		}
		if n > 10_000 {
			s.t.Fatal("it is busy without end")
		}
	}
	s.now += 10 * ms
}

// TestLiars: whatever well-formed messages the nodes of a partner send in whatever order, nothing panics, every stable stream
// keeps to its form, and what does not depend on them is complete and in time.
func TestLiars(t *testing.T) {
	believed, tentative := 0, 0
	for seed := range uint64(100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := lieToReplica(t, seed)
			believed += int(s.out[1-s.alone()].id)
			tentative += s.tentative
		})
	}
	if believed < 1000 || tentative < 1000 {
		t.Fatalf("%d rows and %d tentative frames came of lies; they are too easily noticed", believed, tentative)
	}
}

func lieToReplica(t *testing.T, seed uint64) *beset {
	s := &beset{t: t, rng: rand.New(rand.NewPCG(seed, 3)), now: epoch + 100*ms}
	plan := testPlan(t, liarsQuery)
	s.b.schema, s.b.offset = plan.Inputs[1].Schema, 1
	settings := dcaa.DefaultSettings()
	settings.MaxDelay = 2000 * ms
	settings.Redo = []dcaa.Redo{dcaa.RedoFork, dcaa.RedoUndo}[seed%2]
	cfg := Config{Plan: plan, Settings: settings, Name: "north/n1", Incarnation: 1, Peers: []string{"south/n2"},
		Inputs: []Input{{Producers: []string{"a1", "a2"}}, {Producers: []string{"b1"}, Source: true}}}
	for _, u := range plan.Unions {
		cfg.Places = append(cfg.Places, dcaa.Place{Depth: u.Depth, Path: u.Path})
	}
	for range plan.Outputs {
		s.out = append(s.out, structure{boundary: tuple.MinTime})
	}
	r, err := New(cfg, s.now, s)
	if err != nil {
		t.Fatal(err)
	}
	s.r = r
	r.Reachable(s.now, 1, 0, true)
	for range 2000 {
		s.step(s.rng.IntN(4))
	}
	at := tuple.Time(s.now - epoch)
	if got := s.out[s.alone()]; got.boundary < at-1000*ms || s.rows < int(s.b.last)-10 {
		t.Fatalf("what depends on no liar stands at %v with %d rows; it is %v, and %d came", got.boundary, s.rows, at, s.b.last)
	}
	return s
}
