package topology

import (
	"fmt"

	"fednode/query"
	"fednode/query/tuple"
	"fednode/testnet/sim/world"
)

// Topology is a spec made concrete: nodes, streams and plans, all numbered.
type Topology struct {
	Spec Spec
	// Queries are the texts of the queries, in the order in which they read from each other.
	Queries []string
	// Fragments are those of all queries, in topological order. Depth is the most SUnions that a row passes.
	Fragments []*query.FragmentPlan
	Depth     int
	Nodes     []Node
	// Streams by number: first those of the sources, then the outputs of fragments.
	Streams []Stream
	// Output is the stream that the client reads.
	Output int32
	// Schema of the sources.
	Schema *tuple.Schema
}

// Role says what a node runs.
type Role uint8

// The roles.
const (
	Source Role = iota
	Replica
	Client
)

// Node is one machine.
type Node struct {
	Name string
	Role Role
	// Index counts the sources, or is the index of the fragment in Fragments; Replica is its number among those of
	// the fragment.
	Index   int
	Replica int
	// Peers are the nodes that it talks to, in order.
	Peers []world.NodeID
}

// Stream is one stream of the federation.
type Stream struct {
	Name string
	// Fragment indexes Fragments, -1 for the stream of a source, whose index Source then is.
	Fragment int
	Source   int
	// Output is the index in FragmentPlan.Outputs.
	Output int
	// Producers serve it, Readers subscribe to it.
	Producers []world.NodeID
	Readers   []world.NodeID
}

// Build checks a spec and makes its federation. The same spec gives the same numbers.
func Build(s Spec) (*Topology, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	t := &Topology{Spec: s, Queries: queryTexts(&s)}
	output := ""
	for _, text := range t.Queries {
		plan, err := planOf(text)
		if err != nil {
			return nil, err
		}
		t.Fragments = append(t.Fragments, plan.Fragments...)
		t.Depth += plan.Depth
		output = plan.Outputs[0].Stream
	}
	t.addNodes()
	if err := t.addStreams(output); err != nil {
		return nil, err
	}
	t.connect()
	return t, nil
}

// planOf plans one query, which is given to a node of its own.
func planOf(text string) (*query.Plan, error) {
	home := query.Placement{Home: query.Place{Org: Org, Node: "home"}}
	d, problems := query.Parse("simulated.toml", []byte(text), query.Options{Placement: home})
	if d == nil {
		return nil, fmt.Errorf("the query of the simulation: %w", problems.Err())
	}
	plan := query.NewPlan(d, home, problems)
	if plan == nil {
		return nil, fmt.Errorf("the query of the simulation: %w", problems.Err())
	}
	return plan, nil
}

func (t *Topology) addNodes() {
	for i := range t.Spec.Sources {
		t.Nodes = append(t.Nodes, Node{Name: SourceName(i), Role: Source, Index: i})
	}
	for i, f := range t.Fragments {
		for r := range t.Spec.Replicas {
			t.Nodes = append(t.Nodes, Node{Name: fmt.Sprintf("%s.%d", f.Name, r), Role: Replica, Index: i, Replica: r})
		}
	}
	t.Nodes = append(t.Nodes, Node{Name: "client", Role: Client})
}

// addStreams adds those of the sources and of the fragments; the client reads output.
func (t *Topology) addStreams(output string) error {
	for i := range t.Spec.Sources {
		t.Streams = append(t.Streams, Stream{Name: Org + "/" + SourceName(i), Fragment: -1, Source: i, Producers: []world.NodeID{world.NodeID(i)}})
	}
	for i, f := range t.Fragments {
		for o := range f.Outputs {
			t.Streams = append(t.Streams, Stream{Name: f.Outputs[o].Stream, Fragment: i, Source: -1, Output: o, Producers: t.ReplicasOf(i)})
		}
	}
	for i, f := range t.Fragments {
		for _, in := range f.Inputs {
			n := t.Stream(in.Stream)
			if n < 0 {
				return fmt.Errorf("the query of the simulation: fragment %s reads %s, which nobody produces", f.Name, in.Stream)
			}
			t.Streams[n].Readers = append(t.Streams[n].Readers, t.ReplicasOf(i)...)
			if t.Streams[n].Source >= 0 {
				t.Schema = in.Schema
			}
		}
	}
	if t.Output = t.Stream(output); t.Output < 0 {
		return fmt.Errorf("the query of the simulation: nobody produces %s", output)
	}
	out := &t.Streams[t.Output]
	out.Readers = append(out.Readers, t.Client())
	return nil
}

// connect finds who talks to whom: producers with readers, and the replicas of a fragment with each other.
func (t *Topology) connect() {
	n := len(t.Nodes)
	talk := make([]bool, n*n)
	join := func(a, b world.NodeID) {
		if a != b {
			talk[int(a)*n+int(b)], talk[int(b)*n+int(a)] = true, true
		}
	}
	for _, s := range t.Streams {
		for _, p := range s.Producers {
			for _, r := range s.Readers {
				join(p, r)
			}
		}
	}
	for i := range t.Fragments {
		for _, a := range t.ReplicasOf(i) {
			for _, b := range t.ReplicasOf(i) {
				join(a, b)
			}
		}
	}
	for a := range n {
		for b := range n {
			if talk[a*n+b] {
				t.Nodes[a].Peers = append(t.Nodes[a].Peers, world.NodeID(b))
			}
		}
	}
}

// Stream returns the number of a stream, -1 if there is none of that name.
func (t *Topology) Stream(name string) int32 {
	for i := range t.Streams {
		if t.Streams[i].Name == name {
			return int32(i)
		}
	}
	return -1
}

// ReplicasOf returns the nodes that run a fragment.
func (t *Topology) ReplicasOf(fragment int) []world.NodeID {
	list := make([]world.NodeID, t.Spec.Replicas)
	for r := range list {
		list[r] = world.NodeID(t.Spec.Sources + fragment*t.Spec.Replicas + r)
	}
	return list
}

// Client returns the node of the client.
func (t *Topology) Client() world.NodeID { return world.NodeID(len(t.Nodes) - 1) }

// Node returns the number of a node, -1 if there is none of that name.
func (t *Topology) Node(name string) world.NodeID {
	for i := range t.Nodes {
		if t.Nodes[i].Name == name {
			return world.NodeID(i)
		}
	}
	return -1
}

// Fragment returns the plan of the fragment that a node runs.
func (t *Topology) Fragment(id world.NodeID) *query.FragmentPlan {
	return t.Fragments[t.Nodes[id].Index]
}

// Between reports whether a fragment reads a stream that another query gives.
func (t *Topology) Between(fragment int, stream int32) bool {
	s := &t.Streams[stream]
	return s.Fragment >= 0 && t.Fragments[s.Fragment].Query != t.Fragments[fragment].Query
}
