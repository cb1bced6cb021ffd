//go:build !unix

package wirebench

import "time"

// cpuTime is the time since the zero of the monotonic clock where the system does not tell processor time.
func cpuTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
