package fragment

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/flow"
	"fednode/node/replica"
	"fednode/query/tuple"
	"fednode/storage"
)

// ErrTransferred ends a life of a fragment whose inputs no longer reach back to where it stands: a recovery point with the
// state of another replica has been stored, and the next life begins with it.
var ErrTransferred = errors.New("the state of another replica has been taken over; starting again with it")

var errSlowTransfer = errors.New("the state comes too slowly")

// StateName is the stream that carries the state of a fragment's replica to another: once, from the beginning, to its end.
func StateName(fragment string) string { return fragment + ".state" }

// stateChunk is how many bytes of state a row carries.
const stateChunk = 1 << 20

// StateSchema returns the columns of a state stream.
func StateSchema() *tuple.Schema {
	return tuple.MustSchema(tuple.Field{Name: "state", Type: tuple.Of(tuple.Bytes)})
}

// StateStream gives the state of a running replica to other replicas.
type StateStream struct {
	r      *Runner
	schema *tuple.Schema
}

var _ flow.Stream = (*StateStream)(nil)

// State returns the stream of the fragment's state.
func (r *Runner) State() *StateStream { return &StateStream{r: r, schema: StateSchema()} }

// Name returns the stream's full name.
func (s *StateStream) Name() string { return StateName(s.r.cfg.Name) }

// Schema returns the stream's columns.
func (s *StateStream) Schema() *tuple.Schema { return s.schema }

// Ack does nothing: a state is taken once.
func (s *StateStream) Ack(string, tuple.Position) {}

// Forget does nothing: nobody is counted.
func (s *StateStream) Forget(string) {}

// Head is the beginning: a state is made when it is asked for.
func (s *StateStream) Head() tuple.Position {
	return tuple.Position{Generation: 1, Time: tuple.MinTime}
}

// Beat says that there is a state to be had.
func (s *StateStream) Beat() dcaa.StreamStatus {
	return dcaa.StreamStatus{State: dcaa.Stable, Boundary: tuple.MinTime, Generation: 1}
}

// Open returns a cursor of the state as it is when it is first read.
func (s *StateStream) Open(who flow.Subscriber) (flow.Cursor, error) {
	return &stateCursor{s: s, who: who.Name, closed: make(chan struct{})}, nil
}

// stateCursor gives a state in rows of bytes, then the end.
type stateCursor struct {
	s     *StateStream
	who   string // reads it
	state []byte
	next  uint64

	mu     sync.Mutex // over pack and the closing of closed
	pack   *pack      // that is read; nil before the first piece
	closed chan struct{}
	once   sync.Once
}

// Next returns the next piece.
func (c *stateCursor) Next(ctx context.Context) (*tuple.Frame, error) {
	if c.pack == nil {
		c.s.r.cfg.Log.Info("the state is given to another replica", zap.String("fragment", c.s.r.cfg.Name), zap.String("subscriber", c.who))
		if err := c.take(ctx); err != nil {
			return nil, err
		}
	}
	if c.pack.ended() {
		return nil, flow.ErrClosed
	}
	if len(c.state) == 0 {
		if c.next == 0 {
			<-ctx.Done() // the end has been given
			return nil, ctx.Err()
		}
		c.next = 0
		return &tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: tuple.MaxTime}, nil
	}
	n := min(stateChunk, len(c.state))
	b := tuple.NewBatchBuilder(c.s.schema)
	b.AppendBin(0, c.state[:n])
	b.EndRow(tuple.Time(c.next))
	f := &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: c.next, LastID: c.next, Batch: b.Take()}
	c.state = c.state[n:]
	c.next++
	return f, nil
}

// take takes a pack of the state, which others may read too. One that was not made because who was to make it has gone says
// nothing of the state: then another is taken.
func (c *stateCursor) take(ctx context.Context) error {
	for {
		mine, err := c.takeOne(ctx)
		if mine || !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, flow.ErrClosed) || c.over(ctx) {
			return err
		}
	}
}

// over reports whether nobody reads the cursor any more, or its fragment has ended.
func (c *stateCursor) over(ctx context.Context) bool {
	select {
	case <-c.closed:
	case <-c.s.r.ended:
	case <-ctx.Done():
	default:
		return false
	}
	return true
}

// takeOne takes a pack, which it makes if it is mine.
func (c *stateCursor) takeOne(ctx context.Context) (mine bool, err error) {
	r := c.s.r
	p, mine := r.packs.take(r.cfg.Clock.Now())
	if mine {
		p.b, p.err = c.make(ctx)
		close(p.ready)
	}
	select {
	case <-p.ready:
	case <-c.closed:
		r.packs.leave(p)
		return mine, flow.ErrClosed
	case <-ctx.Done():
		r.packs.leave(p)
		return mine, ctx.Err()
	}
	if p.err != nil {
		r.packs.leave(p)
		return mine, p.err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.closed:
		r.packs.leave(p)
		return mine, flow.ErrClosed
	default:
	}
	c.pack, c.state, c.next = p, p.b, 1
	return mine, nil
}

