package node

import (
	"fednode/node/export"
	"fednode/node/source"
)

// putSource makes a source's stream available, and its side streams to this organisation. permit is as for put. What was
// set aside holds whole rows and records, so what lets the stream leave, column by column, does not let that leave.
func (s *streams) putSource(p *source.Proxy, permit func(org string) error) {
	s.put(p, permit)
	for _, side := range p.Sides() {
		var own func(org string) error // of a node's own stream: exports name no side stream
		if permit != nil {
			own = func(org string) error {
				return &export.DeniedError{Stream: side.Name(), Org: org, Why: "what a query's source has set aside stays with its organisation"}
			}
		}
		if s.Find(side.Name()) == nil { // a stream that a query makes under such a name goes before
			s.put(side, own)
		}
	}
}

// dropSource takes a source's streams away.
func (s *streams) dropSource(p *source.Proxy) {
	s.drop(p)
	for _, side := range p.Sides() {
		s.drop(side)
	}
}
