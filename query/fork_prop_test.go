package query_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fednode/query"
	"fednode/query/tuple"
)

// forkRig is a fragment of a random diagram, and what each of its SUnions hands on, bucket by bucket. The tentative
// rows are others of the same buckets.
type forkRig struct {
	r         *rapid.T
	src       string
	plan      *query.FragmentPlan
	rows      [][][]row
	tentative [][][]row
}

const (
	forkBuckets = 8
	forkBucket  = 700 * tuple.Millisecond
)

func newForkRig(r *rapid.T) *forkRig {
	g := &generator{r: r}
	src := g.diagram()
	at := query.Placement{Home: query.Place{Org: "north", Node: "n1"}, Local: true}
	d, p := query.Parse("q.toml", []byte(src), query.Options{Placement: at})
	require.NoError(r, p.Err(), src)
	x := &forkRig{r: r, src: src, plan: widest(query.NewPlan(d, at, p))}
	for u := range x.plan.Unions {
		x.rows = append(x.rows, x.draw(fmt.Sprintf("rows of SUnion %d", u)))
		x.tentative = append(x.tentative, x.draw(fmt.Sprintf("tentative rows of SUnion %d", u)))
	}
	return x
}

// widest returns the fragment with the most SUnions: what shares no operator is a fragment of its own.
func widest(p *query.Plan) *query.FragmentPlan {
	w := p.Fragments[0]
	for _, f := range p.Fragments {
		if len(f.Unions) > len(w.Unions) {
			w = f
		}
	}
	return w
}

func (x *forkRig) draw(label string) [][]row {
	buckets := make([][]row, forkBuckets)
	for b := range buckets {
		at := int64(b) * forkBucket
		for range rapid.IntRange(0, 4).Draw(x.r, label) {
			at = min(at+int64(rapid.IntRange(0, 300).Draw(x.r, "pause"))*1000, int64(b+1)*forkBucket-1)
			buckets[b] = append(buckets[b], row{at, rapid.SampledFrom([]string{"a", "b"}).Draw(x.r, "k"), int64(rapid.IntRange(-5, 5).Draw(x.r, "n"))})
		}
	}
	return buckets
}

// fed is an instance or a fork.
type fed interface {
	Process(union int, b *tuple.Batch) error
	Boundary(union int, t tuple.Time) error
}

// give hands bucket b of a SUnion on; the last ends it.
func (x *forkRig) give(to fed, rows [][][]row, u, b int) error {
	if len(rows[u][b]) > 0 {
		build := tuple.NewBatchBuilder(x.plan.Unions[u].Schema)
		for _, r := range rows[u][b] {
			build.AppendBin(0, []byte(r.k))
			build.AppendInt(1, r.n)
			build.EndRow(tuple.Time(r.at))
		}
		if err := to.Process(u, build.Take()); err != nil {
			return err
		}
	}
	if b == forkBuckets-1 {
		return to.Boundary(u, tuple.MaxTime)
	}
	return to.Boundary(u, tuple.Time(int64(b+1)*forkBucket))
}

// someUnions draws a set of SUnions that is not empty.
func (x *forkRig) someUnions(label string) []bool {
	some := make([]bool, len(x.plan.Unions))
	for u := range some {
		some[u] = rapid.Bool().Draw(x.r, label)
	}
	some[rapid.IntRange(0, len(some)-1).Draw(x.r, label)] = true
	return some
}

// order draws in which order the SUnions hand on their buckets: one may be far ahead of another.
func (x *forkRig) order() []int {
	var order []int
	left := make([]int, len(x.plan.Unions))
	for u := range left {
		left[u] = forkBuckets
	}
	for len(order) < forkBuckets*len(left) {
		u := rapid.IntRange(0, len(left)-1).Draw(x.r, "next SUnion")
		for left[u] == 0 {
			u = (u + 1) % len(left)
		}
		left[u]--
		order = append(order, u)
	}
	return order
}

