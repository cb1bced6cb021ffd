package storage

import (
	"fmt"

	"fednode/storage/disk"
)

// Logger takes the few lines that the store's engine has to say. Its methods may be called concurrently.
type Logger interface {
	Errorf(format string, args ...any)
	Warningf(format string, args ...any)
	Infof(format string, args ...any)
	Debugf(format string, args ...any)
}

// Options of a Store. The zero value is complete.
type Options struct {
	// MemTableBytes is the size of a table in memory, of which there are two; the engine's buffers are several times as
	// large while it writes. Default 8 MiB, 8 MiB to 128 MiB: below that one transaction of TxBytes would not fit.
	MemTableBytes int64
	// Reserve is the free space below which Update refuses with ErrStorageFull: the engine writes through memory maps and
	// could not report a full disk, so it must never meet one. Default: see DefaultReserve.
	Reserve disk.Reserve
	// Space measures the free space of a directory; nil asks the file system.
	Space func(dir string) (disk.Space, error)
	// Logger, nil for none.
	Logger Logger
}

const memTableBytes = 8 << 20

// DefaultReserve returns the reserve of a store on a file system: that of package disk, and never less than
// twelve tables: so much the engine may write, by flushing and compacting, after it has taken a transaction.
func (o Options) DefaultReserve(s disk.Space) disk.Reserve {
	r := disk.DefaultReserve(s)
	if least := 12 * max(o.MemTableBytes, memTableBytes); r.StopBytes < least {
		r = disk.Reserve{StopBytes: least, ResumeBytes: least + least/4}
	}
	return r
}

func (o Options) complete(dir string) (Options, error) {
	if o.MemTableBytes == 0 {
		o.MemTableBytes = memTableBytes
	}
	if o.MemTableBytes < memTableBytes || o.MemTableBytes > 16*memTableBytes {
		return o, fmt.Errorf("storage: memtable bytes %d; want %d to %d", o.MemTableBytes, memTableBytes, 16*memTableBytes)
	}
	if o.Space == nil {
		o.Space = disk.Measure
	}
	if o.Reserve == (disk.Reserve{}) {
		s, err := o.Space(dir)
		if err != nil {
			return o, err
		}
		o.Reserve = o.DefaultReserve(s)
	}
	return o, o.Reserve.Validate()
}
