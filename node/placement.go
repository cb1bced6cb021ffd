package node

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"

	"fednode/node/api"
	"fednode/node/descriptor"
	"fednode/query"
)

// candidate is a node that is up and may be where a fragment is placed.
type candidate struct {
	host
	peer peer.ID
	// labels are nil if they are not known here: partners' nodes tell none.
	labels map[string]string
}

// candidates returns the nodes of an organisation that are up, this one first, the others by name.
func (n *Node) candidates(org string) []candidate {
	labels := make(map[peer.ID]map[string]string)
	if org == n.cfg.Node.Org {
		for _, m := range n.members.Members() {
			labels[m.Peer] = m.Labels
		}
	}
	var out []candidate
	for id, h := range n.streams.up(org) {
		out = append(out, candidate{host: h, peer: id, labels: labels[id]})
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), strings.Compare(string(a.peer), string(b.peer)))
	})
	if org == n.cfg.Node.Org {
		self := candidate{host: n.self(), peer: n.host.ID(), labels: n.cfg.Node.Labels}
		if self.labels == nil {
			self.labels = map[string]string{}
		}
		out = slices.Insert(out, 0, self)
	}
	return slices.CompactFunc(out, func(a, b candidate) bool { return a.host == b.host })
}

// placement is the choice of the nodes for one fragment.
type placement struct {
	fragment string
	replicas int
	place    query.Place
	wanted   map[string]string // labels of place
	// unknown are nodes that cannot be chosen by labels, since theirs are not known here.
	unknown []string
	fit     []candidate
}

// newPlacement says which nodes fit a fragment's place. A declared fragment whose place names no node may be at any node of
// the organisation as soon as it has several replicas.
func newPlacement(l *loadedQuery, f *query.FragmentPlan, all func(org string) []candidate) *placement {
	p := &placement{fragment: f.Name, replicas: f.Replicas, place: f.Place}
	for _, declared := range l.diagram.Fragments {
		if f.Declared && declared.Name == f.Name && f.Replicas > 1 && declared.Place.Node == "" {
			p.place.Node, p.place.Labels = "", declared.Place.Labels
		}
	}
	p.wanted = p.place.LabelMap()
	for _, c := range all(p.place.Org) {
		switch {
		case p.place.Node != "" && c.Node != p.place.Node:
		case len(p.wanted) > 0 && c.labels == nil:
			p.unknown = append(p.unknown, c.Node)
		case has(c.labels, p.wanted):
			p.fit = append(p.fit, c)
		}
	}
	return p
}

func has(labels, wanted map[string]string) bool {
	for k, v := range wanted {
		if labels[k] != v {
			return false
		}
	}
	return true
}

// refusal says why there are too few nodes.
func (p *placement) refusal() error {
	why := "no such node is up; see fednode peers, and trust and dial the organisation first"
	if len(p.fit) > 0 {
		var names []string
		for _, c := range p.fit {
			names = append(names, c.Node)
		}
		why = fmt.Sprintf("%d replicas are wanted, each at another node, and only %d there are up: %s; start more nodes or lower replicas", p.replicas, len(p.fit), strings.Join(names, ", "))
	}
	if len(p.unknown) > 0 {
		why += fmt.Sprintf(" (the labels of %s are not known here, so they cannot be chosen by labels: place the fragment by node = \"…\" instead)", strings.Join(p.unknown, ", "))
	}
	return &api.RefusedError{Who: p.place.String(), What: "fragment " + p.fragment, Why: why}
}

// choose picks the nodes: first those that run the fragment already, then this one, then those that have the fewest label
// values in common with the ones chosen, so that one rack or region that fails does not take all replicas.
func (p *placement) choose(running []host) ([]candidate, error) {
	if len(p.fit) < p.replicas {
		return nil, p.refusal()
	}
	left := slices.Clone(p.fit)
	var chosen []candidate
	take := func(i int) {
		chosen = append(chosen, left[i])
		left = slices.Delete(left, i, i+1)
	}
	for _, h := range running {
		if i := slices.IndexFunc(left, func(c candidate) bool { return c.host == h }); i >= 0 && len(chosen) < p.replicas {
			take(i)
		}
	}
	for len(chosen) < p.replicas {
		best := 0
		for i := range left {
			if p.shared(left[i], chosen) < p.shared(left[best], chosen) {
				best = i
			}
		}
		take(best)
	}
	return chosen, nil
}

// shared counts the label values that a node has in common with those chosen, beyond what the place asks for.
func (p *placement) shared(c candidate, chosen []candidate) (n int) {
	for k, v := range c.labels {
		if _, asked := p.wanted[k]; asked {
			continue
		}
		for _, other := range chosen {
			if w, ok := other.labels[k]; ok && w == v {
				n++
			}
		}
	}
	return n
}

// assign finds the nodes that run a fragment, one for each replica. held is what is in force now, nil if nothing is.
func (n *Node) assign(l *loadedQuery, f *query.FragmentPlan, held *descriptor.Verified) ([]descriptor.Assignment, error) {
	var running []host
	if held != nil && held.State == descriptor.Running {
		for _, a := range held.Replicas(f.Name) {
			running = append(running, host{a.Org, a.Node})
		}
	}
	chosen, err := newPlacement(l, f, n.candidates).choose(running)
	if err != nil {
		return nil, err
	}
	var out []descriptor.Assignment
	for _, c := range chosen {
		out = append(out, descriptor.Assignment{Fragment: f.Name, Org: c.Org, Node: c.Node, Peer: c.peer.String()})
	}
	return out, nil
}

// up returns the nodes of an organisation that are up.
func (s *streams) up(org string) map[peer.ID]host {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[peer.ID]host)
	for id, p := range s.peers {
		if p.org == org {
			out[id] = host{p.org, p.node}
		}
	}
	return out
}
