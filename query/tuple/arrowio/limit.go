package arrowio

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// ErrLimit is wrapped by errors that say that decoding wanted more memory than it was given.
var ErrLimit = errors.New("memory limit passed")

// meter is an allocator that hands out garbage-collected memory up to a limit. Arrow's decoders have no error return
// for allocation, so passing the limit panics with ErrLimit inside, and guard turns that into the error.
type meter struct {
	go_   memory.GoAllocator
	limit int64
	used  int64
}

func (m *meter) take(n int) {
	if m.used += int64(n); n < 0 || m.used > m.limit {
		panic(fmt.Errorf("%w: %d bytes wanted, %d allowed", ErrLimit, m.used, m.limit))
	}
}

func (m *meter) Allocate(size int) []byte {
	m.take(size)
	return m.go_.Allocate(size)
}

func (m *meter) Reallocate(size int, b []byte) []byte {
	if size > cap(b) {
		m.take(size - cap(b))
	}
	return m.go_.Reallocate(size, b)
}

// Free gives nothing back: what was handed out may be referenced by a batch for as long as anyone keeps it. The meter
// counts one record at a time.
func (m *meter) Free([]byte) {}

func (m *meter) reset() { m.used = 0 }

// guard runs a decoding step and returns its panic as an error.
func guard(step func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if e, ok := p.(error); ok {
				err = fmt.Errorf("arrow: malformed data: %w", e)
			} else {
				err = fmt.Errorf("arrow: malformed data: %v", p)
			}
		}
	}()
	return step()
}
