package testnet

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// HauntEnv names the variable that tells a daemon of a testnet where the file lies that says what to make it believe. A
// daemon without it has no such file: nothing of this is reachable over a network or by a setting.
const HauntEnv = "FEDNODE_TESTNET_FAULTS"

// hauntFile is that file in a node's directory.
const hauntFile = "faults.json"

// Haunt is what a daemon is made to believe.
type Haunt struct {
	// ClockOffset is how far its clock is ahead, in microseconds.
	ClockOffset int64 `json:"clock_offset_us"`
	// DiskFull has it find its disk full.
	DiskFull bool `json:"disk_full"`
}

// Offset is how far the clock is ahead.
func (h Haunt) Offset() time.Duration { return time.Duration(h.ClockOffset) * time.Microsecond }

// haunt writes the node's file, if it says something new.
func (d *daemon) haunt(h Haunt) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.haunted == h {
		return nil
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	path := filepath.Join(d.dir, hauntFile)
	if err := os.WriteFile(path+".next", append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	if err := os.Rename(path+".next", path); err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	d.haunted = h
	return nil
}
