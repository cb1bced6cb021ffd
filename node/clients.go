package node

import (
	"fmt"
	"slices"
	"strings"

	"fednode/dcaa"
	"fednode/node/api"
	"fednode/node/client"
	"fednode/node/connect"
	"fednode/query/tuple"
)

// upstream is where a client of this node has a stream from; settings are those of the query that makes it.
func (n *Node) upstream(stream string, settings dcaa.Settings) client.Upstream {
	return client.Upstream{
		Stream: stream, Producers: n.streams.producersOf(stream, n.name()), Self: n.name(), Settings: settings,
		Network: fragmentNetwork{n: n, org: n.cfg.Node.Org}, Clock: connect.SystemClock{}, Log: n.log,
	}
}

// producersOf returns who gives a stream, as far as it is known here: the nodes of the fragment that makes it, this node, or
// whichever node of the organisation whose name it carries.
func (s *streams) producersOf(stream, self string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, p := range s.routes[stream] {
		node := p.Node
		if node == "" {
			node = anyNode
		}
		out = append(out, p.Org+"/"+node)
	}
	if out != nil {
		return out
	}
	if _, here := s.here[stream]; here {
		return []string{self}
	}
	org, _, _ := strings.Cut(stream, "/")
	return []string{org + "/" + anyNode}
}

// settingsOf returns the availability of the query that makes a stream, as far as it is known here.
func (q *queries) settingsOf(stream string) dcaa.Settings {
	q.mu.Lock()
	d := q.running[queryOfStream(stream)]
	q.mu.Unlock()
	if d != nil {
		return d.availability()
	}
	s := dcaa.DefaultSettings()
	s.Heartbeat, s.Miss = q.n.cfg.Availability.Heartbeat.Microseconds(), q.n.cfg.Availability.Miss
	return s
}

// tail follows a stream for somebody who counts for nothing.
func (n *Node) tail(stream string, from api.TailFrom) (*client.Subscription, error) {
	if err := n.queries.madeIn(stream); err != nil {
		return nil, err
	}
	up := n.upstream(stream, n.queries.settingsOf(stream))
	if n.streams.Find(stream) == nil && !n.streams.offered(up.Producers) {
		return nil, fmt.Errorf("%w: no stream %s here, nor at a node that is up; see fednode status", api.ErrNotFound, stream)
	}
	at := tuple.Position{Time: tuple.MinTime} // the boundary there is worth telling
	for _, producer := range up.Producers {
		news := n.watchers.newsOf(n.streams, producer)
		if s, ok := news.Of(stream); ok && s.LastID >= at.ID {
			at.Generation, at.ID = s.Generation, s.LastID
		}
	}
	switch {
	case from.After.ID > 0:
		at.ID, at.Generation = from.After.ID, from.After.Generation
	case from.Beginning:
		at.ID, at.Generation = 0, 0
	}
	n.mu.Lock()
	n.tails++
	name := fmt.Sprintf("%s/tail/%d-%d", n.name(), n.started.UnixNano(), n.tails)
	n.mu.Unlock()
	return client.Subscribe(client.Request{Upstream: up, Name: name, From: at, Latest: from.Latest}), nil
}

// madeIn fails if a stream has the name of an output, org/query/output, of a query that runs here and makes no such one.
func (q *queries) madeIn(stream string) error {
	if strings.Count(stream, "/") != 2 {
		return nil
	}
	q.mu.Lock()
	d := q.running[queryOfStream(stream)]
	q.mu.Unlock()
	if d == nil || q.n.streams.Find(stream) != nil {
		return nil
	}
	var made []string
	for _, f := range d.plan.Fragments {
		for _, o := range f.Outputs {
			made = append(made, o.Stream)
		}
	}
	for _, o := range d.plan.Outputs {
		made = append(made, o.Stream)
	}
	slices.Sort(made)
	if made = slices.Compact(made); slices.Contains(made, stream) {
		return nil
	}
	return fmt.Errorf("%w: query %s makes no stream %s; it makes %s", api.ErrNotFound, d.query, stream, strings.Join(made, ", "))
}

// offered reports whether another node that is up may give a stream.
func (s *streams) offered(producers []string) bool {
	return slices.ContainsFunc(producers, func(p string) bool { return len(s.named(p)) > 0 })
}
