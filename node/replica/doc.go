// Package replica is the core of one replica of a fragment: SUnions, operators, tentative forks and SOutputs, the choice
// of what each input is read from, and the automaton of availability that decides when to wait, when to go on with
// partial input, and when to correct.
//
// A [Replica] is pure: events and the time go in through its methods, effects come out through a [Shell]. It has no
// goroutine, clock or I/O. The daemon drives it from the fragment's loop, the simulator from its event queue; both run
// the same code.
//
// # Stable instance and fork
//
// The stable instance of the operators only ever sees complete buckets. While an SUnion lacks an input it is simply not
// fed from there. When the hold time of such a bucket is spent, the operators downstream of the SUnion are forked, and
// the fork goes on with what there is; its results are tentative. When the input is complete again, feeding the stable
// instance is the redo: its results are the corrections. The fork is dropped when the stable side has passed it, or, where the
// query says redo = "undo", before the redo begins; then there is one again if the redo does not come to new rows in time. If
// corrections stop half way, the fork begins anew where they have led.
//
// SUnions that share operators form a path; the paths of a fragment fail and recover each by itself.
//
// Source: Balazinska, Balakrishnan, Madden, Stonebraker: Fault-tolerance in the Borealis distributed stream processing
// system, ACM TODS 33(1), 2008.
package replica
