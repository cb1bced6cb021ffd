package fragment

import (
	"context"
	"hash/fnv"
	"time"

	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/query/op"
	"fednode/storage"
)

// loop is the goroutine that owns the fragment.
type loop struct {
	r     *Runner
	point <-chan time.Time
	// alarm fires at armed at the latest.
	alarm <-chan time.Time
	armed dcaa.Instant
	// waits is since when the loop has waited: an alarm that rang while it was busy was not late.
	waits dcaa.Instant
	// saving is true while a recovery point is on its way to the disk; saved brings its result.
	saving bool
	saved  chan savedPoint
	// next is what is to be taken over as soon as that point is stored.
	next    *takeover
	bytes   int64        // of input since the last point
	pointed uint64       // progress that the last point covers
	began   uint64       // how often results had begun anew when the last point was cut
	failed  bool         // the last point could not be stored
	told    dcaa.Instant // when the status was last kept for who asks while the loop is busy
}

// savedPoint is the result of storing a recovery point. of is what the next life is to begin with, nil if the point is of this life
// alone. Without a point nothing could be made of that.
type savedPoint struct {
	point *storage.RecoveryPoint
	err   error
	of    *takeover
}

func newLoop(r *Runner) *loop {
	return &loop{r: r, saved: make(chan savedPoint, 1), pointed: r.core.Progress(), armed: dcaa.Never}
}

// maxBurst is how many frames are filed before complete buckets are looked for: a long queue is worked off in large
// batches, and a short one at once.
const maxBurst = 64

func (l *loop) run(ctx context.Context) error {
	l.point = l.r.cfg.Clock.After(l.firstPoint())
	busy := true
	for {
		var err error
		if busy {
			err = l.glance(ctx)
		} else {
			err = l.wait(ctx)
		}
		if ctx.Err() != nil {
			return l.leave()
		}
		if err == nil {
			busy, err = l.step()
		}
		if err != nil {
			l.next = nil
			_ = l.await()
			return err
		}
	}
}

// wait waits for something to happen.
func (l *loop) wait(ctx context.Context) error {
	arrivals, room := l.r.arrivals, l.r.full()
	if room != nil {
		arrivals = nil // full outputs stop input
	}
	l.arm()
	select {
	case a := <-arrivals:
		l.woken()
		l.burst(a)
	case <-l.r.news.Wake():
		l.woken()
		l.r.hear()
	case <-room:
		l.woken()
	case <-l.alarm:
		l.woken()
		l.alarm, l.armed = nil, dcaa.Never
		l.r.complain()
	case s := <-l.saved:
		l.woken()
		return l.stored(s)
	case reply := <-l.r.ask:
		l.woken()
		reply <- l.r.current()
	case reply := <-l.r.states:
		reply <- l.r.snapshot()
	case t := <-l.r.transferred:
		l.takeOver(l.r.offered(t))
	case <-l.point:
		l.point = l.r.cfg.Clock.After(l.r.cfg.PointInterval)
		l.cut()
	case <-ctx.Done():
	}
	return nil
}

// glance takes what is there, and waits for nothing: there is more to release.
func (l *loop) glance(ctx context.Context) error {
	select {
	case a := <-l.r.arrivals:
		l.burst(a)
	case <-l.r.news.Wake():
		l.r.hear()
	case s := <-l.saved:
		return l.stored(s)
	case reply := <-l.r.ask:
		reply <- l.r.current()
	case reply := <-l.r.states: // a redo may take minutes, and the other replica has nothing until then
		reply <- l.r.snapshot()
	case t := <-l.r.transferred:
		l.takeOver(l.r.offered(t))
	case <-l.point:
		l.point = l.r.cfg.Clock.After(l.r.cfg.PointInterval)
		l.cut()
	case <-ctx.Done():
	default:
	}
	return nil
}

// arm sets the alarm to the next instant at which something is due, at most a heartbeat away: so standing still is noticed.
func (l *loop) arm() {
	now := l.r.now()
	l.waits = now
	due := min(l.r.core.Due(), now.Add(l.r.cfg.Settings.Heartbeat))
	if l.alarm != nil && l.armed <= due {
		return
	}
	l.armed = due
	l.alarm = l.r.cfg.Clock.After(time.Duration(max(0, due-now)) * time.Microsecond)
}

// woken looks whether the wait, which the alarm ends, took so much longer that the node must have stood still, as after
// SIGSTOP. What was sent to it meanwhile lies unread, so silence means nothing. Whatever ended the wait, it is looked at
// before the core judges anything.
func (l *loop) woken() {
	now := l.r.now()
	l.stood(now, int64(now-max(l.armed, l.waits)))
}

// stood tells the core, before it judges anything, that the node has done nothing for so many microseconds, if that is more
// than a busy machine makes of a wait.
func (l *loop) stood(now dcaa.Instant, late int64) {
	if late <= l.r.cfg.Settings.Heartbeat*int64(l.r.cfg.Settings.Miss) {
		return
	}
	l.r.cfg.Log.Warn("the node stood still", zap.String("fragment", l.r.cfg.Name), zap.Duration("for", time.Duration(late)*time.Microsecond))
	l.r.core.Resumed(now, late)
}

