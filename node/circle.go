package node

import (
	"strings"

	"fednode/node/descriptor"
	"fednode/query"
	"fednode/query/spec"
)

// refuseCircle refuses a query that would read its own results, by itself or through other queries that run: a result
// would wait for a boundary that waits for the result, for ever, while the sources keep everything.
func (n *Node) refuseCircle(d *query.Diagram) error {
	self := descriptor.ID(n.cfg.Node.Org, d.Settings.Name)
	reads := n.queries.reads()
	p := &spec.Problems{}
	for _, s := range d.Streams {
		if way := wayBack(reads, madeBy(s.Foreign), self); way != nil {
			way = append([]string{self}, way...)
			p.Add(s.Keys.PosOf("stream"), s.Keys.KeyPath("stream"), "read the streams that the others are made from",
				"the query would wait for its own results: %s", strings.Join(way, " reads "))
		}
	}
	return p.Err()
}

// reads returns, of every query known to run, the queries whose results it reads, by id.
func (q *queries) reads() map[string][]string {
	out := make(map[string][]string)
	for _, v := range q.book.All() {
		if v.State != descriptor.Running {
			continue
		}
		plan, err := v.Plan()
		if err != nil {
			continue // it does not run here, and its status says why
		}
		for _, s := range plan.Diagram.Streams {
			if id := madeBy(s.Foreign); id != "" {
				out[v.ID()] = append(out[v.ID()], id)
			}
		}
	}
	return out
}

// madeBy returns the id of the query whose result a stream is, "" if it is none: org/query/output.
func madeBy(stream string) string {
	if strings.Count(stream, "/") != 2 {
		return ""
	}
	return stream[:strings.LastIndexByte(stream, '/')]
}

// wayBack returns the queries from one to another, each reading the next, both included; nil if there is no such way.
func wayBack(reads map[string][]string, from, to string) []string {
	visited := make(map[string]bool)
	var walk func(id string) []string
	walk = func(id string) []string {
		if id == to {
			return []string{id}
		}
		if visited[id] {
			return nil
		}
		visited[id] = true
		for _, next := range reads[id] {
			if way := walk(next); way != nil {
				return append([]string{id}, way...)
			}
		}
		return nil
	}
	if from == "" {
		return nil
	}
	return walk(from)
}
