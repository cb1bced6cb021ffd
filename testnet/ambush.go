package testnet

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The moments at which an ambush kills.
const (
	MomentWrite    = "write"    // as soon as something has begun to be written to the store
	MomentTransfer = "transfer" // while a node fetches the state of another replica
)

// transferSign is what a daemon's log says when a transfer begins, giveSign what that of the replica says that gives its state.
const (
	transferSign = "asking another replica for its state"
	giveSign     = "the state is given to another replica"
)

// Bounds of an ambush.
const (
	ambushEvery  = 500 * time.Microsecond
	ambushWithin = time.Minute
)

// ambush kills a victim at a moment of the daemon: itself, or for a transfer the one that gives the state. For a transfer a daemon
// that does not run is started first: that is what it begins with if it has lost what it had stored.
func (d *daemon) ambush(ctx context.Context, moment string, victim *daemon) error {
	ctx, cancel := context.WithTimeout(ctx, ambushWithin)
	defer cancel()
	seen, err := d.sign(moment, victim)
	if err != nil {
		return err
	}
	var started *process
	if moment == MomentTransfer && !d.running() {
		if started, err = d.launch(); err != nil {
			return err
		}
	}
	if err := d.lie(ctx, moment, victim, seen); err != nil || started == nil || victim == d {
		return err
	}
	return d.waitReady(ctx, started)
}

// sign returns what tells that the moment has come from now on.
func (d *daemon) sign(moment string, victim *daemon) (seen func() (bool, error), err error) {
	if moment == MomentWrite {
		path, end, err := d.journal()
		return func() (bool, error) { return writtenAt(path, end) }, err
	}
	text := transferSign
	if victim != d {
		text = giveSign
	}
	from := sizeOf(victim.logFile())
	return func() (bool, error) { return logHas(victim.logFile(), from, text) }, nil
}

// lie waits for the moment, and kills.
func (d *daemon) lie(ctx context.Context, moment string, victim *daemon, seen func() (bool, error)) error {
	tick := time.NewTicker(ambushEvery)
	defer tick.Stop()
	for {
		for _, x := range []*daemon{d, victim} {
			if !x.running() {
				return fmt.Errorf("node %s ended before the %s\n%s", x.id, moment, x.lastWords())
			}
		}
		if ok, err := seen(); ok || err != nil {
			return joinKill(err, victim)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("node %s came to no %s within %s", d.id, moment, ambushWithin)
		}
	}
}

func joinKill(err error, d *daemon) error {
	if err != nil {
		return err
	}
	return d.kill()
}

// journal is the file that the daemon's store writes to, and how far it is written.
func (d *daemon) journal() (path string, end int64, err error) {
	files, err := filepath.Glob(filepath.Join(d.storeDir(), "kv", "*.mem"))
	if err != nil || len(files) == 0 {
		return "", 0, fmt.Errorf("testnet: node %s has no store that it writes to", d.id)
	}
	slices.Sort(files)
	path = files[len(files)-1]
	text, err := os.ReadFile(path)
	return path, int64(len(bytes.TrimRight(text, "\x00"))), err
}

// writtenAt reports whether anything but zeros stands behind a place of a file.
func writtenAt(path string, at int64) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var b [256]byte
	n, err := f.ReadAt(b[:], at)
	if err != nil && err != io.EOF {
		return false, err
	}
	return len(bytes.TrimLeft(b[:n], "\x00")) > 0, nil
}

// logHas reports whether a log has a text behind a place.
func logHas(path string, from int64, text string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return false, err
	}
	b, err := io.ReadAll(io.LimitReader(f, 1<<20))
	return bytes.Contains(b, []byte(text)), err
}

// sizeOf is the size of a file, 0 if there is none.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
