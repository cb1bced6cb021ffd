package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"fednode/node/connect"
	"fednode/node/ingest"
	"fednode/query/tuple"
	"fednode/storage/seglog"
)

// inFlight bounds the commits that wait to become durable: enough for one synced write to take many, few enough that
// memory stays small.
const inFlight = 32

// attempt is one life of the pipeline reader → decider → log → subscribers. A failure ends the whole of it, and the
// next begins at the newest durable commit: so what was decided but not logged is decided again, and nothing twice.
type attempt struct {
	p       *Proxy
	reader  connect.Reader
	decider *ingest.Decider
	lag     ingest.Lag
	began   time.Time
	errors  uint64
	side    side // numbers of the newest commit
	pos     []byte
	state   connect.Status
	buf     tuple.Encoder
	blocks  chan *connect.Block
	commits chan commit
	seq     uint64 // of the newest commit in the log, durable or not
	// stop ends the attempt when the log fails.
	stop context.CancelCauseFunc
	// settled brings word of each block's commit, for a reader whose origin waits for it; nil for others.
	settled chan struct{}
}

// commit is a record on its way to the disk.
type commit struct {
	rec   *record
	log   seglog.Commit
	block bool  // it is a block's, not the clock's
	lag   int64 // that was normal then
}

// runOnce reads until the source has ended (nil), ctx ends, or something fails.
func (p *Proxy) runOnce(ctx context.Context) error {
	if p.last != nil && p.last.ended {
		p.condition(connect.Status{State: connect.Ended, End: connect.EndEOF})
		return nil
	}
	a := &attempt{p: p, began: p.cfg.Clock.Now(), blocks: make(chan *connect.Block, 2), commits: make(chan commit, inFlight), seq: p.log.Appended()}
	a.resume()
	r, err := p.cfg.Source.Open(ctx, a.pos)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	a.reader = r
	defer r.Close()
	if _, ok := r.(connect.Durable); ok {
		a.settled = make(chan struct{}, 1)
	}
	life, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	a.stop = stop
	g, ctx := errgroup.WithContext(life)
	g.Go(func() error { return a.read(ctx) })
	g.Go(func() error { return a.decide(ctx) })
	g.Go(func() error { a.publish(); return nil })
	err = g.Wait()
	if failed := context.Cause(life); failed != nil {
		return failed // not what the others made of it
	}
	return err
}

// resume takes up the state of the newest durable commit.
func (a *attempt) resume() {
	p := a.p
	a.decider, a.side = ingest.New(p.cfg.Rules, 0), newSide()
	known := ingest.Measured
	if p.last != nil {
		known = p.last.lag
		a.decider = ingest.Restore(p.cfg.Rules, p.last.state, p.last.totals, 0)
		a.errors, a.pos, a.side = p.last.errors, p.last.position, p.last.side
	}
	a.lag = ingest.NewLag(p.cfg.Rules, p.cfg.HasTime, known, 0)
	a.away()
}

// away takes in that the source was not there until now.
func (a *attempt) away() {
	if !a.p.cfg.HasTime {
		a.decider.NoneBefore(a.arrival())
	}
}

// now is the attempt's monotonic clock.
func (a *attempt) now() tuple.Instant {
	return tuple.Instant(a.p.cfg.Clock.Now().Sub(a.began).Microseconds())
}

// arrival is the wall clock, moved on by the monotonic one: a step of the clock while the source runs changes nothing.
func (a *attempt) arrival() tuple.Time {
	return tuple.TimeOf(a.began).Add(int64(a.now()))
}

// read hands on what the connector delivers.
func (a *attempt) read(ctx context.Context) error {
	defer close(a.blocks)
	for {
		b, err := a.reader.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case a.blocks <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := a.settle(ctx); err != nil {
			return err
		}
	}
}

