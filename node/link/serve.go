package link

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/export"
	"fednode/node/flow"
	"fednode/node/p2p"
	"fednode/node/wire"
	"fednode/query/tuple"
)

// subscribe answers a peer that asks for a stream, and serves it if it may have it.
func (l *Link) subscribe(p p2p.Peer, m *wire.Subscribe) {
	s, refused := l.admit(p, m)
	if refused == nil {
		refused = l.serve(p, m, s)
	}
	if refused == nil {
		l.refusals.forget(refusalKey{p.ID, m.Stream})
		return
	}
	refused.Subscription = m.Subscription
	if refused.Reason != wire.NoStream {
		level := zap.DebugLevel
		if l.refusals.lasts(refusalKey{p.ID, m.Stream}, time.Now()) {
			level = zap.InfoLevel
		}
		l.log.Log(level, "subscription refused", zap.Stringer("peer", p.Member), zap.String("stream", m.Stream), zap.Stringer("reason", refused.Reason), zap.String("detail", refused.Detail))
	}
	l.send(p, refused)
}

func (l *Link) send(p p2p.Peer, m wire.Message) {
	if err := l.net.Send(p.ID, m); err != nil {
		l.log.Debug("not sent", zap.Stringer("peer", p.Member), zap.Stringer("message", m.Kind()), zap.Error(err))
	}
}

// served is a stream on its way to one peer.
type served struct {
	stream flow.Stream
	view   *export.View // nil within the organisation
	pace   *pace        // nil without a limit
}

// admit finds the stream and says whether the peer may have it.
func (l *Link) admit(p p2p.Peer, m *wire.Subscribe) (served, *wire.Refused) {
	org := p.Member.Org
	if !strings.HasPrefix(m.Subscriber, org+"/") {
		return served{}, &wire.Refused{Reason: wire.NotExported, Detail: fmt.Sprintf("the subscriber %q does not belong to %s", m.Subscriber, org)}
	}
	x, err := l.local.Permit(m.Stream, org)
	if err != nil {
		return served{}, &wire.Refused{Reason: wire.NotExported, Detail: err.Error()}
	}
	s := l.local.Find(m.Stream)
	if s == nil {
		return served{}, &wire.Refused{Reason: wire.NoStream, Detail: "no stream " + m.Stream + " here"}
	}
	if x == nil {
		return served{stream: s}, nil
	}
	view, err := x.View(s.Schema())
	if err != nil {
		return served{}, &wire.Refused{Reason: wire.NotExported, Detail: err.Error()}
	}
	view.Limit(x, s.Head().Time)
	return served{stream: s, view: view, pace: l.paceOf(x, org)}, nil
}

// serve opens a cursor and sends what it gives until something ends it.
func (l *Link) serve(p p2p.Peer, m *wire.Subscribe, s served) *wire.Refused {
	sub := flow.Subscriber{Name: m.Subscriber, From: m.Position(), Durable: m.Durable(), Counted: m.Counted}
	if m.Tentative != nil {
		sub.Tentative, sub.TentativeFrom = true, *m.Tentative
	}
	cursor, err := s.stream.Open(sub)
	var gone *dcaa.TruncatedError
	switch {
	case errors.As(err, &gone):
		reason := wire.PositionGone
		if gone.First.Generation != m.Generation {
			reason = wire.OtherGeneration
		}
		return &wire.Refused{Reason: reason, Detail: encodePosition(gone.First)}
	case errors.Is(err, flow.ErrClosed):
		return &wire.Refused{Reason: wire.NoStream, Detail: "stream " + m.Stream + " has just been closed"}
	case err != nil:
		return &wire.Refused{Reason: wire.NoCapacity, Detail: err.Error()}
	}
	key := servingKey{p.ID, m.Subscription}
	ctx, me, ok := l.begin(key, s.stream)
	if !ok {
		cursor.Close()
		return &wire.Refused{Reason: wire.Stopping, Detail: "the node is about to stop"}
	}
	schema := s.stream.Schema()
	if s.view != nil {
		schema = s.view.Schema()
	}
	// The answer leaves before the data stream is opened, so the peer knows the subscription when the stream comes.
	l.send(p, &wire.Subscribed{Subscription: m.Subscription, Generation: s.stream.Head().Generation, NextID: m.ID + 1, Fingerprint: schema.Fingerprint()})
	go func() {
		defer l.tasks.Done()
		defer l.end(key, me)
		defer cursor.Close()
		err := l.pump(ctx, p, m.Subscription, cursor, s, schema)
		var ended *endedError
		if errors.As(err, &ended) && ctx.Err() == nil {
			l.send(p, &wire.Refused{Subscription: m.Subscription, Reason: ended.reason, Detail: ended.Error()})
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, flow.ErrClosed) {
			l.log.Debug("subscription ended", zap.Stringer("peer", p.Member), zap.String("stream", m.Stream), zap.Error(err))
		}
	}()
	return nil
}

