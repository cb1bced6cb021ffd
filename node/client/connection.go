package client

import (
	"context"
	"errors"
	"sync"

	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/flow"
	"fednode/query/tuple"
)

// arrival is what a connection hands over.
type arrival struct {
	conn uint64
	kind arrivalKind
	// frame of a frame, cause of an end.
	frame *tuple.Frame
	cause error
}

type arrivalKind uint8

const (
	opened arrivalKind = iota
	delivered
	refused // before it was opened
	ended   // after
)

// connections are what a subscription reads from.
type connections struct {
	req      *Request
	ctx      context.Context
	cancel   context.CancelFunc
	pullers  sync.WaitGroup
	open     map[uint64]context.CancelFunc
	arrivals chan arrival

	mu      sync.Mutex
	durable tuple.Position
}

// arriving is how many frames of all connections may be on their way to who calls Next; each connection holds one more.
const arriving = 8

func newConnections(req *Request) *connections {
	c := &connections{req: req, open: make(map[uint64]context.CancelFunc), arrivals: make(chan arrival, arriving), durable: req.From}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Open asks a producer for the stream.
func (c *connections) Open(o dcaa.Opening) {
	ctx, cancel := context.WithCancel(c.ctx)
	c.open[o.Conn] = cancel
	sub := flow.Subscriber{Name: c.req.Name, From: o.From, Durable: c.acknowledged(), Counted: c.req.Counted, Tentative: o.Tentative, TentativeFrom: o.TentativeFrom}
	producer := c.req.Producers[o.Producer]
	if o.Because != "" && c.req.Log != nil {
		c.req.Log.Info("a stream is read from another replica", zap.String("stream", c.req.Stream), zap.String("reader", c.req.Name),
			zap.String("producer", producer), zap.String("left_because", o.Because))
	}
	c.pullers.Go(func() { c.pull(ctx, o.Conn, producer, sub) })
}

// Close ends a connection.
func (c *connections) Close(conn uint64) {
	if cancel := c.open[conn]; cancel != nil {
		cancel()
		delete(c.open, conn)
	}
}

// end ends all connections and returns when they have ended.
func (c *connections) end() {
	c.cancel()
	c.pullers.Wait()
}

func (c *connections) acknowledged() tuple.Position {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.durable
}

func (c *connections) acknowledge(p tuple.Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.durable = p
}

// pull opens the stream and hands its frames over until ctx ends or the stream does.
func (c *connections) pull(ctx context.Context, conn uint64, producer string, sub flow.Subscriber) {
	cursor, err := c.req.Network.OpenFrom(ctx, producer, c.req.Stream, sub)
	if err != nil {
		c.arrive(ctx, arrival{conn: conn, kind: refused, cause: err})
		return
	}
	defer cursor.Close()
	if !c.arrive(ctx, arrival{conn: conn, kind: opened}) {
		return
	}
	for {
		f, err := cursor.Next(ctx)
		if err != nil {
			c.arrive(ctx, arrival{conn: conn, kind: ended, cause: err})
			return
		}
		if !c.arrive(ctx, arrival{conn: conn, kind: delivered, frame: f}) {
			return
		}
	}
}

// arrive hands something over; false if ctx ended first.
func (c *connections) arrive(ctx context.Context, a arrival) bool {
	select {
	case c.arrivals <- a:
		return true
	case <-ctx.Done():
		return false
	}
}

// take hands an arrival to the intake.
func (s *Subscription) take(a arrival) {
	if s.conns.open[a.conn] == nil {
		return // closed meanwhile
	}
	now := s.now()
	switch a.kind {
	case opened:
		s.cause = nil
		s.intake.Opened(now, a.conn)
	case delivered:
		if err := s.intake.Frame(now, a.conn, a.frame); err != nil {
			s.cause = err
		}
	case refused:
		s.cause = a.cause
		var gone *dcaa.TruncatedError
		if errors.As(a.cause, &gone) {
			s.intake.Truncated(now, a.conn, gone.First)
		} else {
			s.intake.Refused(now, a.conn)
		}
	case ended:
		s.cause = a.cause
		s.intake.Closed(now, a.conn)
	}
}
