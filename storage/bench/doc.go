// Package bench measures durable appends: the segment log, and Badger for comparison, each against a plain file that
// gets the same bytes in the same sizes, synced as often, in the same run.
//
// Rounds of the sides are interleaved and medians compared, since disks and machines drift. It is what `fednode bench
// log` prints. It uses the clock and writes to the directory it is given, which it leaves as it was.
package bench
