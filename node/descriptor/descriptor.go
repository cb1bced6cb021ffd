package descriptor

import (
	"slices"

	"fednode/node/trust"
	"fednode/node/wire"
	"fednode/query"
)

// State is what the owner wants of a query.
type State string

// The states.
const (
	Running State = "running"
	Stopped State = "stopped"
)

// Descriptor is a deployed query.
type Descriptor struct {
	Query string // its name, as in the file
	Org   string // the owner
	// Term counts takeovers by another node, Epoch the revisions within a term; both from 1.
	Term  uint64
	Epoch uint64
	// Writer is the peer id of the node that wrote this revision.
	Writer string
	// Semantics is the version of what operators and functions mean, the diagram's.
	Semantics int
	State     State
	// Diagram is the canonical form of the query file (query.Diagram.Canonical), DiagramHash its SHA-256.
	Diagram     []byte
	DiagramHash wire.Hash
	// Home is the owner's node: what the diagram leaves without a place is there.
	Home query.Place
	// Assignments say who runs each fragment, one for each replica; no fragment is without. They may differ from the
	// places in the plan: moving a fragment does not change the diagram.
	Assignments []Assignment
	// Streams say which node sends a source stream, where the owner knows.
	Streams []StreamOrigin
	Created trust.Time // when the query was first deployed
}

// Assignment is a replica of a fragment.
type Assignment struct {
	Fragment string
	Org      string
	Node     string
	Peer     string // peer id of the node
}

// StreamOrigin is where a source stream comes from.
type StreamOrigin struct {
	Stream string // its name in the federation, as in query.FragmentInput
	Org    string
	Node   string
	Peer   string // peer id of the node
}

// ID returns "organisation/query", the query's name in the federation.
func (d *Descriptor) ID() string { return ID(d.Org, d.Query) }

// ID returns the name of an organisation's query in the federation.
func ID(org, query string) string { return org + "/" + query }

// Replicas returns the assignments of a fragment, in order of organisation, node and peer.
func (d *Descriptor) Replicas(fragment string) []Assignment {
	var out []Assignment
	for _, a := range d.Assignments {
		if a.Fragment == fragment {
			out = append(out, a)
		}
	}
	return out
}

// AssignedTo returns the fragments that a peer is to run, in order of name.
func (d *Descriptor) AssignedTo(peer string) []string {
	var out []string
	for _, a := range d.Assignments {
		if a.Peer == peer {
			out = append(out, a.Fragment)
		}
	}
	return out
}

// Origin returns where a source stream comes from; ok is false if the owner did not say.
func (d *Descriptor) Origin(stream string) (origin StreamOrigin, ok bool) {
	i := slices.IndexFunc(d.Streams, func(s StreamOrigin) bool { return s.Stream == stream })
	if i < 0 {
		return StreamOrigin{}, false
	}
	return d.Streams[i], true
}

// Concerns reports whether an organisation owns the query, runs a part of it or sends a stream to it. Others have no
// business with the descriptor.
func (d *Descriptor) Concerns(org string) bool {
	return d.Org == org ||
		slices.ContainsFunc(d.Assignments, func(a Assignment) bool { return a.Org == org }) ||
		slices.ContainsFunc(d.Streams, func(s StreamOrigin) bool { return s.Org == org })
}
