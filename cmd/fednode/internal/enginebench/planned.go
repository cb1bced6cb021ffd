package enginebench

import (
	"fmt"
	"strings"

	"fednode/query"
	"fednode/query/tuple"
	"fednode/sunion"
)

// Planned builds an engine as a node does: from the text of a query file, planned into one fragment.
func Planned(q Query, _ *tuple.Schema, sink func(*tuple.Batch) error) (Engine, error) {
	f, err := planned(q, 1)
	if err != nil {
		return nil, err
	}
	return &fragment{inst: query.NewInstance(f, output{sink})}, nil
}

// Beside is Planned with a fork made each hundred batches and kept until the next, as a redo would: what runs on shares
// its state with a fork all the time.
func Beside(q Query, schema *tuple.Schema, sink func(*tuple.Batch) error) (Engine, error) {
	e, err := Planned(q, schema, sink)
	if err != nil {
		return nil, err
	}
	return &besideFork{fragment: e.(*fragment), sink: sink}, nil
}

// Behind is Planned with what a node puts around a fragment: an SUnion that merges the parts of split records, and an
// SOutput that numbers the results.
func Behind(q Query, _ *tuple.Schema, sink func(*tuple.Batch) error) (Engine, error) {
	f, err := planned(q, parts)
	if err != nil {
		return nil, err
	}
	u := f.Unions[0]
	s, err := sunion.New(sunion.Config{Schema: u.Schema, Inputs: len(u.Inputs), Bucket: f.Bucket, Unordered: u.Unordered})
	if err != nil {
		return nil, err
	}
	numbers := sunion.NewSOutput(1)
	numbered := func(b *tuple.Batch) error {
		if frame := numbers.Batch(b); frame != nil {
			return sink(frame.Batch)
		}
		return nil
	}
	return &merged{inst: query.NewInstance(f, output{numbered}), union: s, ids: make([]uint64, parts)}, nil
}

// planned returns the one fragment of a query whose records come as so many streams.
func planned(q Query, streams int) (*query.FragmentPlan, error) {
	d, problems := query.Parse(q.Name, []byte(queryFile(q, streams)), query.Options{})
	if err := problems.Err(); err != nil {
		return nil, err
	}
	plan := query.NewPlan(d, query.Placement{Local: true}, problems)
	if len(plan.Fragments) != 1 || len(plan.Fragments[0].Unions) != 1 {
		return nil, fmt.Errorf("enginebench: %s is not one fragment with one SUnion", q.Name)
	}
	return plan.Fragments[0], nil
}

// queryFile is a query file around the operators.
func queryFile(q Query, streams int) string {
	const columns = "connector = \"file\"\ncolumns = { src = \"string\", dst = \"string\", dport = \"int64\", bytes = \"int64\" }\n"
	var b strings.Builder
	b.WriteString("[query]\nname = \"bench\"\n")
	if streams == 1 {
		b.WriteString("[streams.conns]\n" + columns)
	} else {
		var names []string
		for i := range streams {
			names = append(names, fmt.Sprintf("%q", fmt.Sprintf("part%d", i)))
			fmt.Fprintf(&b, "[streams.part%d]\n%s", i, columns)
		}
		fmt.Fprintf(&b, "[operators.conns]\nkind = \"union\"\ninputs = [%s]\n", strings.Join(names, ", "))
	}
	_, last, _ := strings.Cut(q.Text[strings.LastIndex(q.Text, "[operators."):], ".")
	last, _, _ = strings.Cut(last, "]")
	fmt.Fprintf(&b, "%s\n[outputs.out]\nconnector = \"file\"\ninput = %q\n", q.Text, last)
	return b.String()
}

// output takes the results of an instance.
type output struct {
	sink func(*tuple.Batch) error
}

func (o output) Batch(_ int, b *tuple.Batch) error { return o.sink(b) }
func (output) Boundary(int, tuple.Time) error      { return nil }

// fragment is a query.Instance without anything before or behind it.
type fragment struct{ inst *query.Instance }

func (f *fragment) Batch(b *tuple.Batch) error  { return f.inst.Process(0, b) }
func (f *fragment) Boundary(t tuple.Time) error { return f.inst.Boundary(0, t) }

type besideFork struct {
	*fragment
	sink    func(*tuple.Batch) error
	batches int
	kept    *query.Instance
}

func (f *besideFork) Batch(b *tuple.Batch) error {
	if f.batches++; f.batches%100 == 0 {
		f.kept, f.inst = f.inst, f.inst.Fork(output{f.sink})
	}
	return f.fragment.Batch(b)
}

// merged is an instance behind an SUnion. Its batches are the parts in turn.
type merged struct {
	inst  *query.Instance
	union *sunion.SUnion
	ids   []uint64 // last id of each part
	next  int      // part whose batch comes next
}

func (m *merged) Batch(b *tuple.Batch) error {
	n := uint64(b.Rows())
	first := m.ids[m.next] + 1
	m.ids[m.next] += n
	return m.union.Insert(m.next, &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: first, LastID: m.ids[m.next], Batch: b})
}

// Boundary ends the part whose batch has just come, or with tuple.MaxTime all.
func (m *merged) Boundary(t tuple.Time) error {
	if t == tuple.MaxTime {
		for part := range m.ids {
			m.union.Boundary(part, t)
		}
	} else {
		m.union.Boundary(m.next, t)
		m.next = (m.next + 1) % len(m.ids)
	}
	to := m.union.Stable()
	if to <= m.union.Released() {
		return nil
	}
	if err := m.union.Release(to, func(b *tuple.Batch) error { return m.inst.Process(0, b) }); err != nil {
		return err
	}
	return m.inst.Boundary(0, to)
}
