package seglog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"fednode/storage/disk"
)

// Open opens or makes the log in a directory, locks it and recovers it. It reads the header of every segment and the
// whole of the last one. The error is of class disk.ErrLocked, ErrReadOnly, ErrFull (a new log only) or a format of a
// newer build; damage is no error, see Recovery.
func Open(dir string, o Options) (*Log, Recovery, error) {
	o, err := o.complete()
	if err != nil {
		return nil, Recovery{}, err
	}
	lock, err := disk.LockDir(dir)
	if err != nil {
		return nil, Recovery{}, err
	}
	r := recoverer{dir: dir, opts: o}
	l, err := r.open()
	if err != nil {
		return nil, r.report, errors.Join(err, lock.Close())
	}
	l.lock = lock
	return l, r.report, nil
}

// recoverer is the work of one Open.
type recoverer struct {
	dir    string
	opts   Options
	report Recovery
	files  []candidate
	segs   []*segment
}

// candidate is a file that is called like a segment.
type candidate struct {
	path     string
	firstSeq uint64
	head     header
	bad      error // why head is not usable
}

func (r *recoverer) open() (*Log, error) {
	if err := r.list(); err != nil {
		return nil, err
	}
	found, err := r.identify()
	if err != nil {
		return nil, err
	}
	ident, origin, err := openIdentity(r.dir, found, r.opts.OpenFile)
	if err != nil {
		return nil, err
	}
	if origin == Fresh && len(r.files) > 0 {
		origin = Lost // there was a log, and nothing says which
	}
	r.report.Identity, r.report.Origin = ident.id, origin
	whole, err := r.assemble(ident.id)
	if err != nil {
		return nil, errors.Join(err, ident.reg.Close())
	}
	l := newLog(r.dir, r.opts, ident, r.segs)
	r.report.Segments, r.report.LastSeq, r.report.Last = len(r.segs), l.durableSeq, l.durable
	if whole {
		if err := l.resume(); err != nil {
			return nil, errors.Join(err, ident.reg.Close())
		}
	}
	return l, nil
}

// list reads the directory and every header, and removes segments that a crash left before their header was durable:
// they never held a record.
func (r *recoverer) list() error {
	names, err := os.ReadDir(r.dir)
	if err != nil {
		return disk.Wrap("list", r.dir, err)
	}
	for _, n := range names {
		path := filepath.Join(r.dir, n.Name())
		if strings.HasSuffix(n.Name(), segmentSuffix+unfinished) {
			if err := os.Remove(path); err != nil {
				return disk.Wrap("remove", path, err)
			}
			continue
		}
		seq, ok := parseName(n.Name())
		if !ok {
			continue
		}
		c := candidate{path: path, firstSeq: seq}
		if c.head, c.bad, err = r.readHeader(path); err != nil {
			return err
		}
		if c.bad == nil && c.head.FirstSeq != seq {
			c.bad = fmt.Errorf("its header says that it begins at seq %d", c.head.FirstSeq)
		}
		r.files = append(r.files, c)
	}
	return nil
}

func (r *recoverer) readHeader(path string) (h header, bad, err error) {
	f, err := r.opts.OpenFile(path, os.O_RDONLY)
	if err != nil {
		return h, nil, disk.Wrap("open", path, err)
	}
	b := make([]byte, headerBytes)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return h, nil, errors.Join(disk.Wrap("read", path, err), f.Close())
	}
	h, bad = decodeHeader(b[:n])
	if newer := (*versionError)(nil); errors.As(bad, &newer) {
		return h, nil, errors.Join(&disk.Error{Op: "open", Path: path, Err: bad}, f.Close())
	}
	return h, bad, f.Close()
}

// identify returns what the segments say about the log, and sets those of other logs aside: the log is that of the
// newest readable header.
func (r *recoverer) identify() (Identity, error) {
	var id Identity
	for i := len(r.files) - 1; i >= 0; i-- {
		if c := &r.files[i]; c.bad == nil {
			id.Log = c.head.Log
			break
		}
	}
	kept := r.files[:0]
	for _, c := range r.files {
		if c.bad == nil && c.head.Log != id.Log {
			if err := r.setAside(c.path, fmt.Sprintf("it belongs to log %x", c.head.Log[:4])); err != nil {
				return id, err
			}
			continue
		}
		if c.bad == nil {
			id.Generation = max(id.Generation, c.head.Generation)
		}
		kept = append(kept, c)
	}
	r.files = kept
	return id, nil
}

func (r *recoverer) setAside(path, reason string) error {
	to, err := disk.SetAside(path, setAside)
	if err != nil {
		return err
	}
	r.report.SetAside = append(r.report.SetAside, Aside{Path: to, Reason: reason})
	return nil
}
