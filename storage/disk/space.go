package disk

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Space is what a file system has, in bytes, for a user without privileges.
type Space struct {
	Free  int64
	Total int64
}

// Measure asks the file system that holds dir.
func Measure(dir string) (Space, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return Space{}, Wrap("measure", dir, err)
	}
	return Space{Free: int64(st.Bavail) * st.Bsize, Total: int64(st.Blocks) * st.Bsize}, nil
}

// Reserve is the free space at which intake stops, before a write can fail.
type Reserve struct {
	// StopBytes: at or below it intake stops.
	StopBytes int64
	// ResumeBytes: at or above it intake goes on; not below StopBytes. The distance keeps it from flapping.
	ResumeBytes int64
}

// DefaultReserve keeps 512 MiB, resuming at 640 MiB; on small file systems a tenth, resuming at an eighth.
func DefaultReserve(s Space) Reserve {
	const mib = 1 << 20
	r := Reserve{StopBytes: 512 * mib, ResumeBytes: 640 * mib}
	if tenth := s.Total / 10; tenth < r.StopBytes {
		r = Reserve{StopBytes: tenth, ResumeBytes: s.Total / 8}
	}
	return r
}

// Validate reports a reserve that makes no sense.
func (r Reserve) Validate() error {
	if r.StopBytes < 0 || r.ResumeBytes < r.StopBytes {
		return fmt.Errorf("reserve: stop at %d and resume at %d bytes; want 0 ≤ stop ≤ resume", r.StopBytes, r.ResumeBytes)
	}
	return nil
}

// Watch decides whether intake may go on. The zero Watch with a Reserve is ready; it holds no resource and asks no
// clock: the caller measures and tells it.
type Watch struct {
	Reserve Reserve
	stopped bool
}

// Stopped says whether intake is stopped.
func (w *Watch) Stopped() bool { return w.stopped }

// Observe takes a measurement and says whether intake is stopped from now on, and whether that changed.
func (w *Watch) Observe(s Space) (stopped, changed bool) {
	before := w.stopped
	switch {
	case s.Free <= w.Reserve.StopBytes:
		w.stopped = true
	case s.Free >= w.Reserve.ResumeBytes:
		w.stopped = false
	}
	return w.stopped, w.stopped != before
}

// Check returns an error of class ErrFull while intake is stopped, naming what is missing.
func (w *Watch) Check(dir string, s Space) error {
	if stopped, _ := w.Observe(s); !stopped {
		return nil
	}
	return &Error{Class: ErrFull, Op: "write to", Path: dir,
		Err:    fmt.Errorf("%d MiB free, writing goes on at %d MiB", s.Free>>20, w.Reserve.ResumeBytes>>20),
		Remedy: remedy(ErrFull)}
}