// endedError ends a subscription that had been granted; the peer is told why.
type endedError struct {
	reason wire.Refusal
	cause  error
}

// Error returns the cause.
func (e *endedError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *endedError) Unwrap() error { return e.cause }

// begin registers a subscription that is being served; a number that is used again ends the earlier one.
func (l *Link) begin(k servingKey, st flow.Stream) (context.Context, *serving, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx == nil {
		return nil, nil, false
	}
	if earlier := l.serving[k]; earlier != nil {
		earlier.cancel()
	}
	l.tasks.Add(1) // under mu: Run does not wait yet
	ctx, cancel := context.WithCancel(l.ctx)
	me := &serving{stream: st, cancel: cancel}
	l.serving[k] = me
	l.served++
	return ctx, me, true
}

// end forgets a subscription that is no longer served, unless its number is in use again.
func (l *Link) end(k servingKey, me *serving) {
	me.cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.serving[k] == me {
		delete(l.serving, k)
		l.served++
	}
}

// stopServing ends a subscription at the peer's wish.
func (l *Link) stopServing(k servingKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.serving[k]; s != nil {
		s.cancel()
	}
}

// pump sends frames of a cursor over a data stream.
func (l *Link) pump(ctx context.Context, p p2p.Peer, number uint64, cursor flow.Cursor, s served, schema *tuple.Schema) error {
	data, err := l.net.OpenData(ctx, p.ID, number)
	if err != nil {
		return &endedError{wire.NoCapacity, err}
	}
	defer data.Close()
	// Write knows no context: a peer that is alive and does not read would hold us up for as long as it likes.
	defer context.AfterFunc(ctx, func() { data.Abort(p2p.CodeCancelled) })()
	w, err := wire.NewWriter(data, schema, wire.WriterOptions{Version: p.Version, Credit: func(n int) error { return data.Acquire(ctx, n) }})
	if err != nil {
		return err
	}
	for {
		f, err := cursor.Next(ctx)
		if errors.Is(err, flow.ErrClosed) {
			return errors.Join(err, data.CloseWrite())
		}
		if err != nil {
			return err
		}
		// An export may end while it is open, also one that what a query makes from its stream depends on.
		if _, err := l.local.Permit(s.stream.Name(), p.Member.Org); err != nil {
			return &endedError{wire.NotExported, err}
		}
		if s.view != nil {
			if f = s.view.Frame(f); f == nil {
				continue // nothing of it leaves
			}
		}
		if err := s.pace.wait(ctx, f); err != nil {
			return err
		}
		if err := w.WriteFrame(f); err != nil {
			return err
		}
	}
}

// acknowledged passes a peer's acknowledgement on to the stream.
func (l *Link) acknowledged(p p2p.Peer, m *wire.Ack) {
	if !strings.HasPrefix(m.Subscriber, p.Member.Org+"/") {
		return // nobody acknowledges for others
	}
	if s := l.local.Find(m.Stream); s != nil && m.Level >= wire.Stored {
		s.Ack(m.Subscriber, m.Position())
	}
}
