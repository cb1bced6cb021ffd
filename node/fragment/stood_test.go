package fragment

import (
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// jumpClock stands until somebody waits for it. Then it goes on to the end of the wait, and late beyond it.
type jumpClock struct {
	mu   sync.Mutex
	now  time.Time
	late time.Duration
}

func (c *jumpClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *jumpClock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d + c.late)
	rung := make(chan time.Time, 1)
	rung <- c.now
	return rung
}

func (c *jumpClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// TestStoodStill shows that a node which stood still while it waited notices it, and that one which was busy, however long,
// does not take its own work for standing still: the hold times of its buckets go on.
func TestStoodStill(t *testing.T) {
	h := newHarness(t, 10)
	clock := &jumpClock{now: time.Unix(1_000, 0)}
	logs, said := observer.New(zapcore.WarnLevel)
	r, err := Open(joined{h.net}.apply(Config{Name: "north/q/sums", Subscriber: "north/n1/q/sums", Plan: testPlan(t), Points: Store{Points: h.points}, Clock: clock, Log: zap.New(logs)}))
	if err != nil {
		t.Fatal(err)
	}
	l := newLoop(r)
	wait := func() {
		t.Helper()
		if err := l.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wait()
	l.arm()
	clock.pass(5 * time.Second) // a step that takes long
	wait()
	if n := said.Len(); n != 0 {
		t.Fatalf("a busy node says %v", said.All()[0].Message)
	}
	clock.late = 5 * time.Second
	wait()
	if n := said.Len(); n != 1 {
		t.Fatalf("%d warnings after standing still, want 1", n)
	}
}

// TestStoodStillAtWork shows that a node which stood still while it released rows notices it before it judges anything, and
// that one which worked all the while does not take that for standing still.
func TestStoodStillAtWork(t *testing.T) {
	for name, c := range map[string]struct {
		worked time.Duration // of 5 s
		want   int
	}{"stopped": {20 * time.Millisecond, 1}, "at work": {5 * time.Second, 0}, "on two processors": {9 * time.Second, 0}} {
		h := newHarness(t, 10)
		clock, used := &jumpClock{now: time.Unix(1_000, 0)}, time.Duration(0)
		processor := func() time.Duration { return used }
		logs, said := observer.New(zapcore.WarnLevel)
		r, err := Open(joined{h.net}.apply(Config{Name: "north/q/sums", Subscriber: "north/n1/q/sums", Plan: testPlan(t), Points: Store{Points: h.points}, Clock: clock,
			Processor: func() time.Duration { return processor() }, Log: zap.New(logs)}))
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		processor = func() time.Duration {
			if asked++; asked == 2 { // at the end of the step
				clock.pass(5 * time.Second)
				used += c.worked
			}
			return used
		}
		l := newLoop(r)
		for range 2 {
			if _, err := l.step(); err != nil {
				t.Fatal(err)
			}
		}
		if n := said.Len(); n != c.want {
			t.Errorf("%s: %d warnings, want %d", name, n, c.want)
		}
	}
}
