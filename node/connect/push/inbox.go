package push

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"fednode/node/connect"
	"fednode/query/spec"
)

// ErrBusy says that the stream has as many pushes waiting as it takes; the sender should try again a little later.
var ErrBusy = errors.New("the stream is busy")

// ErrClosed says that nobody reads the stream now.
var ErrClosed = errors.New("the stream is not read at the moment")

// Kind returns the connector kind "http". Its plan makes an *Inbox, which the node finds by a type assertion.
func Kind() connect.Kind {
	return connect.Kind{Name: "http", Source: func(r *spec.Reader, s *connect.Stream) *connect.SourcePlan {
		waiting := int(r.Int("max_waiting", 64, 1, 4096))
		return &connect.SourcePlan{Live: true, Detail: "http, pushed to us",
			New: func(connect.Env) connect.Source { return NewInbox(waiting) }}
	}}
}

// Inbox is the source of a stream that others push to. Push may be called by many goroutines; one reader takes.
type Inbox struct {
	waiting chan *delivery // its capacity is the number of pushes that may wait

	mu     sync.Mutex // guards reader
	reader *reader
}

// delivery is one push on its way into the log.
type delivery struct {
	key    string
	blocks []*connect.Block
	done   chan error // of capacity 1; receives once, when the rows are durable or will never be
}

// NewInbox returns an inbox in which at most `waiting` pushes wait.
func NewInbox(waiting int) *Inbox { return &Inbox{waiting: make(chan *delivery, waiting)} }

// Push hands over the blocks of one body and returns when their rows are durable. key is the sender's idempotency key,
// "" if it has none. After an error other than ErrBusy and ErrClosed the rows may have been taken or not: sending them
// again with the same key is safe. The blocks are the inbox's from now on.
func (in *Inbox) Push(ctx context.Context, key string, blocks []*connect.Block) error {
	in.mu.Lock()
	r := in.reader
	in.mu.Unlock()
	if r == nil {
		return fmt.Errorf("push: %w", ErrClosed)
	}
	d := &delivery{key: key, blocks: blocks, done: make(chan error, 1)}
	select {
	case in.waiting <- d:
	default:
		return fmt.Errorf("push: %w", ErrBusy)
	}
	select {
	case err := <-d.done:
		return err
	case <-r.closed:
		return fmt.Errorf("push: %w before the rows were durable", ErrClosed)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Open returns the reader; there is one at a time.
func (in *Inbox) Open(_ context.Context, pos []byte) (connect.Reader, error) {
	keys, err := decodeKeys(pos)
	if err != nil {
		return nil, fmt.Errorf("push: position: %w", err)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.reader != nil {
		return nil, errors.New("push: the stream is being read already")
	}
	in.reader = &reader{in: in, keys: keys, closed: make(chan struct{})}
	return in.reader, nil
}

// reader takes the pushes one after the other.
type reader struct {
	in     *Inbox
	closed chan struct{} // closed by Close, so that waiting pushes give up
	once   sync.Once

	keys    *keys
	cur     *delivery
	next    int         // block of cur
	pending bool        // blocks have been returned that are not durable yet
	done    []*delivery // returned in full, or known from before, and waiting for that
	told    bool        // that the stream is idle
}

// Next returns the next block of a push, each with the state of its key in the position.
func (r *reader) Next(ctx context.Context) (*connect.Block, error) {
	for {
		select {
		case <-r.closed:
			return nil, io.EOF
		default:
		}
		if r.cur != nil {
			if b := r.block(); b != nil {
				return b, nil
			}
		}
		select {
		case d := <-r.in.waiting:
			r.begin(d)
			continue
		default:
		}
		if !r.told {
			r.told = true
			return &connect.Block{Pos: r.keys.encode(), Status: connect.Status{State: connect.Idle}}, nil
		}
		select {
		case d := <-r.in.waiting:
			r.begin(d)
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-r.closed:
			return nil, io.EOF
		}
	}
}

func (r *reader) begin(d *delivery) {
	r.cur, r.told = d, false
	r.next = r.keys.seen(d.key) // blocks that an earlier push with this key has brought in
}

// block returns the next block of the current push, nil if there is none left.
func (r *reader) block() *connect.Block {
	d := r.cur
	if r.next >= len(d.blocks) {
		r.cur = nil
		r.answer(d) // all of it came in with an earlier push, or it is empty
		return nil
	}
	b := d.blocks[r.next]
	r.next++
	r.keys.note(d.key, r.next)
	b.Pos = r.keys.encode()
	b.Status = connect.Status{State: connect.Behind}
	r.pending = true
	if r.next == len(d.blocks) {
		r.cur = nil
		r.answer(d)
		if len(r.in.waiting) == 0 {
			b.Status.State = connect.Idle
			r.told = true
		}
	}
	return b
}

// answer tells a push that it is durable, as soon as that is so.
func (r *reader) answer(d *delivery) {
	if r.pending {
		r.done = append(r.done, d)
		return
	}
	d.done <- nil
}

// Durable tells the pushes whose blocks have all been returned that they are durable.
func (r *reader) Durable() {
	r.pending = false
	for _, d := range r.done {
		d.done <- nil
	}
	r.done = nil
}

// Close ends the reader; pushes that wait are told.
func (r *reader) Close() error {
	r.once.Do(func() {
		close(r.closed)
		r.in.mu.Lock()
		r.in.reader = nil
		r.in.mu.Unlock()
		for {
			select {
			case d := <-r.in.waiting:
				d.done <- fmt.Errorf("push: %w", ErrClosed)
			default:
				return
			}
		}
	})
	return nil
}

var _ connect.Durable = (*reader)(nil)
