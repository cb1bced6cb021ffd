package enginebench

import "fednode/query/tuple"

// Query is one query of the benchmark.
type Query struct {
	Name string
	// Text is the operators of the diagram as in a query file; the input is conns, the output the last operator.
	Text  string
	plain func(*Data, *Rows)
}

// Engine runs a query over batches in order. Batch takes a batch in, which stays the caller's; Boundary says that no
// later record has a smaller stime, tuple.MaxTime that none comes.
type Engine interface {
	Batch(b *tuple.Batch) error
	Boundary(t tuple.Time) error
}

// Build makes an engine whose results go to sink, which keeps nothing of a batch.
type Build func(q Query, schema *tuple.Schema, sink func(*tuple.Batch) error) (Engine, error)

// Queries returns the queries that the targets are stated for.
func Queries() []Query {
	const (
		volume = `
			[operators.volume]
			kind = "aggregate"
			input = "conns"
			window = { tumbling = "60s" }
			group_by = ["src"]
			aggregates = { conns = "count()", bytes = "sum(bytes)" }
			having = "conns > 100"
			`
		ports = `
			[operators.ports]
			kind = "aggregate"
			input = "conns"
			window = { tumbling = "60s" }
			group_by = ["src"]
			aggregates = { ports = "count_distinct(dport)" }
			having = "ports > 10"
			`
	)
	return []Query{
		{Name: "Q1", plain: plainFilter, Text: `
			[operators.low]
			kind = "filter"
			input = "conns"
			where = "dport < 1024 and bytes > 1000"
			[operators.bits]
			kind = "map"
			input = "low"
			columns = { src = "src", dst = "dst", bits = "bytes * 8" }
			`},
		{Name: "Q2", plain: plainVolume, Text: volume},
		{Name: "Q3", plain: plainPorts, Text: ports},
		{Name: "Q4", plain: plainJoin, Text: volume + ports + `
			[operators.suspects]
			kind = "join"
			left = "volume"
			right = "ports"
			on = ["src"]
			window = "same"
			`},
	}
}
