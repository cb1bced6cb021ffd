package source

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/node/ingest"
	"fednode/query/tuple"
	"fednode/storage/disk"
	"fednode/storage/seglog"
)

// ErrorPolicy says what becomes of records that cannot be read. They are counted under every policy.
type ErrorPolicy uint8

// The policies.
const (
	// ErrorSide keeps the record with the reason in <stream>.errors.
	ErrorSide ErrorPolicy = iota
	// ErrorSkip only counts it.
	ErrorSkip
	// ErrorFail stops the source.
	ErrorFail
)

// Config of a source proxy.
type Config struct {
	// Name is the stream's full name; Schema its columns.
	Name   string
	Schema *tuple.Schema
	// Dir holds the log.
	Dir string
	// HasTime is false for a stream whose time is its arrival.
	HasTime bool
	Rules   ingest.Config
	OnError ErrorPolicy
	Source  connect.Source
	Clock   connect.Clock
	Log     *zap.Logger
	Acks    AckStore
	// Retain keeps what everybody has acknowledged for so long, in microseconds of stream time; 0 keeps nothing.
	Retain int64
	// MaxLogBytes stops intake while the log holds more: 0 means 4 GiB. With unbounded slack it ends the source, for nothing
	// could be freed before a stream's end.
	MaxLogBytes int64
	// Partner bounds how long and how much the log is kept for a subscriber of another organisation that does not
	// acknowledge; zero fields set no bound. Own is the prefix of our own subscribers' names.
	Partner Partner
	Own     string
	// Room says whether the disk has room; its error stops intake until it is nil again. nil has always room.
	Room func() error
	// TailBytes is how much of the newest part is kept in memory: 0 means 32 MiB.
	TailBytes int64
	// Storage options of the log; the zero value is complete.
	Storage seglog.Options
}

// Partner bounds what a subscriber of another organisation may hold back.
type Partner struct {
	Bytes int64
	Age   time.Duration
}

// Proxy is a source proxy.
type Proxy struct {
	// Fixed after Open.
	cfg  Config
	log  *seglog.Log
	tail *tail
	acks acks
	ages ages
	// sides are the streams of what is set aside, by kind.
	sides [sideKinds]*Side

	// Owned by the run loop.
	last *record // the newest durable commit; nil before the first

	mu     sync.Mutex
	status Status
	warned map[bool]bool // by late, else future
	// sideHeads is how far the side streams have come.
	sideHeads [sideKinds]tuple.Position
}

var _ flow.Stream = (*Proxy)(nil)

// Status is a copy of how a source stands.
type Status struct {
	Name string
	// Condition of the connector, and what a person should know about it.
	Condition ingest.Condition
	Detail    string
	// Failure is what keeps the source from going on; "" if nothing does.
	Failure  string
	Totals   ingest.Totals
	Errors   uint64            // records set aside as unreadable
	ByReason map[string]uint64 // of them and of late and future rows, since this start
	Head     tuple.Position
	// High is the largest stime so far.
	High        tuple.Time
	LogBytes    int64
	Subscribers map[string]tuple.Position
	// Lapsed are subscriptions of partners that are not waited for any more.
	Lapsed map[string]flow.Lapse
	// Recovered is what opening the log had to mend; "" if nothing.
	Recovered string
}

// Open opens the stream's log and restores the stream's state from it. It starts nothing.
func Open(cfg Config) (*Proxy, error) {
	if cfg.MaxLogBytes == 0 {
		cfg.MaxLogBytes = 4 << 30
	}
	if cfg.TailBytes == 0 {
		cfg.TailBytes = 32 << 20
	}
	log, recovery, err := seglog.Open(cfg.Dir, cfg.Storage)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", cfg.Name, err)
	}
	p := &Proxy{cfg: cfg, log: log, warned: make(map[bool]bool)}
	for k := range p.sides {
		p.sides[k] = &Side{p: p, kind: SideKind(k)}
	}
	p.status = Status{Name: cfg.Name, ByReason: make(map[string]uint64)}
	if err := p.restore(recovery); err != nil {
		return nil, errors.Join(fmt.Errorf("source %s: %w", cfg.Name, err), log.Close())
	}
	return p, nil
}

