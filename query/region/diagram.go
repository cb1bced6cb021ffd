package region

import (
	"fmt"
	"math"
	"strings"
)

// Vertex is a part of a diagram that fails and restarts as a whole, from 0.
type Vertex int32

// Kind says what an exchange keeps.
type Kind uint8

// The kinds of exchanges.
const (
	// Stored outputs stay readable after their producer has failed, as long as they are kept.
	Stored Kind = iota
	// Pipelined outputs are gone once they were handed on.
	Pipelined
)

func (k Kind) String() string {
	if k == Pipelined {
		return "pipelined"
	}
	return "stored"
}

// Exchange is edges from every producer to every consumer. One producer and one consumer make a plain edge.
type Exchange struct {
	Producers, Consumers []Vertex
	Kind                 Kind
}

// Output is what one producer gives to one exchange: the partition that all consumers of the exchange read.
type Output struct {
	// Exchange indexes Diagram.Exchanges.
	Exchange int
	Producer Vertex
}

// Diagram is a directed acyclic graph. Parts of it that no exchange joins are allowed: a failure of one does not touch the
// other. So is a vertex without any exchange, a region by itself.
type Diagram struct {
	// Vertices is how many there are, at most MaxVertices.
	Vertices  int
	Exchanges []Exchange
	// Names are for messages, one a vertex; nil for their numbers.
	Names []string
}

// MaxVertices is the most vertices of a diagram.
const MaxVertices = math.MaxInt32

// name names a vertex in messages.
func (d *Diagram) name(v Vertex) string {
	if int(v) < len(d.Names) {
		return "`" + d.Names[v] + "`"
	}
	return fmt.Sprintf("vertex %d", v)
}

// check returns the first thing that is wrong with a diagram.
func (d *Diagram) check() error {
	if d.Vertices < 0 || d.Vertices > MaxVertices {
		return fmt.Errorf("region: %d vertices: expected 0 to %d", d.Vertices, MaxVertices)
	}
	if len(d.Names) != 0 && len(d.Names) != d.Vertices {
		return fmt.Errorf("region: %d names for %d vertices: expected one each, or none", len(d.Names), d.Vertices)
	}
	seen := make([]int32, d.Vertices) // 1 + the last side, of all exchanges', that named the vertex
	for i, x := range d.Exchanges {
		if x.Kind > Pipelined {
			return fmt.Errorf("region: exchange %d: kind %d: expected stored or pipelined", i, x.Kind)
		}
		for j, side := range [][]Vertex{x.Producers, x.Consumers} {
			what, mark := [...]string{"producer", "consumer"}[j], int32(2*i+j+1)
			if len(side) == 0 {
				return fmt.Errorf("region: exchange %d has no %s: expected one or more", i, what)
			}
			for _, v := range side {
				if v < 0 || int(v) >= d.Vertices {
					return fmt.Errorf("region: exchange %d has vertex %d as a %s: expected 0 to %d", i, v, what, d.Vertices-1)
				}
				if seen[v] == mark {
					return fmt.Errorf("region: exchange %d has %s twice as a %s: expected it once", i, d.name(v), what)
				}
				seen[v] = mark
			}
		}
	}
	return nil
}

// CycleError is a diagram in which data would go round.
type CycleError struct {
	// Vertices are on one cycle, each reading from the one before it and the first from the last.
	Vertices []Vertex
	text     string
}

func (e *CycleError) Error() string {
	return "region: the diagram has a cycle: " + e.text + ": expected data to flow one way"
}

// maxNamed is how many vertices of a cycle a message names.
const maxNamed = 12

func (d *Diagram) cycleError(cycle []Vertex) error {
	var names []string
	for _, v := range cycle {
		if len(names) == maxNamed {
			names = append(names, "…")
			break
		}
		names = append(names, d.name(v))
	}
	return &CycleError{Vertices: cycle, text: strings.Join(append(names, d.name(cycle[0])), " → ")}
}
