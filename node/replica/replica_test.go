package replica

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fednode/dcaa"
	"fednode/query"
	"fednode/query/tuple"
)

const head = `
[query]
name = "q"
max_delay = "3s"

[streams.a]
connector = "node"
stream = "north/a"
time = "ts"
columns = { ts = "timestamp", k = "string", v = "int64" }

[streams.b]
connector = "node"
stream = "south/b"
time = "ts"
columns = { ts = "timestamp", k = "string", v = "int64" }
`

const unionQuery = head + `
[operators.both]
kind = "union"
inputs = ["a", "b"]

[operators.sums]
kind = "aggregate"
input = "both"
window = { tumbling = "1s" }
group_by = ["k"]
aggregates = { n = "count()", s = "sum(v)" }

[outputs.sums]
input = "sums"
connector = "node"
`

const joinQuery = head + `
[operators.pairs]
kind = "join"
left = "a"
right = "b"
on = ["v"]
within = "300ms"
columns = { lk = "left.k", rk = "right.k" }

[operators.many]
kind = "filter"
input = "a"
where = "v >= 0"

[outputs.pairs]
input = "pairs"
connector = "node"

[outputs.many]
input = "many"
connector = "node"
`

func testPlan(t testing.TB, text string) *query.FragmentPlan {
	t.Helper()
	d, problems := query.Parse("q.toml", []byte(text), query.Options{Placement: query.Placement{Home: query.Place{Org: "north"}}})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	plan := query.NewPlan(d, query.Placement{Home: query.Place{Org: "north", Node: "n1"}, Local: !strings.Contains(text, "[fragments.")}, problems)
	if len(plan.Fragments) != 1 {
		t.Fatalf("%d fragments", len(plan.Fragments))
	}
	return plan.Fragments[0]
}

const ms = 1000

// stage drives one replica through virtual time. Each input has one producer, a source of a row and a boundary every
// 100 ms, which can be cut off.
type stage struct {
	t       testing.TB
	plan    *query.FragmentPlan
	r       *Replica
	now     dcaa.Instant
	sources []*origin
	outputs []*received
	changes []string
	renewed []Renewal
	// longest is the largest delay of a result beyond the end of its bucket.
	longest int64
}

// origin is a source proxy: a log of frames, a connection, and whether it can be reached.
type origin struct {
	log  []*tuple.Frame
	next int
	conn uint64
	sent int // frames of the log that the connection has delivered
	down bool
	most int // it gives no frames of the log beyond so many; 0 is no limit
	// late is by how much it gives everything too late, in microseconds; its boundaries say so.
	late int64
	last uint64
	// generation of the log; 0 is 1.
	generation uint64
}

func (o *origin) numbered() uint64 { return max(1, o.generation) }

// received is what came of one output: P and Q as a client would hold them.
type received struct {
	stable    []string
	before    int    // of them are of earlier generations
	numbered  uint64 // results of the present generation that came before
	tentative []string
	everTent  int
	undone    int
	done      int
	gaps      []string
	boundary  tuple.Time
}

func newStage(t testing.TB, text string, edit func(*Config)) *stage {
	s := &stage{t: t, plan: testPlan(t, text), now: 1_000_000 * ms}
	cfg := Config{Plan: s.plan, Settings: dcaa.DefaultSettings(), Name: "north/n1", Incarnation: 1}
	for range s.plan.Inputs {
		cfg.Inputs = append(cfg.Inputs, Input{Producers: []string{"source"}, Source: true})
		s.sources = append(s.sources, &origin{})
	}
	for _, u := range s.plan.Unions {
		cfg.Places = append(cfg.Places, dcaa.Place{Depth: u.Depth, Path: u.Path})
	}
	for range s.plan.Outputs {
		s.outputs = append(s.outputs, &received{boundary: tuple.MinTime})
	}
	if edit != nil {
		edit(&cfg)
	}
	r, err := New(cfg, s.now, s)
	if err != nil {
		t.Fatal(err)
	}
	s.r = r
	for n := range s.sources {
		r.Reachable(s.now, n, 0, true)
	}
	return s
}

