package fragment

import (
	"time"

	"golang.org/x/sys/unix"

	"fednode/dcaa"
)

// effort tells work apart from time in which the process stood still: a stop within a long piece of work is not seen by any
// alarm. It began at an instant, when the process had used so much processor time.
type effort struct {
	began dcaa.Instant
	used  time.Duration
}

// lost is for how much of the time until now the process has not worked, in microseconds. Other work of the process at the
// same time hides as much of a stop.
func (e effort) lost(now dcaa.Instant, used time.Duration) int64 {
	return max(0, int64(now-e.began)-(used-e.used).Microseconds())
}

// processorTime is how much the process has used of all processors. Where the system does not say, it counts as always at
// work.
func processorTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return time.Duration(time.Now().UnixNano())
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
