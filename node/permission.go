package node

import (
	"slices"
	"strings"

	"fednode/dcaa"
	"fednode/node/descriptor"
	"fednode/node/fragment"
	"fednode/node/p2p"
	"fednode/node/wire"
)

// permission takes a message about permission to redo, if the query's descriptor lets its sender run a replica of the
// fragment; taken says so. A request about a fragment that does not run here now is granted: a replica that has failed, or
// is stopped until a person deploys it again, redoes nothing, and the others would wait for its word for ever.
func (q *queries) permission(p p2p.Peer, m *wire.Permission) (taken bool) {
	from := p.Member.Org + "/" + p.Member.Node
	r, member := q.replicaOf(m.Fragment, host{p.Member.Org, p.Member.Node})
	if !member {
		return false
	}
	msg := dcaa.PermissionMessage{Kind: dcaa.PermissionRequest, Asker: m.Asker, AskerIncarnation: m.AskerIncarnation, Number: m.Number, Missed: m.Missed}
	if m.Granted {
		msg.Kind = dcaa.PermissionYes
	}
	switch {
	case r != nil:
		r.Permission(from, msg)
	case !m.Granted && m.Asker == from:
		msg.Kind = dcaa.PermissionYes
		q.n.tell(from, m.Fragment, msg)
	}
	return true
}

// replicaOf returns the runner of a fragment, "org/query/fragment", nil if none runs here now, and whether a node is among
// those that the query's descriptor lets run it.
func (q *queries) replicaOf(name string, at host) (r *fragment.Runner, member bool) {
	owner, rest, _ := strings.Cut(name, "/")
	query, f, _ := strings.Cut(rest, "/")
	id := descriptor.ID(owner, query)
	q.mu.Lock()
	d := q.running[id]
	q.mu.Unlock()
	if d != nil {
		return d.runner(f), slices.Contains(d.hosts[f], at)
	}
	v, ok := q.book.Get(id)
	return nil, ok && slices.Contains(hostsOf(v)[f], at)
}

// runner returns what runs of a fragment here now, nil if nothing does.
func (d *deployment) runner(name string) *fragment.Runner {
	d.mu.Lock()
	s := d.fragments[name]
	d.mu.Unlock()
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runner
}