func snapshotBytes(i *query.Instance) string {
	var e tuple.Encoder
	i.Snapshot(&e)
	return string(e.B)
}

// recorder is an Out that keeps what it gets of each output, fails where it was promised otherwise, and can be told to
// fail after some batches.
type recorder struct {
	lines  [][]string
	rows   [][]string
	bounds []tuple.Time
	left   int // batches until it fails; negative is never
}

var errFull = errors.New("full")

func newRecorder(p *query.FragmentPlan) *recorder {
	c := &recorder{lines: make([][]string, len(p.Outputs)), rows: make([][]string, len(p.Outputs)), bounds: make([]tuple.Time, len(p.Outputs)), left: -1}
	for o := range c.bounds {
		c.bounds[o] = tuple.MinTime
	}
	return c
}

// Batch keeps one line a row.
func (c *recorder) Batch(o int, b *tuple.Batch) error {
	if c.left == 0 {
		return errFull
	}
	c.left--
	for i := range b.Rows() {
		at := b.Row(i)
		if b.Time[at] < c.bounds[o] {
			return fmt.Errorf("row at %v below boundary %v", b.Time[at], c.bounds[o])
		}
		var line strings.Builder
		fmt.Fprintf(&line, "%d", b.Time[at])
		for j := range b.Cols {
			line.WriteString(" ")
			line.Write(b.Cols[j].AppendText(nil, at))
		}
		c.lines[o] = append(c.lines[o], line.String())
		c.rows[o] = append(c.rows[o], line.String())
	}
	return nil
}

// Boundary keeps a line.
func (c *recorder) Boundary(o int, t tuple.Time) error {
	if t <= c.bounds[o] {
		return fmt.Errorf("boundary %v after %v", t, c.bounds[o])
	}
	c.bounds[o] = t
	c.lines[o] = append(c.lines[o], fmt.Sprintf("until %d", t))
	return nil
}

// A fork that is fed what its instance is fed yields what its instance yields for the affected outputs, from where it
// began or was extended, and nothing for the others.
func TestForkYieldsWhatItsInstanceDoes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x := newForkRig(r)
		out, tentative := newRecorder(x.plan), newRecorder(x.plan)
		inst := query.NewInstance(x.plan, out)
		order := x.order()
		begin := rapid.IntRange(0, len(order)-1).Draw(r, "fork at")
		extend := rapid.IntRange(begin, len(order)-1).Draw(r, "extend at")
		var fork *query.Fork
		from := make([]int, len(x.plan.Outputs)) // lines of an output before it became affected
		copy(tentative.bounds, out.bounds)
		mark := func(was func(o int) bool) {
			for o := range from {
				if !was(o) && fork.AffectedOutput(o) {
					from[o], tentative.bounds[o] = len(out.lines[o]), out.bounds[o]
				}
			}
		}
		next := make([]int, len(x.plan.Unions))
		for step, u := range order {
			if step == begin {
				fork = inst.ForkAffected(x.someUnions("affected"), tentative)
				mark(func(int) bool { return false })
			}
			if step == extend {
				before := make([]bool, len(from))
				for o := range before {
					before[o] = fork.AffectedOutput(o)
				}
				fork.Extend(x.someUnions("affected later"))
				mark(func(o int) bool { return before[o] })
			}
			require.NoError(r, x.give(inst, x.rows, u, next[u]), x.src)
			if fork != nil && fork.Affected(u) {
				require.NoError(r, x.give(fork, x.rows, u, next[u]), x.src)
			}
			next[u]++
		}
		require.NoError(r, fork.Err())
		for o := range out.lines {
			if !fork.AffectedOutput(o) {
				require.Empty(r, tentative.lines[o])
				continue
			}
			require.Equal(r, strings.Join(out.lines[o][from[o]:], "\n"), strings.Join(tentative.lines[o], "\n"), "output %d of\n%s", o, x.src)
		}
	})
}

