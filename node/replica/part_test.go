package replica

import (
	"slices"
	"testing"

	"fednode/query"
	"fednode/query/tuple"
)

// lanesQuery has two outputs that have nothing to do with each other.
const lanesQuery = head + `
[operators.sums]
kind = "aggregate"
input = "a"
window = { tumbling = "1s" }
group_by = ["k"]
aggregates = { n = "count()", s = "sum(v)" }

[operators.most]
kind = "aggregate"
input = "b"
window = { tumbling = "1s" }
group_by = ["k"]
aggregates = { n = "count()", s = "max(v)" }

[outputs.sums]
input = "sums"
connector = "node"

[outputs.most]
input = "most"
connector = "node"

[fragments.f]
operators = ["sums", "most"]
`

// sharedQuery has two paths, which read one input in common.
const sharedQuery = head + `
[operators.both]
kind = "union"
inputs = ["a", "b"]

[operators.many]
kind = "filter"
input = "a"
where = "v >= 0"

[outputs.both]
input = "both"
connector = "node"

[outputs.many]
input = "many"
connector = "node"
`

// TestParts shows which paths can be taken over alone: those that share no input with others.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		text         string
		paths, parts int
	}{{lanesQuery, 2, 2}, {sharedQuery, 2, 1}, {joinQuery, 1, 1}, {unionQuery, 1, 1}} {
		s := newStage(t, c.text, nil)
		parts := s.r.parts(false)
		if len(s.r.paths) != c.paths || len(parts) != c.parts {
			t.Errorf("%d paths, %d parts, want %d and %d, of%s", len(s.r.paths), len(parts), c.paths, c.parts, c.text[len(head):])
		}
		unions, inputs := 0, 0
		for _, p := range parts {
			unions, inputs = unions+len(p.unions), inputs+len(p.inputs)
		}
		if unions != len(s.plan.Unions) || inputs != len(s.plan.Inputs) || len(s.r.parts(true)) != 1 {
			t.Errorf("the parts have %d SUnions and %d inputs, the plan %d and %d", unions, inputs, len(s.plan.Unions), len(s.plan.Inputs))
		}
	}
}

// lose cuts an input off, and has its producer forget what came meanwhile.
func (s *stage) lose(n int, d int64) {
	s.cut(n, true)
	s.run(d)
	src := s.sources[n]
	src.down = false
	s.r.Reachable(s.now, n, 0, true)
	s.r.Truncated(s.now, n, src.conn, tuple.Position{Generation: 1, ID: src.last, Time: tuple.Time(int64(s.now) - 1_000_000*ms)})
}

// takeOver goes on with its own state and what is taken of another's.
func (s *stage) takeOver(theirs offer, take Take) {
	s.t.Helper()
	state, operators, err := s.r.Graft(theirs.state, theirs.operators, take)
	if err != nil {
		s.t.Fatal(err)
	}
	cfg := s.r.cfg
	cfg.Incarnation++
	for o, taken := range take.Outputs(s.plan) {
		if taken {
			*s.outputs[o] = theirs.outputs[o]
		}
		s.outputs[o].tentative = nil // a run ends with the life that gives it
	}
	if s.r, _, err = Restore(cfg, s.now, s, state, operators, query.RestoreOptions{}); err != nil {
		s.t.Fatal(err)
	}
	for n := range s.sources {
		s.r.Reachable(s.now, n, 0, true)
	}
}

// transferring is a stage whose replica may ask its peers for their states.
type transferring struct{ *stage }

func (transferring) Transfer(int) {}

// offer is the state of a replica with what its outputs have given.
type offer struct {
	state     State
	operators []byte
	outputs   []received
}

func (s *stage) offer() offer {
	var e tuple.Encoder
	o := offer{state: s.r.Snapshot(&e)}
	o.operators = e.B
	for _, out := range s.outputs {
		o.outputs = append(o.outputs, *out)
	}
	return o
}

// TestPartTakenOver shows that of two replicas each of which lacks the input of one lane each takes over that lane from the
// other and keeps the one that it has: nothing is lost, whereas as a whole one state is as good as the other.
func TestPartTakenOver(t *testing.T) {
	open := func(name, peer string) *stage {
		s := newStage(t, lanesQuery, func(c *Config) { c.Name, c.Peers = name, []string{peer} })
		s.r.shell = transferring{s}
		s.run(5000 * ms)
		return s
	}
	stages := []*stage{open("north/n1", "north/n2"), open("north/n2", "north/n1")}
	var offers []offer
	for n, s := range stages {
		s.lose(n, 4000*ms)
		offers = append(offers, s.offer())
	}
	if take := stages[0].r.Offered(stages[0].now, 0, offers[1].state, true); take != nil {
		t.Fatalf("%v is taken of a state that as a whole is no better", take)
	}
	calm := reference(t, lanesQuery, 14_000*ms)
	for n, s := range stages {
		take := s.r.Offered(s.now, 0, offers[1-n].state, false)
		for u := range s.plan.Unions {
			if take == nil || take[u] != (s.plan.Unions[u].Inputs[0] == n) {
				t.Fatalf("replica %d takes %v", n+1, take)
			}
		}
		s.takeOver(offers[1-n], take)
		s.run(5000 * ms)
		compare(t, s, calm)
		for _, o := range s.outputs {
			if len(o.gaps) > 0 {
				t.Fatalf("gaps %v", o.gaps)
			}
		}
	}
}

// TestGraftIsASnapshot shows that a point of two is what Snapshot gives of a replica that has been fed what each of its parts
// had been.
func TestGraftIsASnapshot(t *testing.T) {
	run := func(cut ...int) *stage {
		s := newStage(t, lanesQuery, func(c *Config) { c.Checksums = true })
		s.run(3000 * ms)
		for _, n := range cut {
			s.cut(n, true)
		}
		s.run(2000 * ms)
		return s
	}
	var want, theirs tuple.Encoder
	wanted := run(0, 1).r.Snapshot(&want)
	state := run(0).r.Snapshot(&theirs)
	mine := run(1).r
	take := make(Take, 2)
	for u := range take {
		take[u] = mine.cfg.Plan.Unions[u].Inputs[0] == 0
	}
	got, operators, err := mine.Graft(state, theirs.B, take)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(operators, want.B) {
		t.Error("the operators differ")
	}
	if got.Boundary != wanted.Boundary || !slices.EqualFunc(got.Inputs, wanted.Inputs, slices.Equal) || !slices.Equal(got.Outputs, wanted.Outputs) || !slices.Equal(got.Checksums, wanted.Checksums) {
		t.Errorf("%+v, want %+v", got, wanted)
	}
	if _, _, err := mine.Graft(State{}, theirs.B, take); err == nil {
		t.Error("a state of another plan is taken")
	}
}
