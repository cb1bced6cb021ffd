package testnet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// storeDir is where a daemon has its recovery points, positions and documents; logs of sources are elsewhere.
func (d *daemon) storeDir() string { return filepath.Join(d.dir, "data", "store") }

// lose kills the daemon and removes what it had stored, as if its disk had been replaced.
func (d *daemon) lose() error {
	return errors.Join(d.killed(), os.RemoveAll(d.storeDir()))
}

// damage kills the daemon and flips bytes in the second half of what it wrote last: there are its recovery points.
func (d *daemon) damage() error {
	if err := d.killed(); err != nil {
		return err
	}
	path, end, err := d.journal()
	if err != nil {
		return err
	}
	return flipBytes(path, end)
}

// killed kills the daemon if it runs.
func (d *daemon) killed() error {
	if !d.running() {
		return nil
	}
	return d.kill()
}

// flipBytes flips a bit of three bytes in the second half of what is written in a file up to end.
func flipBytes(path string, end int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	for k := range int64(3) {
		var b [1]byte
		at := end/2 + k*end/6
		if _, err = f.ReadAt(b[:], at); err == nil {
			b[0] ^= 1 << (2 * k)
			_, err = f.WriteAt(b[:], at)
		}
		if err != nil {
			break
		}
	}
	return errors.Join(err, f.Close())
}
