//go:build unix

package wirebench

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time of the whole process so far, garbage collection included. Unlike the wall clock it
// says the same on a busy machine.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