// make asks the run loop for its state and packs it.
func (c *stateCursor) make(ctx context.Context) ([]byte, error) {
	reply := make(chan draft, 1) // the loop does not wait for us
	select {
	case c.s.r.states <- reply:
	case <-c.closed:
		return nil, flow.ErrClosed
	case <-c.s.r.ended:
		return nil, flow.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	d := <-reply
	b, err := c.s.r.cfg.Points.PackPoint(d.portable().complete())
	if err != nil {
		return nil, fmt.Errorf("state of fragment %s: %w", c.s.r.cfg.Name, err)
	}
	return b, nil
}

// Close frees the cursor.
func (c *stateCursor) Close() {
	c.once.Do(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		close(c.closed)
		if c.pack != nil {
			c.s.r.packs.leave(c.pack)
		}
	})
}

// transfer is what has come of a request for the state of another replica.
type transfer struct {
	peer  int
	point *storage.RecoveryPoint
	err   error
}

// A transfer that is slower than slowestTransfer, in bytes a second, after a grace that lets the other side pack its state,
// is given up: whoever gives it might go on for ever.
const (
	transferGrace   = 30 * time.Second
	slowestTransfer = 16 << 10
)

// Transfer asks another replica for its state, beside the loop: one after the other, for a state may be large.
func (r *Runner) Transfer(peer int) {
	if r.fetching || r.taking {
		return
	}
	r.fetching = true
	name := r.cfg.Peers[peer]
	r.cfg.Log.Warn("an input no longer reaches back to where the fragment stands; asking another replica for its state",
		zap.String("fragment", r.cfg.Name), zap.String("replica", name))
	ctx := r.ctx
	r.pullers.Go(func() {
		p, err := r.fetch(ctx, name)
		if err == nil {
			err = r.usable(p)
		}
		select {
		case r.transferred <- transfer{peer: peer, point: p, err: err}:
		case <-ctx.Done():
		}
	})
}

// offered judges what has come of a transfer; nil if it is of no use.
func (r *Runner) offered(t transfer) *takeover {
	r.fetching = false
	now, name := r.now(), r.cfg.Peers[t.peer]
	if t.err != nil {
		r.decline(t.peer, t.err)
		return nil
	}
	whole := t.point.Epoch != r.cfg.Epoch
	take := r.core.Offered(now, t.peer, replica.State{Inputs: r.positions(t.point), Boundary: t.point.Boundary}, whole)
	if take == nil {
		r.cfg.Log.Warn("the state of another replica reaches no further", zap.String("fragment", r.cfg.Name), zap.String("replica", name))
		return nil
	}
	if !take.Whole() {
		r.cfg.Log.Warn("a part of the state of another replica is taken over", zap.String("fragment", r.cfg.Name), zap.String("replica", name), zap.Strings("outputs", r.taken(take)))
	}
	return &takeover{peer: t.peer, theirs: t.point, take: take}
}

// decline notes that a replica gives no state that is of use.
func (r *Runner) decline(peer int, err error) {
	r.cfg.Log.Warn("state not taken over; another replica is asked", zap.String("fragment", r.cfg.Name), zap.String("replica", r.cfg.Peers[peer]), zap.Error(err))
	r.core.Declined(r.now(), peer)
}

// usable begins a life with a point and drops it: what cannot be restored must not take the place of what can. That takes as long as
// the state is large, and is done beside the loop.
func (r *Runner) usable(p *storage.RecoveryPoint) error {
	if p.Epoch > r.cfg.Epoch {
		return fmt.Errorf("it is of epoch %d of the query, this replica of %d", p.Epoch, r.cfg.Epoch)
	}
	trial := &Runner{cfg: r.cfg, began: r.began, news: newNewsbox()}
	trial.cfg.OverflowDir = "" // what lies there is ours
	return trial.build(p)
}

// fetch reads the state of a replica.
func (r *Runner) fetch(ctx context.Context, from string) (*storage.RecoveryPoint, error) {
	stream := StateName(r.cfg.Name)
	cursor, err := r.cfg.Network.OpenFrom(ctx, from, stream, flow.Subscriber{Name: r.cfg.Subscriber, Schema: StateSchema()})
	if err != nil {
		return nil, err
	}
	defer cursor.Close()
	var state []byte
	began := r.cfg.Clock.Now()
	for {
		patience := transferGrace + time.Duration(len(state))*time.Second/slowestTransfer - r.cfg.Clock.Now().Sub(began)
		f, err := within(ctx, patience, cursor)
		if err != nil {
			return nil, err
		}
		if f.Kind == tuple.Boundary && f.Time == tuple.MaxTime {
			return r.cfg.Points.UnpackPoint(r.cfg.Name, state)
		}
		if f.Kind != tuple.Insertion {
			continue
		}
		for n := range f.Batch.Rows() {
			state = append(state, f.Batch.Cols[0].Bin(f.Batch.Row(n))...)
		}
		if len(state) > storage.MaxPointBytes {
			return nil, fmt.Errorf("the state of %s is larger than %d bytes", from, storage.MaxPointBytes)
		}
	}
}

// within returns the next frame if it comes in time.
func within(ctx context.Context, patience time.Duration, c flow.Cursor) (*tuple.Frame, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errSlowTransfer)
	defer cancel()
	f, err := c.Next(ctx)
	if err != nil && context.Cause(ctx) == errSlowTransfer {
		return nil, errSlowTransfer
	}
	return f, err
}