// settle tells a reader whose origin waits for it that all it has returned is durable.
func (a *attempt) settle(ctx context.Context) error {
	if a.settled == nil {
		return nil
	}
	select {
	case <-a.settled:
		a.reader.(connect.Durable).Durable()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// decide turns blocks and the passing of time into commits.
func (a *attempt) decide(ctx context.Context) error {
	defer close(a.commits)
	interval := time.Duration(max(a.p.cfg.Rules.BoundaryInterval, tuple.Millisecond)) * time.Microsecond
	tick := time.NewTicker(interval)
	defer tick.Stop()
	pause := standstill{last: time.Now(), most: max(2*interval, shortestStandstill)}
	for {
		if err := a.room(ctx); err != nil {
			return err
		}
		select {
		case b, open := <-a.blocks:
			if !open {
				return nil
			}
			if err := a.block(ctx, b); err != nil {
				return err
			}
		case <-tick.C:
			stood, seen := pause.over(time.Now()), a.seen() // before the look at what has been read
			if len(a.blocks) > 0 {
				continue // what has been read comes before what the clock says
			}
			if err := a.tick(ctx, stood, seen); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// room waits while the log holds more than it may (subscribers have to acknowledge first), or the disk has no room.
func (a *attempt) room(ctx context.Context) error {
	for full := false; ; full = true {
		err := a.p.roomError()
		if errors.As(err, new(*FatalError)) {
			return err
		}
		if err == nil {
			if full {
				a.p.clearFailure()
			}
			return nil
		}
		a.p.fail(err)
		select {
		case <-a.p.cfg.Clock.After(retryFirst):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// roomError says why nothing more can be taken in, nil if it can.
func (p *Proxy) roomError() error {
	held := p.log.Stats().StoredBytes
	if held >= p.cfg.MaxLogBytes && p.cfg.Rules.MaxOutOfOrder == ingest.Unbounded {
		// No boundary, so no result and no acknowledgement, comes before the end, and the end does not fit.
		return &FatalError{Err: fmt.Errorf("the log holds %d bytes, %d are allowed, and nothing can be acknowledged before the stream ends, since max_out_of_order is \"inf\"; "+
			"give a duration, or let limits.source_log be larger than the input", held, p.cfg.MaxLogBytes)}
	}
	if held >= p.cfg.MaxLogBytes {
		return fmt.Errorf("the log holds %d bytes, %d are allowed; intake waits until subscribers acknowledge", held, p.cfg.MaxLogBytes)
	}
	if p.cfg.Room != nil {
		return p.cfg.Room()
	}
	return nil
}

// block decides about what the connector delivered, in one commit.
func (a *attempt) block(ctx context.Context, b *connect.Block) error {
	a.state, a.pos = b.Status, b.Pos
	a.p.condition(b.Status)
	rec := &record{position: b.Pos, ended: b.Status.State == connect.Ended}
	if err := a.rejects(rec, b); err != nil {
		return err
	}
	rec.state = a.decider.State()
	if b.Rows() > 0 {
		arrival := a.arrival()
		if !a.p.cfg.HasTime {
			arrival = a.stamp(b.Batch, arrival)
		}
		c := a.decider.Rows(b.Batch, arrival, a.now())
		rec.batch, rec.firstID = c.Batch, c.FirstID
		a.lag.Rows(a.decider.State().High, arrival, a.now(), b.Status.State == connect.Idle)
		a.judge(rec, c, b.Batch)
	}
	if rec.ended {
		a.decider.Tick(a.now(), ingest.Ended)
	}
	return a.append(ctx, rec, true)
}

// stamp gives rows of a stream without event time their arrival, and returns it. It never goes back: the wall clock may have
// been set back since the rows before, or since the boundary that followed them.
func (a *attempt) stamp(b *tuple.Batch, arrival tuple.Time) tuple.Time {
	s := a.decider.State()
	arrival = max(arrival, s.High, s.Idle)
	for i := range b.Time {
		b.Time[i] = arrival
	}
	return arrival
}

// rejects counts records that could not be read and sets them aside.
func (a *attempt) rejects(rec *record, b *connect.Block) error {
	for i := range b.Rejects {
		r := &b.Rejects[i]
		if a.p.cfg.OnError == ErrorFail {
			return &FatalError{Err: fmt.Errorf("%w; the stream says on_error = \"fail\"", r)}
		}
		a.errors++
		if a.p.cfg.OnError == ErrorSide {
			rec.side.rejects = append(rec.side.rejects, *r)
		} else {
			a.p.count(r.Reason.String())
		}
	}
	return nil
}

// judge sets late and future rows aside, unless they were dropped or clamped.
func (a *attempt) judge(rec *record, c ingest.Commit, b *tuple.Batch) {
	var kept []ingest.Verdict
	for _, v := range c.Verdicts {
		a.p.warnOnce(v)
		if v.Accepted || v.Late && a.p.cfg.Rules.Late == ingest.LateDrop {
			a.p.count(reasonOf(v))
			continue
		}
		kept = append(kept, v)
	}
	rec.side.setAside(b, kept)
}

// standstill finds out whether the process has stood still: it was stopped, or the machine slept or had no time for it.
type standstill struct {
	last time.Time     // when it was looked last
	most time.Duration // between two looks of a process that runs
}

// shortestStandstill is more than a busy machine makes of a tick.
const shortestStandstill = 200 * time.Millisecond

// over reports whether the process has stood still until now.
func (s *standstill) over(now time.Time) bool {
	gap := now.Sub(s.last)
	s.last = now
	return gap > s.most
}

// seen returns until when it is known what there was to read. A reader that looks by itself may be late with that, and rows
// that it has not found yet must not be late for it.
func (a *attempt) seen() tuple.Instant {
	r, ok := a.reader.(connect.Looking)
	if !ok {
		return a.now()
	}
	return tuple.Instant(r.Looked().Sub(a.began).Microseconds())
}

// tick lets an idle source's boundary follow the clock, as far as the source has been seen to be quiet. After a standstill
// it is not known whether it was quiet meanwhile: there may be rows that have not been read.
func (a *attempt) tick(ctx context.Context, stoodStill bool, seen tuple.Instant) error {
	c := conditionOf(a.state.State)
	if stoodStill && c == ingest.Waiting {
		c = ingest.Behind
	}
	now := a.now()
	if c == ingest.Waiting {
		now = min(now, seen)
	}
	_, ok := a.decider.Tick(now, c)
	if c != ingest.Waiting {
		a.away()
	}
	if !ok {
		return nil
	}
	return a.append(ctx, &record{state: a.decider.State(), position: a.pos}, false)
}

func conditionOf(s connect.State) ingest.Condition {
	switch s {
	case connect.Idle:
		return ingest.Waiting
	case connect.Disconnected:
		return ingest.Disconnected
	case connect.Ended:
		return ingest.Ended
	}
	return ingest.Behind
}

// append hands a commit to the log, and what the log has taken to publish. It is durable, and sent, once publish has seen
// it.
func (a *attempt) append(ctx context.Context, rec *record, block bool) error {
	rec.state, rec.totals, rec.errors = a.decider.State(), a.decider.Totals(), a.errors
	rec.lag = a.lag.Known()
	rec.side.follow(&a.side, a.arrival())
	a.side = side{clock: rec.side.clock, ids: rec.side.ids}
	a.buf.B = a.buf.B[:0]
	rec.encode(&a.buf, a.p.cfg.Schema)
	c, err := a.p.log.AppendAfter(ctx, a.seq, seglog.Entry{Key: rec.lastID(), Time: rec.state.High, Payload: a.buf.B})
	if err != nil {
		return err
	}
	a.seq = c.Last
	a.commits <- commit{rec: rec, log: c, block: block, lag: a.lag.Value()} // publish reads to the end, whatever has failed
	return nil
}

// publish sends what has become durable. It goes on to the end after decide has stopped, and after a write has failed:
// what is in the log is also known to the proxy, and nothing waits in the log, when the next attempt begins.
func (a *attempt) publish() {
	boundary, failed := tuple.MinTime, false
	for c := range a.commits {
		if err := c.log.Wait(context.Background()); err != nil {
			failed = true
			a.stop(err)
		}
		if failed {
			continue
		}
		a.p.clearFailure()
		a.p.last = c.rec
		a.p.note(c.rec)
		fs := frames(c.rec, a.p.log.Identity().Generation)
		if c.rec.state.Boundary == boundary && len(fs) > 0 && fs[len(fs)-1].Kind == tuple.Boundary {
			fs = fs[:len(fs)-1]
		}
		if c.rec.state.Boundary != boundary {
			boundary = c.rec.state.Boundary
			a.p.ages.note(boundary, c.lag, a.p.cfg.Clock.Now())
		}
		if len(fs) > 0 {
			a.p.tail.publish(fs...)
		}
		a.settleBlock(c) // last: who hears that its rows are durable also finds them
	}
}

// settleBlock brings word of a durable block to the reader that waits for it before it goes on.
func (a *attempt) settleBlock(c commit) {
	if c.block && a.settled != nil {
		a.settled <- struct{}{}
	}
}

// condition notes what the connector says of itself.
func (p *Proxy) condition(s connect.Status) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Condition, p.status.Detail = conditionOf(s.State), s.Detail
	if s.State == connect.Ended && s.End != connect.EndEOF {
		p.status.Detail = string(s.End) + ": " + s.Detail
	}
}

func (p *Proxy) clearFailure() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Failure = ""
}

// count counts a row or record that leaves no trace in the log.
func (p *Proxy) count(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.ByReason[reason]++
}

// warnOnce logs the first late and the first future row of this start: from then on the counters tell.
func (p *Proxy) warnOnce(v ingest.Verdict) {
	p.mu.Lock()
	first := !p.warned[v.Late]
	p.warned[v.Late] = true
	p.mu.Unlock()
	if !first {
		return
	}
	if v.Late {
		p.cfg.Log.Warn("first late row; raise max_out_of_order if there are many", zap.String("stream", p.cfg.Name), zap.Stringer("limit", v.Limit))
		return
	}
	p.cfg.Log.Warn("first row from the future; its source's clock may be wrong, or its time in another unit", zap.String("stream", p.cfg.Name), zap.Stringer("limit", v.Limit))
}
