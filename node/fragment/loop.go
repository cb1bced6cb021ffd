package fragment

import (
	"context"
	"hash/fnv"
	"time"

	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/query/op"
	"fednode/query/tuple"
	"fednode/storage"
)

// loop is the goroutine that owns the fragment.
type loop struct {
	r     *Runner
	point <-chan time.Time
	// saving is true while a recovery point is on its way to the disk; saved brings its result.
	saving  bool
	saved   chan savedPoint
	bytes   int64 // of input since the last point
	pointed tuple.Time
	failed  bool // the last point could not be stored
}

// savedPoint is the result of storing a recovery point.
type savedPoint struct {
	point *storage.RecoveryPoint
	err   error
}

func newLoop(r *Runner) *loop {
	return &loop{r: r, saved: make(chan savedPoint, 1), pointed: r.released}
}

// maxBurst is how many frames are filed before complete buckets are looked for: a long queue is worked off in large
// batches, and a short one at once.
const maxBurst = 64

// run works until ctx ends or something fails. It returns when no point is on its way to the disk any more: the next life
// of the fragment must not begin from an older one and then meet it.
func (l *loop) run(ctx context.Context) error {
	defer l.await()
	l.point = l.r.cfg.Clock.After(l.firstPoint())
	for {
		arrivals, room := l.r.arrivals, l.r.full()
		if room != nil {
			arrivals = nil // full outputs stop input
		}
		select {
		case a := <-arrivals:
			if err := l.burst(a); err != nil {
				return err
			}
		case <-room:
		case s := <-l.saved:
			l.stored(s)
		case reply := <-l.r.ask:
			reply <- l.r.current()
		case <-l.point:
			l.point = l.r.cfg.Clock.After(l.r.cfg.PointInterval)
			l.cut()
		case <-ctx.Done():
			return l.leave()
		}
		if err := l.step(); err != nil {
			return err
		}
	}
}

// firstPoint spreads the points of many fragments that start together over the interval.
func (l *loop) firstPoint() time.Duration {
	h := fnv.New32a()
	h.Write([]byte(l.r.cfg.Name))
	return l.r.cfg.PointInterval/2 + time.Duration(h.Sum32())%(l.r.cfg.PointInterval/2+1)
}

// burst files a frame and what else is there.
func (l *loop) burst(a arrival) error {
	for n := 0; ; n++ {
		if err := l.r.file(a); err != nil {
			return err
		}
		if a.frame != nil {
			l.bytes += dcaa.FrameBytes(a.frame)
		}
		if n == maxBurst {
			return nil
		}
		select {
		case a = <-l.r.arrivals:
		default:
			return nil
		}
	}
}

// step releases complete buckets and lets inputs go on that may.
func (l *loop) step() error {
	r := l.r
	before := r.released
	if err := r.advance(r.cfg.Clock.Now()); err != nil {
		return err
	}
	if r.released != before && r.cfg.StateBytes > 0 {
		if n := r.inst.StateBytes(); n > r.cfg.StateBytes {
			return &op.LimitError{What: "state bytes of fragment " + r.cfg.Name, Limit: r.cfg.StateBytes}
		}
	}
	if err := r.crowded(); err != nil {
		return err
	}
	if l.bytes >= r.cfg.PointBytes {
		l.cut()
	}
	for n, in := range r.inputs {
		in.settle(r.held(n))
	}
	return nil
}

// held reports whether an input is so far ahead of others that it has to wait for them. The one that holds the others
// back is never held.
func (r *Runner) held(n int) bool {
	if r.inputs[n].boundary <= r.released.Add(r.cfg.Plan.Bucket) {
		return false
	}
	for _, f := range r.feeds[n] {
		if r.unions[f.union].Waiting(f.input) > r.cfg.WaitingRows {
			return true
		}
	}
	return false
}

// cut takes a recovery point and stores it beside the loop, unless there is nothing new or one is on its way.
func (l *loop) cut() {
	if l.saving || l.r.released == l.pointed && !l.failed {
		return
	}
	p := l.r.snapshot()
	l.saving, l.bytes, l.pointed = true, 0, l.r.released
	go func() { l.saved <- savedPoint{point: p, err: l.r.cfg.Points.SavePoint(p)} }()
}

// stored acknowledges what a durable point covers.
func (l *loop) stored(s savedPoint) {
	l.saving, l.failed = false, s.err != nil
	if s.err != nil {
		l.r.cfg.Log.Warn("recovery point not stored; trying again", zap.String("fragment", l.r.cfg.Name), zap.Error(s.err))
		return
	}
	l.r.acknowledge(s.point)
}

// leave stores a last point on the way out, after the one that is on its way.
func (l *loop) leave() error {
	l.await()
	l.cut()
	return nil
}

// await waits for the point that is on its way, if there is one.
func (l *loop) await() {
	if l.saving {
		l.stored(<-l.saved)
	}
}
