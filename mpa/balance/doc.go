// Package balance spreads load over the nodes of one organisation, which cooperate: there are no prices. Whoever owns the
// queries decides: where a unit of work is placed, which unit moves, and which is separated in two.
//
// A [Balancer] is pure: nodes, units and readings go in, [Decision] values with their reasons come out. Once a period it is
// told what every unit uses ([Balancer.Report]) and asked for a round ([Balancer.Round]). The daemon will run it; the
// simulator in mpa/balance/sim does.
//
//	readings ──▶ usage of units ──▶ usage of nodes ──▶ migrator: over its trigger? ──▶ moves
//	 (raw)        (smoothed)         (sum of units)      ▲                              │
//	                                      └──────────────┴── expected effect, at once ──┘
//
// # Figures
//
// Loads are absolute: cores, bytes, bytes per second, messages per second. Usage is a load in percent of the node's capacity,
// the highest of its resources, each times its weight. It is smoothed per unit and summed per node, so a unit takes its
// history along, and what has been decided is in the figures before the next reading: a move is not decided twice because
// its effect is not yet to be seen.
//
// # Rounds end
//
// A move has to lower the sum of the squares of usage, each times the size of its node, by more than its cost: with nodes of
// one size, a unit of u moves from a to b only if x_a − x_b − u is above the gain. So no sequence of moves comes back to
// where it began, and no unit is moved that is larger than the gap. A unit that has moved rests for some periods.
//
// # Diagrams
//
// [Segment] cuts a [Graph] into units. The graph knows only what matters here: which operator reads which, and what each
// needs of a node. Package query and this one do not know each other; the node translates: an operator of a diagram becomes
// an [Operator] whose Needs are its kind, its functions of users and the reach of its connector ("kind:join", "udf:geo",
// "connector:kafka"), in the diagram's order, and a run becomes a fragment of the plan.
//
// What is decided here is done elsewhere: a move is a migration (the unit runs at the target before it stops at the source),
// a unit of a dead node goes on from its checkpoint.
package balance
