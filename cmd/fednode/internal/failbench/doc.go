// Package failbench measures what a failure costs on real daemons of this machine: seven processes of three
// organisations, every fragment with two replicas, as testnet runs them.
//
//   - A replica is killed, or stands still (SIGSTOP): the longest time without a new result at a client.
//   - Nothing fails: by how much later than on its source's own stream a row comes out of the chain.
//   - An organisation is cut off for less than the hold time: tentative rows, of which there should be none.
//
// A client reads results from one of two replicas, and which one is its own choice. So a run takes each replica away in
// turn, and counts the worse of both: one of them is the one that was read.
package failbench
