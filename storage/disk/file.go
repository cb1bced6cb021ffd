package disk

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// File is what the append-only files need from an open file. [OSFile] is the real one; faultstore has one that fails
// by rule.
type File interface {
	ReadAt(p []byte, off int64) (int, error)
	WriteAt(p []byte, off int64) (int, error)
	// Sync returns when all written bytes, and the size, are on stable storage.
	Sync() error
	// Allocate reserves size bytes in all and extends the file to them with zeros.
	Allocate(size int64) error
	Truncate(size int64) error
	Size() (int64, error)
	Close() error
}

// OpenFunc opens a file as os.OpenFile does.
type OpenFunc func(path string, flag int) (File, error)

// OSFile is a file of the operating system.
type OSFile struct{ f *os.File }

// Open opens a file readable and writable by its owner only.
func Open(path string, flag int) (File, error) {
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	return &OSFile{f: f}, nil
}

// ReadAt implements File.
func (o *OSFile) ReadAt(p []byte, off int64) (int, error) { return o.f.ReadAt(p, off) }

// WriteAt implements File.
func (o *OSFile) WriteAt(p []byte, off int64) (int, error) { return o.f.WriteAt(p, off) }

// Truncate implements File.
func (o *OSFile) Truncate(size int64) error { return o.f.Truncate(size) }

// Close implements File.
func (o *OSFile) Close() error { return o.f.Close() }

// Sync implements File with fdatasync: a preallocated file needs no more than its data.
func (o *OSFile) Sync() error {
	for {
		if err := unix.Fdatasync(int(o.f.Fd())); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Allocate implements File. File systems without fallocate get a sparse file: there a write may find the disk full.
func (o *OSFile) Allocate(size int64) error {
	for {
		err := unix.Fallocate(int(o.f.Fd()), 0, 0, size)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return o.f.Truncate(size)
		}
		return err
	}
}

// Size implements File.
func (o *OSFile) Size() (int64, error) {
	st, err := o.f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// SyncDir makes the creations, renames and removals in a directory durable.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return Wrap("open", dir, err)
	}
	err = f.Sync()
	return errors.Join(Wrap("sync", dir, err), f.Close())
}

// SetAside renames a file to a free name beside it that ends in suffix and a number, and returns the new path. It is
// how damaged files are kept as evidence.
func SetAside(path, suffix string) (string, error) {
	for n := 1; ; n++ {
		target := path + suffix
		if n > 1 {
			target += "-" + strconv.Itoa(n)
		}
		if _, err := os.Lstat(target); err == nil {
			continue
		}
		if err := os.Rename(path, target); err != nil {
			return "", Wrap("set aside", path, err)
		}
		return target, SyncDir(filepath.Dir(path))
	}
}
