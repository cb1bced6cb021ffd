package query

import (
	"fednode/query/op"
	"fednode/query/tuple"
)

// Status is a copy of what an instance is doing, for the status page and for checks.
type Status struct {
	Query     string
	Fragment  string
	Operators []OperatorStatus
	Unions    []UnionStatus
	// Err is why the instance is spent, nil while it runs.
	Err error
}

// OperatorStatus is one operator's part of a Status.
type OperatorStatus struct {
	Name       string
	Kind       string
	Counters   op.Counters
	StateBytes int64
	// Boundary: no later result has a smaller stime. Lag is how far the highest boundary among the fragment's SUnions is
	// ahead of it, in microseconds; 0 while there is nothing to compare.
	Boundary tuple.Time
	Lag      int64
	// HeldBy names the input whose boundary is lowest, "" while all are equal.
	HeldBy string
}

// UnionStatus is one SUnion's part of a Status.
type UnionStatus struct {
	Name     string
	Boundary tuple.Time
}

// Status returns the present state of the instance.
func (i *Instance) Status() Status {
	s := Status{Query: i.side.plan.Query, Fragment: i.side.plan.Name, Err: i.err}
	front := tuple.MinTime
	for u := range i.unions {
		s.Unions = append(s.Unions, UnionStatus{Name: i.side.plan.unionName(u), Boundary: i.unions[u].boundary})
		front = max(front, i.unions[u].boundary)
	}
	for n := range i.nodes {
		nd := &i.nodes[n]
		s.Operators = append(s.Operators, OperatorStatus{
			Name: nd.plan.Name, Kind: nd.plan.Plan.Kind, Counters: nd.op.Counters(), StateBytes: nd.op.StateBytes(),
			Boundary: nd.boundary, Lag: lag(front, nd.boundary), HeldBy: nd.heldBy(),
		})
	}
	return s
}

// lag returns the microseconds from one boundary to another, 0 where either is an end of time.
func lag(front, t tuple.Time) int64 {
	if front == tuple.MinTime || front == tuple.MaxTime || t == tuple.MinTime || t >= front {
		return 0
	}
	return int64(front - t)
}

// heldBy names the input that holds the operator back.
func (n *node) heldBy() string {
	if len(n.bounds) == 0 {
		return ""
	}
	low, high := 0, 0
	for i, t := range n.bounds {
		if t < n.bounds[low] {
			low = i
		}
		if t > n.bounds[high] {
			high = i
		}
	}
	if n.bounds[low] == n.bounds[high] {
		return ""
	}
	return n.plan.Inputs[low]
}
