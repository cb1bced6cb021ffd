// Package world is the machinery below a simulated federation: one queue of events, and nodes with a clock, a processor,
// a disk and connections to each other, all of which can fail. What runs on a node is a [Program].
//
// A run is a function of its seed: there is one goroutine, no map is walked, no clock is read, and every random draw
// comes from the world's one generator in the order of events. Events at the same moment happen in the order in which
// they were made. So a run that went wrong can be had again from its seed alone.
//
// # Time
//
// The world's time is microseconds since its beginning. A node sees only its own monotonic clock ([tuple.Instant]), which
// starts anywhere, goes a little fast or slow, and can jump ahead.
//
// # Network
//
// Between each pair of nodes there is at most one connection, first in first out in each direction, like TCP: loss and
// cuts delay what is sent until it is sent again, they lose nothing of a connection that lives. A connection ends when an
// end closes it or dies. Control messages can also come twice or out of order, as they do over reconnects.
//
// # Processor
//
// A node does one thing at a time. [World.Spend] says what a thing costs; until it is paid, what arrives waits, and what
// the program sends leaves when it has been paid. A paused node is one whose processor stands still.
package world
