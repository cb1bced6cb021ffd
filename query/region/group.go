package region

import (
	"encoding/binary"
	"slices"
)

// Partition is one output with its readers: a diagram as a scheduler has it.
type Partition struct {
	Producer  Vertex
	Consumers []Vertex
	Kind      Kind
}

// Group puts partitions that share their consumers into one exchange, in order of first appearance. It takes time in
// proportion to the lists of consumers; lists that are the same slice are read once. Partitions that nobody reads are left
// out, and one producer's second partition with the same consumers goes into an exchange of its own. Consumers of an
// exchange are in order and distinct.
func Group(partitions []Partition) []Exchange {
	g := grouping{known: map[*Vertex]list{}, at: map[key]int{}, of: map[member]int{}}
	for _, p := range partitions {
		if len(p.Consumers) > 0 {
			g.add(p)
		}
	}
	return g.exchanges
}

// list is a list of consumers in order, with its text as a key.
type list struct {
	consumers []Vertex
	length    int // of the slice it was read from
	text      string
}

// key is what the partitions of one exchange have in common; nth tells the second partition of a producer from its first.
type key struct {
	consumers string
	kind      Kind
	nth       int
}

// member is a producer with its partitions' common key.
type member struct {
	producer  Vertex
	consumers string
	kind      Kind
}

type grouping struct {
	known     map[*Vertex]list // by the first element of a slice
	at        map[key]int
	of        map[member]int
	exchanges []Exchange
}

func (g *grouping) add(p Partition) {
	l := g.read(p.Consumers)
	m := member{p.Producer, l.text, p.Kind}
	k := key{l.text, p.Kind, g.of[m]}
	g.of[m]++
	i, ok := g.at[k]
	if !ok {
		i = len(g.exchanges)
		g.at[k] = i
		g.exchanges = append(g.exchanges, Exchange{Consumers: l.consumers, Kind: p.Kind})
	}
	g.exchanges[i].Producers = append(g.exchanges[i].Producers, p.Producer)
}

// read returns a list of consumers in order, read once for each slice.
func (g *grouping) read(consumers []Vertex) list {
	if l, ok := g.known[&consumers[0]]; ok && l.length == len(consumers) {
		return l
	}
	l := list{consumers: slices.Clone(consumers), length: len(consumers)}
	slices.Sort(l.consumers)
	l.consumers = slices.Compact(l.consumers)
	text := make([]byte, 0, 4*len(l.consumers))
	for _, v := range l.consumers {
		text = binary.LittleEndian.AppendUint32(text, uint32(v))
	}
	l.text = string(text)
	g.known[&consumers[0]] = l
	return l
}