func (s *stage) Open(input int, o dcaa.Opening) {
	src := s.sources[input]
	src.conn, src.sent = o.Conn, 0
	for src.sent < len(src.log) && before(src.log[src.sent], o.From) {
		src.sent++
	}
}

func before(f *tuple.Frame, p tuple.Position) bool {
	if f.Kind == tuple.Insertion {
		return f.LastID <= p.ID
	}
	return f.Time <= p.Time
}

func (s *stage) Close(input int, conn uint64) {
	if s.sources[input].conn == conn {
		s.sources[input].conn = 0
	}
}

func (s *stage) Tell(string, dcaa.PermissionMessage) {}

func (s *stage) Renewed(x Renewal) { s.renewed = append(s.renewed, x) }

func (s *stage) Changed(c Change) {
	s.changes = append(s.changes, fmt.Sprintf("%v->%v", c.From, c.To))
}

func (s *stage) Emit(output int, f *tuple.Frame) {
	o := s.outputs[output]
	delay := func(at tuple.Time) {
		if late := int64(s.now) - int64(at) - 1_000_000*ms; at > o.boundary && late > s.longest && at > 0 {
			s.longest = late
		}
	}
	switch f.Kind {
	case tuple.Insertion:
		if last := o.numbered + uint64(len(o.stable)-o.before); f.FirstID != last+1 {
			s.t.Fatalf("output %d: ids from %d after %d", output, f.FirstID, last)
		}
		o.stable = append(o.stable, rows(f.Batch)...)
	case tuple.Tentative:
		o.tentative = append(o.tentative, rows(f.Batch)...)
		o.everTent += f.Batch.Rows()
	case tuple.Boundary:
		delay(f.Time)
		o.boundary = max(o.boundary, f.Time)
	case tuple.TentativeBoundary:
		delay(f.Time)
		o.boundary = max(o.boundary, f.Time)
	case tuple.Gap:
		o.gaps = append(o.gaps, f.Reason)
		if f.FirstID == 0 {
			o.before, o.numbered = len(o.stable), 0
		}
	case tuple.Undo:
		o.tentative, o.undone = nil, o.undone+1
	case tuple.RecDone:
		o.tentative, o.done = nil, o.done+1
	}
}

// rows renders the rows of a batch, stime first.
func rows(b *tuple.Batch) []string {
	var out []string
	for k := range b.Rows() {
		row := b.Row(k)
		text := fmt.Sprint(int64(b.Time[row]))
		for c := range b.Cols {
			text += " " + string(b.Cols[c].AppendText(nil, row))
		}
		out = append(out, text)
	}
	return out
}

// run lets time pass in steps of 10 ms.
func (s *stage) run(d int64) {
	for end := s.now + dcaa.Instant(d); s.now < end; s.now += 10 * ms {
		for n, src := range s.sources {
			src.produce(s.plan.Inputs[n].Schema, s.now, n)
		}
		for n, src := range s.sources {
			if src.down {
				continue
			}
			if int64(s.now)%(100*ms) == 0 {
				s.r.Heard(s.now, n, 0, dcaa.StreamStatus{State: dcaa.Stable, Boundary: tuple.Time(int64(s.now) - 1_000_000*ms - src.late), Generation: src.numbered(), LastID: src.last})
			}
			if src.conn != 0 {
				s.r.Opened(s.now, n, src.conn)
			}
			for src.conn != 0 && src.sent < len(src.log) && (src.most == 0 || src.sent < src.most) && src.due(s.now) {
				src.sent++
				if err := s.r.Frame(s.now, n, src.conn, src.log[src.sent-1]); err != nil {
					s.t.Fatal(err)
				}
			}
		}
		for {
			busy, err := s.r.Advance(s.now)
			if err != nil {
				s.t.Fatal(err)
			}
			if !busy {
				break
			}
		}
	}
}

