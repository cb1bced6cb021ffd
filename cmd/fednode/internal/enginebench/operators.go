package enginebench

import (
	"fmt"

	"fednode/query/op"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// Operators builds the operators of a query and joins them by hand: each calls the next, and nothing lies between.
func Operators(q Query, schema *tuple.Schema, sink func(*tuple.Batch) error) (Engine, error) {
	var problems spec.Problems
	root := spec.ParseTOML(q.Name, []byte(q.Text), nil, &problems)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	c := &chain{nodes: map[string]*node{"conns": {schema: schema}}}
	c.source = c.nodes["conns"]
	var last *node
	for _, e := range spec.Read(root, &problems).Table("operators", true).Entries {
		n, err := c.build(e, &problems)
		if err != nil {
			return nil, err
		}
		last = n
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	last.sink = sink
	return c, nil
}

// chain is an Engine of operators.
type chain struct {
	nodes  map[string]*node
	source *node
}

// node is an operator and where its output goes.
type node struct {
	schema *tuple.Schema
	op     op.Operator
	next   []edge
	sink   func(*tuple.Batch) error
	passed tuple.Time
}

type edge struct {
	to   *node
	port int
}

func (c *chain) build(e *spec.Entry, problems *spec.Problems) (*node, error) {
	r := spec.Read(e.Value.Table, problems)
	kind, ok := op.ByName(r.String("kind", ""))
	if !ok {
		return nil, fmt.Errorf("enginebench: no operator kind %q", r.String("kind", ""))
	}
	keys := []string{"input"}
	if kind.TwoSided {
		keys = []string{"left", "right"}
	}
	n := &node{passed: tuple.MinTime}
	var inputs []op.Input
	for port, key := range keys {
		name := r.String(key, "")
		from := c.nodes[name]
		if from == nil {
			return nil, fmt.Errorf("enginebench: operator %s: no input %q", e.Key, name)
		}
		inputs = append(inputs, op.Input{Name: name, Schema: from.schema})
		from.next = append(from.next, edge{to: n, port: port})
	}
	plan := kind.Build(r, inputs)
	if plan == nil {
		return nil, fmt.Errorf("enginebench: operator %s: %w", e.Key, problems.Err())
	}
	n.schema, n.op = plan.Ports[0].Schema, plan.New()
	c.nodes[e.Key] = n
	return n, nil
}

// Batch hands a batch to the operators that read conns.
func (c *chain) Batch(b *tuple.Batch) error { return c.source.Batch(0, b) }

// Boundary hands a boundary to them.
func (c *chain) Boundary(t tuple.Time) error { return c.source.boundary(t) }

// Batch passes on what the operator of the node emits.
func (n *node) Batch(_ int, b *tuple.Batch) error {
	if n.sink != nil {
		return n.sink(b)
	}
	for _, e := range n.next {
		if err := e.to.op.Process(e.port, b, e.to); err != nil {
			return err
		}
	}
	return nil
}

func (n *node) boundary(t tuple.Time) error {
	for _, e := range n.next {
		passed, err := e.to.op.Boundary(e.port, t, e.to)
		if err != nil {
			return err
		}
		if passed > e.to.passed {
			e.to.passed = passed
			if err := e.to.boundary(passed); err != nil {
				return err
			}
		}
	}
	return nil
}

// Forked is Operators with a fork of every operator made each hundred batches and kept until the next: what runs on shares
// its state with a fork all the time.
func Forked(q Query, schema *tuple.Schema, sink func(*tuple.Batch) error) (Engine, error) {
	e, err := Operators(q, schema, sink)
	if err != nil {
		return nil, err
	}
	return &forked{chain: e.(*chain)}, nil
}

type forked struct {
	*chain
	batches int
	kept    []op.Operator
}

func (f *forked) Batch(b *tuple.Batch) error {
	if f.batches++; f.batches%100 == 0 {
		f.kept = f.fork()
	}
	return f.chain.Batch(b)
}

// fork replaces every operator by its fork and returns the originals.
func (c *chain) fork() []op.Operator {
	var kept []op.Operator
	for _, n := range c.nodes {
		if n.op != nil {
			kept = append(kept, n.op)
			n.op = n.op.Fork()
		}
	}
	return kept
}
