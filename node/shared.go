package node

import (
	"slices"
	"strings"
)

// Shared returns the streams of which a node is told how they fare although it may not subscribe to them.
func (s *streams) Shared(org, node string) []string { return s.shared(host{org, node}) }

// Version changes with what is produced here and with the queries that run.
func (s *streams) Version() uint64 { return s.version.Load() }

// shared returns the streams that concern a node by the queries that run here, without repeats.
func (q *queries) shared(to host) []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	var out []string
	for _, d := range q.running {
		out = append(out, d.concerning(to)...)
	}
	slices.SortFunc(out, strings.Compare)
	return slices.Compact(out)
}

// replicas returns the names under which the replicas of fragments of the queries that run here are known upstream.
func (q *queries) replicas() map[string]bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make(map[string]bool)
	for _, d := range q.running {
		for _, f := range d.plan.Fragments {
			for _, name := range d.subscribers(f.Name) {
				out[name] = true
			}
		}
	}
	return out
}

// concerning returns the streams of the query of which a node has to know how they fare here: what its fragments read, for
// it may have to take it from us; what other replicas of its fragments make, for they redo one after the other; and the
// outputs, if the sinks are there.
func (d *deployment) concerning(to host) []string {
	var out []string
	for _, f := range d.plan.Fragments {
		if !slices.Contains(d.hosts[f.Name], to) {
			continue
		}
		for _, in := range f.Inputs {
			out = append(out, in.Stream)
		}
		for _, o := range f.Outputs {
			out = append(out, o.Stream)
		}
	}
	if d.owner == to.Org && d.home.Node == to.Node {
		for _, o := range d.plan.Outputs {
			out = append(out, o.Stream)
		}
	}
	return out
}
