package main

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// heedMemoryLimit makes the garbage collector work harder as the memory of the container comes to its end, instead of
// letting the system end the process. GOMEMLIMIT, where it is set, says more and stays.
func heedMemoryLimit() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit := containerMemory(os.ReadFile); limit > 0 {
		// A tenth is left for what the collector does not count: stacks, the program itself, the kernel's buffers.
		debug.SetMemoryLimit(limit / 10 * 9)
	}
}

// containerMemory returns the memory that this process may take by its control group, in bytes; 0 if there is no limit.
func containerMemory(read func(string) ([]byte, error)) int64 {
	own, err := read("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	limit := int64(0)
	for line := range strings.Lines(string(own)) {
		// "0::/path" for the one hierarchy of version 2, "4:memory:/path" for version 1.
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		var root, file string
		switch {
		case len(part) != 3:
			continue
		case part[0] == "0" && part[1] == "":
			root, file = "/sys/fs/cgroup", "/memory.max"
		case part[1] == "memory":
			root, file = "/sys/fs/cgroup/memory", "/memory.limit_in_bytes"
		default:
			continue
		}
		// In a container its own group is mounted at the root.
		for _, path := range []string{root + strings.TrimSuffix(part[2], "/") + file, root + file} {
			if n := readLimit(read, path); n > 0 && (limit == 0 || n < limit) {
				limit = n
			}
		}
	}
	return limit
}

// readLimit returns the number in a file; 0 if there is none: "max" in version 2, an absurdly large one in version 1.
func readLimit(read func(string) ([]byte, error), path string) int64 {
	text, err := read(path)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n >= 1<<50 {
		return 0
	}
	return n
}
