package testnet

import (
	"fmt"
	"path/filepath"
)

// place is one node of a network: who it is and where it lives.
type place struct {
	// id is how people name it: the organisation, with a number if it has several nodes.
	id   string
	org  string
	name string // in the organisation
	dir  string
	// index counts nodes from 0 and org's index organisations.
	index, orgIndex int
	// rank counts the organisation's nodes from 0.
	rank int
}

// layout lays the nodes out, those of all organisations in turn. The first is where queries are deployed.
func layout(s *Spec, dir string) []place {
	var out []place
	sizes := s.sizes()
	for rank := range maxNodesPerOrg {
		for k, org := range s.Organisations {
			if rank >= sizes[k] {
				continue
			}
			p := place{id: org, org: org, name: fmt.Sprintf("node-%d", rank+1), index: len(out), orgIndex: k, rank: rank}
			if sizes[k] > 1 {
				p.id = fmt.Sprintf("%s-%d", org, rank+1)
			}
			p.dir = filepath.Join(dir, p.id)
			out = append(out, p)
		}
	}
	return out
}

// feeds reports whether data enter at a node.
func (p *place) feeds(s *Spec) bool { return s.Sources == 0 || p.rank < s.Sources }
