package seglog

import (
	"errors"
	"os"
	"path/filepath"
	"sort"

	"fednode/query/tuple"
	"fednode/storage/disk"
)

// indexEvery is how many bytes lie between two places that a reader can seek to.
const indexEvery = 64 << 10

// place is one entry of a segment's sparse index: the record with this seq starts at off.
type place struct {
	seq uint64
	key uint64
	off int64
}

// segment is what is known of one file. Fixed once the next segment exists; of the newest one guarded by Log.mu.
type segment struct {
	path       string
	generation uint64
	firstSeq   uint64
	startKey   uint64 // of the record before, in the same generation
	end        int64  // durable bytes, header included
	lastSeq    uint64 // firstSeq-1 while empty
	lastKey    uint64 // startKey while empty
	maxTime    tuple.Time
	index      []place
	indexed    bool // index covers the segment
}

func (s *segment) last() Position { return Position{s.generation, s.lastKey} }

func (s *segment) records() uint64 { return s.lastSeq + 1 - s.firstSeq }

// note extends the index by a record at off.
func (s *segment) note(f frame, off int64) {
	if n := len(s.index); n == 0 || off-s.index[n-1].off >= indexEvery {
		s.index = append(s.index, place{seq: f.seq, key: f.key, off: off})
	}
}

// seek returns the last indexed place whose record is before the first one that `at` may want.
func (s *segment) seek(before func(place) bool) place {
	n := sort.Search(len(s.index), func(i int) bool { return !before(s.index[i]) })
	if n == 0 {
		return place{seq: s.firstSeq, key: s.startKey, off: headerBytes}
	}
	return s.index[n-1]
}

// cursorAt returns a cursor that starts at an indexed place; the caller says where it ends.
func (s *segment) cursorAt(f disk.File, seed uint32, p place) cursor {
	return cursor{window: window{f: f}, seed: seed, off: p.off, seq: p.seq - 1, key: s.startKey}
}

// createSegment makes a segment with a durable header. Until then it has another name, so that a crash leaves nothing
// half made; after an error nothing is left either.
func createSegment(path string, h header, size int64, open disk.OpenFunc) (disk.File, error) {
	temp := path + unfinished
	f, err := open(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, disk.Wrap("make", temp, err)
	}
	if err := fillSegment(f, h, size); err != nil {
		return nil, errors.Join(disk.Wrap("make", temp, err), f.Close(), os.Remove(temp))
	}
	err = os.Rename(temp, path)
	if err == nil {
		err = disk.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(disk.Wrap("make", path, err), f.Close())
	}
	return f, nil
}

func fillSegment(f disk.File, h header, size int64) error {
	if err := f.Allocate(size); err != nil {
		return err
	}
	if _, err := f.WriteAt(h.encode(), 0); err != nil {
		return err
	}
	return f.Sync()
}
