// Package region decides what to restart or reconcile when a part of a diagram fails.
//
// A Diagram is vertices, fragments or operator processes, joined by exchanges: every producer of an exchange has one
// output in it, which every consumer reads. A pipelined exchange hands rows on as they come and keeps nothing, so its two
// sides can only restart together; they are one region. A stored exchange keeps its outputs, so its sides are regions of
// their own. When vertices fail, these restart:
//
//   - their regions;
//   - upstream of a region that restarts, every region whose output it reads and which is no longer available;
//   - downstream of a region that restarts, every region that reads from it.
//
// An exchange of m producers and n consumers stands for m·n edges. Here it is visited once in each direction, however many
// of its vertices restart, so that the search takes time in proportion to the sum of m + n over the exchanges it reaches.
//
//	d := region.Diagram{Vertices: 4, Exchanges: []region.Exchange{
//		{Producers: []region.Vertex{0, 1}, Consumers: []region.Vertex{2, 3}, Kind: region.Stored},
//	}}
//	m, err := region.New(d)
//	set, err := m.Restart([]region.Vertex{0}, func(region.Output) bool { return true }) // 0, 2 and 3
//
// Group makes exchanges of outputs that come each with its readers, and Fragments returns the diagram of a planned query. A Map may be used by several goroutines at once. Source of the rule:
// failover of pipelined regions with consumers in groups, as in stream processors with key-partitioned exchanges.
package region