// restore reads the newest commit and the acknowledgements.
func (p *Proxy) restore(recovery seglog.Recovery) error {
	if !recovery.Clean() {
		p.status.Recovered = recovery.String()
		p.cfg.Log.Warn("log recovered", zap.String("stream", p.cfg.Name), zap.String("what", p.status.Recovered))
	}
	saved, err := p.cfg.Acks.Load(p.cfg.Name)
	if err != nil {
		return err
	}
	if saved == nil {
		saved = make(map[string]tuple.Position)
	}
	p.acks.byWho = saved
	lastIn, err := p.readLast()
	if err != nil {
		return err
	}
	if p.mustRenumber(recovery) {
		if _, err := p.log.NewGeneration(context.Background()); err != nil {
			return err
		}
	}
	head := tuple.Position{Generation: p.log.Identity().Generation, Time: tuple.MinTime}
	for k := range p.sideHeads {
		p.sideHeads[k] = head
	}
	if p.last != nil {
		if lastIn != head.Generation { // this generation has no commit yet: its numbers begin again
			p.last.state.NextID, p.last.side.ids = 1, newSide().ids
		}
		head.ID, head.Time = p.last.lastID(), p.last.state.Boundary
		p.note(p.last)
	}
	p.tail = newTail(p.cfg.TailBytes, head)
	if slack := p.cfg.Rules.MaxOutOfOrder; slack != ingest.Unbounded {
		p.ages.slack = slack
	}
	known := ingest.Measured
	if p.last != nil {
		known = p.last.lag
	}
	lag := ingest.NewLag(p.cfg.Rules, p.cfg.HasTime, known, 0)
	p.ages.note(head.Time, lag.Value(), p.cfg.Clock.Now())
	return nil
}

// mustRenumber reports whether ids may have gone on elsewhere: after a copy or a restored backup, or when commits that
// had been durable, and so may have been sent, are lost.
func (p *Proxy) mustRenumber(r seglog.Recovery) bool {
	return r.Origin == seglog.Copied || r.Origin == seglog.Lost || r.Cut != nil && r.Cut.Acknowledged > 0
}

// readLast reads the newest commit of the log, if there is one, and returns the generation it is of.
func (p *Proxy) readLast() (generation uint64, err error) {
	rec, ok, err := p.log.Last()
	if errors.As(err, new(*seglog.Damage)) {
		rec, ok, err = p.lastReadable()
	}
	if err != nil || !ok {
		return 0, err
	}
	if p.last, err = decodeRecord(rec.Payload, p.cfg.Schema, stateOnly); err != nil {
		return 0, fmt.Errorf("record %d: %w", rec.Seq, err)
	}
	return rec.Generation, nil
}

// lastReadable finds the newest record of a log with damage near its end, by reading all of it.
func (p *Proxy) lastReadable() (last seglog.Record, found bool, err error) {
	r, err := p.log.First()
	if err != nil {
		return last, false, err
	}
	defer r.Close()
	for {
		rec, ok, err := r.TryNext()
		if errors.As(err, new(*seglog.Damage)) {
			continue
		}
		if err != nil || !ok {
			return last, found, err
		}
		rec.Payload = append(last.Payload[:0], rec.Payload...)
		last, found = rec, true
	}
}

// note copies a durable commit into the status.
func (p *Proxy) note(r *record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Totals, p.status.Errors, p.status.High = r.totals, r.errors, r.state.High
	for _, v := range r.side.verdicts {
		p.status.ByReason[reasonOf(v)]++
	}
	for i := range r.side.rejects {
		p.status.ByReason[r.side.rejects[i].Reason.String()]++
	}
	generation := p.log.Identity().Generation
	for k, ids := range r.side.ids {
		p.sideHeads[k] = tuple.Position{Generation: generation, ID: ids.next() - 1, Time: sideTime(r)}
	}
}

// Status returns how the source stands.
func (p *Proxy) Status() Status {
	p.mu.Lock()
	s := p.status
	s.ByReason = make(map[string]uint64, len(p.status.ByReason))
	for k, v := range p.status.ByReason {
		s.ByReason[k] = v
	}
	p.mu.Unlock()
	s.Head, s.LogBytes, s.Subscribers = p.tail.position(), p.log.Stats().StoredBytes, p.acks.all()
	s.Lapsed = p.acks.lapses()
	return s
}

// Name returns the stream's full name.
func (p *Proxy) Name() string { return p.cfg.Name }

// Schema returns the stream's columns.
func (p *Proxy) Schema() *tuple.Schema { return p.cfg.Schema }

// IsSource tells a source proxy from other streams: data enters here.
func (p *Proxy) IsSource() {}

// Head returns the position of what is durable.
func (p *Proxy) Head() tuple.Position { return p.tail.position() }

// Beat is what heartbeats say of the stream: a source that its connector or the disk keeps from going on has failed, until
// it goes on again.
func (p *Proxy) Beat() dcaa.StreamStatus {
	s := flow.StatusOf(p.Head())
	p.mu.Lock()
	defer p.mu.Unlock()
	if (p.status.Failure != "" || p.status.Condition == ingest.Disconnected) && s.State != dcaa.Ended {
		s.State = dcaa.Failure
	}
	return s
}

// Ack records what a subscriber's durable state covers.
func (p *Proxy) Ack(subscriber string, at tuple.Position) {
	p.acks.ack(subscriber, at, p.cfg.Clock.Now())
}

// Forget stops counting a subscriber.
func (p *Proxy) Forget(subscriber string) { p.acks.forget(subscriber) }

