package evaluate

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ticksPerSecond is what /proc/stat counts in, on every Linux that Go runs on.
const ticksPerSecond = 100

// busyProcessors returns the processor time that everything on the machine has used, in seconds; 0 where the system does
// not say.
func busyProcessors() float64 {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	return busyOf(string(text))
}

// busyOf reads /proc/stat: user, nice, system, idle, iowait, irq, softirq and steal, in ticks.
func busyOf(text string) float64 {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0
	}
	busy := 0.0
	for i, f := range fields[1:9] {
		n, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return 0
		}
		if i != 3 && i != 4 { // idle, and waiting for disks
			busy += n
		}
	}
	return busy / ticksPerSecond
}

// ownProcessorTime is what this process has used, in seconds.
func ownProcessorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
