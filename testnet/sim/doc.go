// Package sim runs whole federations of fragment replicas in one process, with simulated network, disks and clocks, and
// breaks them by seed: `fednode testnet simulate`.
//
// What runs is the real core (node/replica, dcaa, sunion, query) over real query plans; only what is around it is
// simulated (testnet/sim/world, testnet/sim/host). A run is a function of its seed, its spec and its plan of faults:
// [Execute]. The checks of the promises run all the while, and a run ends with the first that does not hold. A plan that
// breaks one is made smaller and printed as a file that the same command reads again ([Case]).
//
// # What is checked
//
//   - What the client has of the stable stream is at all times a prefix of what a run without failures gives over the same
//     source logs: same rows, ids and order; and no boundary passes a row that did not come.
//   - Replicas of a fragment give the same rows under the same ids, whoever reads them.
//   - While a path of healthy nodes leads from a source to the client, its rows are reflected there within max_delay plus
//     what is normal, and without holes.
//   - Nothing becomes tentative while a stable replica of the missing input has been within reach, nor before the hold
//     time is spent.
//   - At most one of the replicas of a fragment that can talk redoes.
//   - Readers do not change between replicas for ever on lines that lose packets.
//   - Buffers stay below their limits.
//   - Once the faults are over, every node becomes STABLE, and the client holds nothing tentative.
package sim
