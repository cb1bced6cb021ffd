package query_test

import (
	"fmt"

	"fednode/query"
	"fednode/query/tuple"
)

// A query file becomes a diagram, the diagram a plan, and a fragment of the plan an instance that batches are pushed
// through. What the SUnions would do stands here in two calls.
func Example() {
	const file = `
[query]
name = "hello"
[streams.numbers]
connector = "file"
path = "numbers.csv"
columns = { n = "int64" }
[operators.large]
kind = "filter"
input = "numbers"
where = "n > 10"
[outputs.large]
input = "large"
connector = "file"
path = "large.csv"
`
	diagram, problems := query.Parse("hello.toml", []byte(file), query.Options{})
	if diagram == nil {
		fmt.Println(problems.Err())
		return
	}
	plan := query.NewPlan(diagram, query.Placement{}, problems)
	fragment := plan.Fragments[0]
	instance := query.NewInstance(fragment, printer{fragment})

	rows := tuple.NewBatchBuilder(fragment.Inputs[0].Schema)
	for i, n := range []int64{7, 11, 10, 100} {
		rows.AppendInt(0, n)
		rows.EndRow(tuple.Time(i) * tuple.Time(tuple.Second))
	}
	if err := instance.Process(0, rows.Take()); err != nil {
		fmt.Println(err)
	}
	if err := instance.Boundary(0, tuple.MaxTime); err != nil {
		fmt.Println(err)
	}
	// Output:
	// hello/large: 11
	// hello/large: 100
	// hello/large: until +inf
}

// printer is an Out that prints rows of one column.
type printer struct{ plan *query.FragmentPlan }

func (p printer) Batch(output int, b *tuple.Batch) error {
	for i := range b.Rows() {
		fmt.Printf("%s: %s\n", p.plan.Outputs[output].Stream, b.Cols[0].AppendText(nil, b.Row(i)))
	}
	return nil
}

func (p printer) Boundary(output int, t tuple.Time) error {
	fmt.Printf("%s: until %v\n", p.plan.Outputs[output].Stream, t)
	return nil
}
