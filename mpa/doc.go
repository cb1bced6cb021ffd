// Package mpa decides which load moves between participants that do not obey one scheduler. Each pursues its own
// interest: it gives load away along contracts if that saves it more than it pays, and takes load if that costs it less
// than it is paid. No party learns more of another than its offers.
//
// A [Machine] is one participant. It is pure: messages, readings and the time go in, messages and moves come out. The
// daemon runs it, and so does the simulator in mpa/sim.
//
// # Units
//
// Load is work per second; its unit is whatever the prices are for (a billion work units, contracts.PriceBasis; in the
// simulator a node's full speed). Prices are micro-units of money for a second of one unit of load, costs micro-units of
// money per second.
//
// # An exchange
//
//	giver                                    taker
//	  │ Offer n: tasks, each with a price      │
//	  ├───────────────────────────────────────▶│ takes what costs it less than the price: a reservation
//	  │                     Answer n: tasks    │
//	  │◀───────────────────────────────────────┤
//	  │ looks again at what it would save      │
//	  │ Commit n: tasks                        │
//	  ├───────────────────────────────────────▶│ still reserved: the tasks will come
//	  │                   Settled n: in time   │
//	  │◀───────────────────────────────────────┤
//	  │ Migrate (effect)                       │
//
// Every message may be lost, delayed or repeated: offers are numbered under their contract and answered once, a
// reservation ends by the taker's clock, and what was not settled has not moved.
//
// Source: Balazinska: Fault-Tolerance and Load Management in a Distributed Stream Processing System, MIT, 2006.
package mpa