// Whatever is done with forks beside it, also what breaks them, an instance gives the same results and the same snapshot
// after every step.
func TestForksDoNotTouchTheInstance(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x := newForkRig(r)
		alone, beside := newRecorder(x.plan), newRecorder(x.plan)
		reference, inst := query.NewInstance(x.plan, alone), query.NewInstance(x.plan, beside)
		next := make([]int, len(x.plan.Unions))
		m := &meddler{forkRig: x, inst: inst}
		for _, u := range x.order() {
			for range rapid.IntRange(0, 4).Draw(r, "meddling") {
				m.meddle(next)
			}
			require.NoError(r, x.give(reference, x.rows, u, next[u]))
			require.NoError(r, x.give(inst, x.rows, u, next[u]), x.src)
			next[u]++
			require.Equal(r, snapshotBytes(reference), snapshotBytes(inst), x.src)
		}
		require.Equal(r, alone.lines, beside.lines, x.src)
	})
}

// meddler makes forks of an instance, feeds them tentative rows, extends, breaks and drops them.
type meddler struct {
	*forkRig
	inst  *query.Instance
	forks []*meddledFork
}

type meddledFork struct {
	*query.Fork
	next []int // by SUnion: the bucket that the fork gets next
}

func (m *meddler) meddle(next []int) {
	if len(m.forks) == 0 || len(m.forks) < 3 && rapid.IntRange(0, 3).Draw(m.r, "new fork") == 0 {
		out := newRecorder(m.plan)
		out.left = rapid.SampledFrom([]int{-1, -1, 0, 1, 3}).Draw(m.r, "batches until it fails")
		f := &meddledFork{Fork: m.inst.ForkAffected(m.someUnions("affected"), out), next: make([]int, len(next))}
		copy(f.next, next)
		m.forks = append(m.forks, f)
		return
	}
	at := rapid.IntRange(0, len(m.forks)-1).Draw(m.r, "fork")
	f := m.forks[at]
	switch rapid.IntRange(0, 9).Draw(m.r, "what") {
	case 0:
		f.Drop()
		require.Error(m.r, f.Err())
		m.forks = append(m.forks[:at], m.forks[at+1:]...)
	case 1:
		for u := range next {
			if !f.Affected(u) {
				f.next[u] = next[u]
			}
		}
		f.Extend(m.someUnions("affected later"))
	default:
		u := rapid.IntRange(0, len(next)-1).Draw(m.r, "fed SUnion")
		if f.Affected(u) && f.next[u] < forkBuckets {
			err := m.give(f, m.tentative, u, f.next[u])
			require.Equal(m.r, f.Err(), err)
			if err != nil {
				require.Equal(m.r, errFull, err)
			}
			f.next[u]++
		}
	}
}

// An instance that gets nothing from some SUnions for a while, and then all of it at once, gives the results and has the
// state of one that got every bucket in its turn.
func TestParkedInstanceCatchesUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x := newForkRig(r)
		want, got := newRecorder(x.plan), newRecorder(x.plan)
		reference, inst := query.NewInstance(x.plan, want), query.NewInstance(x.plan, got)
		held := x.someUnions("held")
		from := rapid.IntRange(0, forkBuckets-2).Draw(r, "held from")
		until := rapid.IntRange(from, forkBuckets-2).Draw(r, "held until")
		for b := range forkBuckets {
			for u := range held {
				require.NoError(r, x.give(reference, x.rows, u, b))
				if !held[u] || b < from || b > until {
					require.NoError(r, x.give(inst, x.rows, u, b), x.src)
				}
			}
			if b != until {
				continue
			}
			for u := range held {
				for late := from; held[u] && late <= until; late++ {
					require.NoError(r, x.give(inst, x.rows, u, late), x.src)
				}
			}
			require.Equal(r, snapshotBytes(reference), snapshotBytes(inst), x.src)
		}
		require.Equal(r, want.rows, got.rows, x.src)
		require.Equal(r, want.bounds, got.bounds, x.src)
	})
}
