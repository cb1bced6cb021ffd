package main

import (
	"encoding/json"
	"os"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"fednode/node"
	"fednode/storage/disk"
	"fednode/testnet"
)

// haunted makes a daemon of a testnet believe what a file says: that its clock is wrong, or that its disk is full.
type haunted struct {
	file string
	log  *zap.Logger
	now  atomic.Pointer[testnet.Haunt]
	at   atomic.Int64 // when the file was looked at last, Unix nanoseconds
}

// lookAgain is how old what the file says may be.
const lookAgain = 100 * time.Millisecond

// hauntOptions lets a daemon believe what the file says that the environment names. Without that variable, which only a
// testnet sets, nothing is different; with it the log says so.
func hauntOptions(o *node.Options) {
	file := os.Getenv(testnet.HauntEnv)
	if file == "" {
		return
	}
	h := &haunted{file: file, log: o.Log}
	h.now.Store(&testnet.Haunt{})
	o.Now, o.Space = h.clock, h.space
	o.Log.Info("daemon of a testnet: it believes what a file says of its clock and its disk", zap.String("file", file))
}

// look reads the file, if that was not done just now. A file that is not there says nothing.
func (h *haunted) look() testnet.Haunt {
	now := time.Now().UnixNano()
	last := h.at.Load()
	if now-last < int64(lookAgain) || !h.at.CompareAndSwap(last, now) {
		return *h.now.Load()
	}
	text, err := os.ReadFile(h.file)
	var said testnet.Haunt
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err != nil && !os.IsNotExist(err) {
		h.log.Warn("faults of the testnet not read", zap.Error(err))
		return *h.now.Load()
	}
	if before := *h.now.Load(); before != said {
		h.log.Info("fault of the testnet", zap.Duration("clock_offset", said.Offset()), zap.Bool("disk_full", said.DiskFull))
		h.now.Store(&said)
	}
	return said
}

func (h *haunted) clock() time.Time {
	said := h.look()
	return time.Now().Add(said.Offset())
}

func (h *haunted) space(dir string) (disk.Space, error) {
	s, err := disk.Measure(dir)
	if h.look().DiskFull {
		s.Free = 0
	}
	return s, err
}