// statusEvery is how old a status may be that is shown while the loop is busy, in microseconds.
const statusEvery = 500_000

// firstPoint spreads the points of many fragments that start together over the interval, those of the replicas of one as well: while
// one stands still for its point, others serve.
func (l *loop) firstPoint() time.Duration { return l.r.cfg.firstPoint() }

func (c *Config) firstPoint() time.Duration {
	h := fnv.New32a()
	h.Write([]byte(c.Self + "/" + c.Name))
	return c.PointInterval/2 + time.Duration(h.Sum32())%(c.PointInterval/2+1)
}

// burst files a frame and what else is there.
func (l *loop) burst(a arrival) {
	for n := 0; ; n++ {
		l.bytes += l.r.take(a)
		if n == maxBurst {
			return
		}
		select {
		case a = <-l.r.arrivals:
		default:
			return
		}
	}
}

// step lets the core release what it may, and inputs go on that may.
func (l *loop) step() (busy bool, err error) {
	r := l.r
	work := effort{began: r.now(), used: r.cfg.Processor()}
	defer func() {
		used := r.cfg.Processor()
		now := r.now()
		lost := work.lost(now, used)
		l.stood(now, lost)
		behind, redoing := r.core.Behind()
		r.work.add(now, int64(now-work.began)-lost, redoing, behind)
	}()
	before := r.core.Released()
	blocked := r.full() != nil
	r.core.Block(blocked)
	for n := range r.inputs {
		r.core.Owe(n, blocked || r.core.Held(n))
	}
	if busy, err = r.core.Advance(r.now()); err != nil {
		return false, err
	}
	for n, o := range r.outputs {
		o.SetStatus(r.core.Status(n))
	}
	if r.core.Released() != before && r.cfg.StateBytes > 0 {
		if n := r.core.Instance().StateBytes(); n > r.cfg.StateBytes {
			return false, &op.LimitError{What: "state bytes of fragment " + r.cfg.Name, Limit: r.cfg.StateBytes}
		}
	}
	if err := r.crowded(); err != nil {
		return false, err
	}
	if began := r.core.Beginnings(); l.bytes >= r.cfg.PointBytes || began != l.began && !l.saving {
		l.began = began
		l.cut()
	}
	r.settle()
	if now := r.now(); now-l.told >= statusEvery {
		l.told = now
		r.keep(r.current())
		for _, o := range r.outputs {
			o.LapsePartners(r.cfg.Clock.Now())
		}
	}
	return busy, nil
}

// cut takes a recovery point and stores it beside the loop, unless there is nothing new or one is on its way.
func (l *loop) cut() {
	if l.saving || l.r.core.Progress() == l.pointed && !l.failed {
		return
	}
	d := l.r.snapshot()
	l.saving, l.bytes, l.pointed = true, 0, l.r.core.Progress()
	go func() {
		p := d.complete()
		l.saved <- savedPoint{point: p, err: l.r.cfg.Points.SavePoint(p)}
	}()
}

// stored acknowledges what a durable point covers. It returns ErrTransferred if that is what the next life begins with.
func (l *loop) stored(s savedPoint) error {
	l.saving = false
	if s.of != nil {
		return l.taken(s)
	}
	if l.failed = s.err != nil; l.failed {
		l.r.cfg.Log.Warn("recovery point not stored; trying again", zap.String("fragment", l.r.cfg.Name), zap.Error(s.err))
	} else {
		l.r.acknowledge(s.point)
	}
	if l.next != nil {
		l.takeOver(l.next)
	}
	return nil
}

// taken ends this life if the next one has what it is to begin with. A state of which nothing can be made is as good as none: it is
// not asked for until whoever gave it may have another one, and no input waits for it.
func (l *loop) taken(s savedPoint) error {
	switch l.r.taking = false; {
	case s.err == nil:
		return ErrTransferred
	case s.point == nil:
		l.r.decline(s.of.peer, s.err)
	default:
		l.r.cfg.Log.Warn("state of another replica not stored; it is asked again", zap.String("fragment", l.r.cfg.Name), zap.String("replica", l.r.cfg.Peers[s.of.peer]), zap.Error(s.err))
	}
	return nil
}

// leave stores a last point on the way out, after the one that is on its way.
func (l *loop) leave() error {
	l.next = nil
	if l.await() == nil {
		l.cut()
		_ = l.await()
	}
	return nil
}

// takeOver stores what is taken of another replica's state as the point that the next life begins with. The fragment goes on
// meanwhile: what it makes until then it makes again.
func (l *loop) takeOver(x *takeover) {
	if x == nil {
		return
	}
	l.r.taking = true
	if l.next = nil; l.saving {
		l.next = x
		return
	}
	l.saving = true
	finish := x.begin(l.r)
	go func() {
		p, err := finish()
		if err == nil {
			err = l.r.cfg.Points.SavePoint(p)
		}
		l.saved <- savedPoint{point: p, err: err, of: x}
	}()
}

// await waits for the point that is on its way, if there is one.
func (l *loop) await() error {
	if !l.saving {
		return nil
	}
	return l.stored(<-l.saved)
}