// produce logs a row and a boundary every 100 ms of stime, which begins at 0 with the test.
func (o *origin) produce(schema *tuple.Schema, now dcaa.Instant, n int) {
	at := tuple.Time(int64(now) - 1_000_000*ms)
	if int64(at)%(100*ms) != 0 {
		return
	}
	b := tuple.NewBatchBuilder(schema)
	stime := at - 50*ms + tuple.Time(n)
	if stime > 0 {
		b.AppendInt(0, int64(stime))
		b.AppendBin(1, fmt.Appendf(nil, "k%d", o.last%3))
		b.AppendInt(2, int64(o.last%7))
		b.EndRow(stime)
		o.last++
		o.log = append(o.log, &tuple.Frame{Kind: tuple.Insertion, Generation: o.numbered(), FirstID: o.last, LastID: o.last, Batch: b.Take()})
	}
	o.log = append(o.log, &tuple.Frame{Kind: tuple.Boundary, Generation: o.numbered(), Time: at, Age: o.late})
}

// due reports whether the next frame of the log may leave.
func (o *origin) due(now dcaa.Instant) bool {
	f := o.log[o.sent]
	return f.Kind != tuple.Boundary || int64(f.Time) <= int64(now)-1_000_000*ms-o.late
}

// cut ends or heals the connection of an input.
func (s *stage) cut(n int, down bool) {
	src := s.sources[n]
	src.down = down
	s.r.Reachable(s.now, n, 0, !down)
	if down && src.conn != 0 {
		conn := src.conn
		src.conn = 0
		s.r.Closed(s.now, n, conn)
	}
}

// reference is what a run without failures gives.
func reference(t testing.TB, text string, d int64) *stage {
	s := newStage(t, text, nil)
	s.run(d)
	return s
}

func compare(t testing.TB, got, want *stage) {
	t.Helper()
	for n := range want.outputs {
		g, w := got.outputs[n], want.outputs[n]
		if len(g.stable) == 0 || !slices.Equal(g.stable, w.stable) {
			t.Fatalf("output %d: %d stable rows, want %d; changes %s", n, len(g.stable), len(w.stable), strings.Join(got.changes, " "))
		}
		if len(g.tentative) != 0 {
			t.Fatalf("output %d: %d tentative rows are left", n, len(g.tentative))
		}
	}
}

// TestFailureHeals cuts an input for 10 s: results go on within the bound, and end correct.
func TestFailureHeals(t *testing.T) {
	for name, text := range map[string]string{"union": unionQuery, "join": joinQuery} {
		for _, failed := range []int{0, 1} {
			t.Run(fmt.Sprint(name, failed), func(t *testing.T) {
				s := newStage(t, text, nil)
				s.run(5000 * ms)
				s.cut(failed, true)
				s.run(10_000 * ms)
				tentative := 0
				for _, o := range s.outputs {
					tentative += o.everTent
				}
				if tentative == 0 && name != "join" {
					t.Fatalf("nothing tentative in 10 s; changes %v", s.changes)
				}
				s.cut(failed, false)
				s.run(5000 * ms)
				compare(t, s, reference(t, text, 20_000*ms))
				if s.longest > 2600*ms {
					t.Fatalf("a result was %d ms late", s.longest/ms)
				}
				t.Log(s.changes, s.longest/ms)
			})
		}
	}
}

// TestShortFailure cuts an input for less than the hold time: nothing tentative comes.
func TestShortFailure(t *testing.T) {
	s := newStage(t, unionQuery, nil)
	s.run(5000 * ms)
	s.cut(1, true)
	s.run(1900 * ms)
	s.cut(1, false)
	s.run(3100 * ms)
	compare(t, s, reference(t, unionQuery, 10_000*ms))
	if s.outputs[0].everTent != 0 {
		t.Fatalf("%d tentative rows", s.outputs[0].everTent)
	}
}
