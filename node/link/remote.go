package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"

	"fednode/dcaa"
	"fednode/node/flow"
	"fednode/node/p2p"
	"fednode/node/wire"
	"fednode/query/tuple"
)

// NoStreamError says that a peer does not produce a stream; another one may.
type NoStreamError struct {
	Stream string
	Detail string
}

// Error names the stream.
func (e *NoStreamError) Error() string { return fmt.Sprintf("stream %s: %s", e.Stream, e.Detail) }

// Errors of a remote cursor that are worth another try.
var (
	errSession  = errors.New("the session ended")
	errEnded    = errors.New("the data stream ended")
	errNoAnswer = errors.New("the peer did not answer in time")
)

// framesAhead is how many received frames may wait for the consumer. Credit bounds their bytes.
const framesAhead = 64

// remoteCursor reads a stream of a peer.
type remoteCursor struct {
	// Fixed.
	l      *Link
	peer   peer.ID
	number uint64
	stream string

	// answer brings nil for Subscribed.
	answer  chan *wire.Refused
	granted bool // l.mu
	frames  chan received
	// gone is closed with err set when the cursor can give nothing more.
	gone chan struct{}
	once sync.Once
	err  error
}

// received is a frame with the credit to give back once it has been handed on.
type received struct {
	frame *tuple.Frame
	bytes int
	data  *p2p.Stream
}

var _ flow.Cursor = (*remoteCursor)(nil)

// Open asks a peer for a stream. The error is a *NoStreamError, a *flow.RefusedError, a *dcaa.TruncatedError, or worth
// another try.
func (l *Link) Open(ctx context.Context, from peer.ID, stream string, s flow.Subscriber) (flow.Cursor, error) {
	c := &remoteCursor{l: l, peer: from, stream: stream, answer: make(chan *wire.Refused, 1), frames: make(chan received, framesAhead), gone: make(chan struct{})}
	l.mu.Lock()
	c.number = l.next
	l.next++
	l.ours[c.number] = c
	l.mu.Unlock()
	m := &wire.Subscribe{
		Subscription: c.number, Stream: stream, Generation: s.From.Generation, Time: s.From.Time, ID: s.From.ID,
		Subscriber: s.Name, Counted: s.Counted, DurableTime: s.Durable.Time, DurableID: s.Durable.ID,
	}
	if s.Tentative {
		m.Tentative = &s.TentativeFrom
	}
	if err := l.net.Send(from, m); err != nil {
		c.forget()
		return nil, err
	}
	if err := c.await(ctx, s.From); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// await waits for the answer.
func (c *remoteCursor) await(ctx context.Context, asked tuple.Position) error {
	ctx, cancel := context.WithTimeoutCause(ctx, answerWithin, errNoAnswer)
	defer cancel()
	select {
	case refused := <-c.answer:
		return c.refusal(refused, asked)
	case <-c.gone:
		return c.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// refusal turns an answer into the error that the consumer acts on; nil for a granted subscription.
func (c *remoteCursor) refusal(m *wire.Refused, asked tuple.Position) error {
	if m == nil {
		return nil
	}
	switch m.Reason {
	case wire.PositionGone, wire.OtherGeneration:
		first, err := decodePosition(m.Detail)
		if err != nil {
			return fmt.Errorf("stream %s: %s, but the peer does not say since when: %w", c.stream, m.Reason, err)
		}
		return &dcaa.TruncatedError{Asked: asked, First: first}
	case wire.NoStream, wire.Moved, wire.Stopping:
		return &NoStreamError{Stream: c.stream, Detail: m.Detail}
	case wire.NotExported:
		return &flow.RefusedError{Stream: c.stream, Reason: m.Detail}
	}
	return fmt.Errorf("stream %s: %s: %s", c.stream, m.Reason, m.Detail)
}

// answered hands an answer to the cursor that waits for it. Answers of a peer that was not asked are dropped.
func (l *Link) answered(p p2p.Peer, number uint64, m *wire.Refused) {
	l.mu.Lock()
	c := l.ours[number]
	if c == nil || c.peer != p.ID {
		l.mu.Unlock()
		return
	}
	again := c.granted
	c.granted = c.granted || m == nil
	l.mu.Unlock()
	if again && m != nil {
		c.fail(c.refusal(m, tuple.Position{})) // granted, and taken back
		return
	}
	select {
	case c.answer <- m:
	default:
	}
}

// Data reads the frames of one of our subscriptions; it is called on a goroutine of its own and returns when the data
// stream has ended.
func (l *Link) Data(ctx context.Context, p p2p.Peer, data *p2p.Stream) {
	l.mu.Lock()
	c := l.ours[data.Subscription()]
	l.mu.Unlock()
	if c == nil || c.peer != p.ID {
		data.Abort(p2p.CodeProtocol)
		return
	}
	c.fail(c.receive(ctx, p, data))
}

// receive reads frames until the stream ends, and says why it did.
func (c *remoteCursor) receive(ctx context.Context, p p2p.Peer, data *p2p.Stream) error {
	owed := 0
	budget := func(d wire.Demand) error {
		if owed = 0; !d.Data {
			return nil
		}
		owed = d.Bytes
		return data.Take(d.Bytes)
	}
	r, err := wire.NewReader(data, wire.ReaderOptions{Version: p.Version, Budget: budget})
	if err != nil {
		return err
	}
	for {
		f, err := r.ReadFrame()
		if errors.Is(err, io.EOF) {
			return errEnded
		}
		if err != nil {
			var broken *wire.ProtocolError
			if errors.As(err, &broken) {
				data.Abort(p2p.CodeProtocol)
			}
			return fmt.Errorf("stream %s from %s: %w", c.stream, p.Member, err)
		}
		select {
		case c.frames <- received{frame: f, bytes: owed, data: data}:
		case <-c.gone:
			return c.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Next returns the next frame.
func (c *remoteCursor) Next(ctx context.Context) (*tuple.Frame, error) {
	for {
		select {
		case r := <-c.frames:
			r.data.Release(r.bytes)
			return r.frame, nil
		default:
		}
		select {
		case r := <-c.frames:
			r.data.Release(r.bytes)
			return r.frame, nil
		case <-c.gone:
			if len(c.frames) > 0 {
				continue
			}
			return nil, c.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// fail ends the cursor; the first cause counts. What has been received can still be read.
func (c *remoteCursor) fail(err error) {
	c.once.Do(func() {
		c.err = err
		close(c.gone)
	})
}

func (c *remoteCursor) forget() {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	delete(c.l.ours, c.number)
}

// Close ends the subscription.
func (c *remoteCursor) Close() {
	c.forget()
	c.fail(flow.ErrClosed)
	// Best effort: a session that has ended has forgotten the subscription.
	_ = c.l.net.Send(c.peer, &wire.Unsubscribe{Subscription: c.number})
}