// Run reads the connector until ctx ends. What goes wrong outside (a full disk, a source that cannot be opened) is shown
// in the status and tried again; Run fails only on what trying again cannot mend.
func (p *Proxy) Run(ctx context.Context) error {
	defer p.tail.close(flow.ErrClosed)
	stop := make(chan struct{})
	var keeper sync.WaitGroup
	keeper.Go(func() { p.keep(stop) })
	defer func() { close(stop); keeper.Wait() }()
	delay := retryFirst
	for {
		began := p.cfg.Clock.Now()
		err := p.runOnce(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil: // the source has ended
			<-ctx.Done()
			return nil
		case errors.As(err, new(*FatalError)):
			p.fail(err)
			<-ctx.Done()
			return nil
		}
		p.fail(err)
		if p.cfg.Clock.Now().Sub(began) > 10*retryLast {
			delay = retryFirst
		}
		select {
		case <-p.cfg.Clock.After(delay):
		case <-ctx.Done():
			return nil
		}
		delay = min(2*delay, retryLast)
	}
}

// Retry times after a failure of the connector or the disk.
const (
	retryFirst = 100 * time.Millisecond
	retryLast  = 5 * time.Second
)

// FatalError is what trying again cannot mend: on_error = "fail", or a log that cannot be read.
type FatalError struct{ Err error }

// Error prints the cause.
func (e *FatalError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *FatalError) Unwrap() error { return e.Err }

// fail shows a failure, and logs it if it is a new one.
func (p *Proxy) fail(err error) {
	p.mu.Lock()
	changed := p.status.Failure != err.Error()
	p.status.Failure = err.Error()
	p.mu.Unlock()
	if changed {
		p.cfg.Log.Warn("source stopped", zap.String("stream", p.cfg.Name), zap.Bool("full", errors.Is(err, disk.ErrFull)), zap.Error(err))
	}
}

// keep stores acknowledgements and frees what all have acknowledged, once a second and at the end.
func (p *Proxy) keep(stop <-chan struct{}) {
	for {
		select {
		case <-p.cfg.Clock.After(time.Second):
			p.free()
		case <-stop:
			p.free()
			return
		}
	}
}

func (p *Proxy) free() {
	p.lapse()
	if all, changed := p.acks.take(); changed {
		if err := p.cfg.Acks.Store(p.cfg.Name, all); err != nil {
			p.acks.untaken()
			p.cfg.Log.Warn("acknowledgements not stored", zap.String("stream", p.cfg.Name), zap.Error(err))
			return // nothing is freed that a restart would ask for again
		}
	}
	head := p.tail.position()
	id, ok := p.acks.lowest(head.Generation)
	if !ok || id == 0 {
		return
	}
	_, err := p.log.Retain(seglog.Retention{Age: p.cfg.Retain}, head.Time, seglog.Position{Generation: head.Generation, Key: id + 1})
	if err != nil && !errors.Is(err, seglog.ErrClosed) {
		p.cfg.Log.Warn("log not truncated", zap.String("stream", p.cfg.Name), zap.Error(err))
	}
}

// ForgetAbsent stops counting replicas whose node has been away for longer than after, or is away while the log holds half
// of what it may; another replica of the same neighbour is further. It returns who they are.
func (p *Proxy) ForgetAbsent(absent func(subscriber string) time.Duration, after time.Duration, known func(subscriber string) bool) []string {
	if p.cfg.MaxLogBytes > 0 && 2*p.log.Stats().StoredBytes >= p.cfg.MaxLogBytes {
		after = 0
	}
	gone := dcaa.Dispensable(p.acks.all(), func(name string) bool { return absent(name) > after }, known)
	for _, name := range gone {
		p.acks.forget(name)
	}
	return gone
}

// lapse stops counting subscribers of other organisations that have not acknowledged anything for too long, or for whom
// the log holds too much. They find a GAP when they come back; nobody else notices.
func (p *Proxy) lapse() {
	late := p.acks.foreign(p.cfg.Own, p.tail.position(), p.cfg.Clock.Now())
	held := p.log.Stats().StoredBytes
	for n, l := range late {
		old := p.cfg.Partner.Age > 0 && l.silent > p.cfg.Partner.Age
		large := n == 0 && p.cfg.Partner.Bytes > 0 && held > p.cfg.Partner.Bytes
		if !old && !large {
			continue
		}
		p.acks.lapse(l, p.cfg.Clock.Now())
		p.cfg.Log.Warn("subscription of a partner has lapsed: it does not acknowledge", zap.String("stream", p.cfg.Name), zap.String("subscriber", l.who), zap.Stringer("at", l.at), zap.Int64("log_bytes", held))
	}
}

// Close closes the log. Run has returned.
func (p *Proxy) Close() error {
	p.tail.close(flow.ErrClosed)
	return p.log.Close()
}
