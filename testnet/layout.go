package testnet

import (
	"fmt"
	"path/filepath"
)

// place is one node of a network: who it is and where it lives.
type place struct {
	// id is how people name it: the organisation, with a number from the second node on.
	id   string
	org  string
	name string // in the organisation
	dir  string
	// index counts nodes from 0 and org's index organisations.
	index, orgIndex int
	// rank counts the organisation's nodes from 0.
	rank int
}

// layout deals the nodes out over the organisations. The first is where queries are deployed.
func layout(s *Spec, dir string) []place {
	n := s.Nodes
	if n == 0 {
		n = len(s.Organisations)
	}
	out := make([]place, n)
	for i := range out {
		k, rank := i%len(s.Organisations), i/len(s.Organisations)
		org := s.Organisations[k]
		p := place{id: org, org: org, name: fmt.Sprintf("node-%d", rank+1), index: i, orgIndex: k, rank: rank}
		if rank > 0 {
			p.id = fmt.Sprintf("%s-%d", org, rank+1)
		}
		p.dir = filepath.Join(dir, p.id)
		out[i] = p
	}
	return out
}
