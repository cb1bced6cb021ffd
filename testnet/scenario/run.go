package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"fednode/testnet"
)

// Options of Run.
type Options struct {
	// Mode replaces the mode of the testnet's file; "" leaves it.
	Mode string
	// Running is the directory of a testnet that runs, for scenarios that name none; "" is the only one that runs.
	Running string
	// Command is the executable of the daemons; "" is this process's own.
	Command string
	// Say is told of each step, for people; it may be nil.
	Say func(text string)
}

// Times of a run.
const (
	// lookEvery is how often a testnet is looked at when something is waited for, watchEvery all the time.
	lookEvery  = 10 * time.Millisecond
	watchEvery = 100 * time.Millisecond
	// findWithin is how long a role may take to be taken.
	findWithin = time.Minute
	// settleWithin is how long the last results may take once the sources have ended.
	settleWithin = 60 * time.Second
)

// network is a testnet: one of our own, or one that runs.
type network interface {
	Apply(ctx context.Context, f testnet.Fault) (testnet.Did, error)
	View(ctx context.Context) testnet.View
	Follow(ctx context.Context, output, from string, each func(testnet.Event) error) error
	Dir() string
	Mode() string
	Query() string
	Outputs() []string
	Close() error
}

var (
	_ network = (*testnet.Net)(nil)
	_ network = (*testnet.Attached)(nil)
)

// runner runs one scenario.
type runner struct {
	s        *Scenario
	o        Options
	net      network
	own      *testnet.Net // nil if the testnet is not ours
	observer *observer
	changes  changes
	replicas map[string][]string // nodes by fragment, as they were at first
	report   *Report
	work     string // folder of an undisturbed run
	notPart  string // where the results are no part of those of it

	mu     sync.Mutex
	healed time.Time // when the last fault ended or will end by itself
	failed map[string]bool
}

// Run starts the scenario's testnet, does the steps, and reports. What did not hold is in the report; an error is what
// kept the scenario from being run to its end; the report, nil if nothing was run, then has what was seen until there.
func Run(ctx context.Context, s *Scenario, o Options) (*Report, error) {
	if o.Say == nil {
		o.Say = func(string) {}
	}
	r := &runner{s: s, o: o, report: &Report{Scenario: s.Name, Title: s.Title, Began: time.Now(), Failures: []Failure{}}, failed: make(map[string]bool)}
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	err := r.run(ctx)
	if err != nil {
		r.fail(s.Name, "the scenario runs to its end", err.Error())
	}
	if r.work != "" && r.report.OK() {
		err = os.RemoveAll(r.work)
	}
	r.report.Seconds = time.Since(r.report.Began).Seconds()
	return r.report, err
}

func (r *runner) start(ctx context.Context) error {
	if r.s.Testnet == "" {
		return r.attach(ctx)
	}
	spec, err := testnet.ReadSpec(r.s.Testnet)
	if err != nil {
		return err
	}
	if r.o.Mode != "" {
		spec.Mode = r.o.Mode
	}
	if r.work, err = os.MkdirTemp("", "fednode-scenario-"); err != nil {
		return err
	}
	r.own, err = testnet.Up(ctx, spec, testnet.Options{Dir: filepath.Join(r.work, "net"), Command: r.o.Command, Say: r.o.Say})
	r.net = r.own
	return err
}

// attach takes the testnet that runs.
func (r *runner) attach(ctx context.Context) error {
	for _, c := range r.s.Finally {
		if c.kind == streamEqual || c.kind == streamPart {
			return &testnet.Error{Kind: testnet.ErrSpec, Msg: fmt.Sprintf("%s: `%s` needs a testnet of the scenario's own: its sources have to end; write `testnet FILE` at the top", c.Pos, c.Text)}
		}
	}
	c, err := testnet.Find(r.o.Running)
	if err != nil {
		return err
	}
	r.net, err = c.Attach(ctx)
	return err
}

func (r *runner) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, r.net.Close()) }()
	r.report.Mode, r.report.Dir = r.net.Mode(), r.net.Dir()
	if len(r.net.Outputs()) == 0 {
		return fmt.Errorf("query %s has no output to follow", r.net.Query())
	}
	if err := r.ready(ctx); err != nil {
		return err
	}
	r.observer = newObserver(r.net, r.net.Outputs()[0])
	watching, stop := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	tasks.Go(func() { r.observer.run(watching) })
	tasks.Go(func() { r.watch(watching) })
	defer tasks.Wait()
	defer stop()
	for i := range r.s.Steps {
		if err := r.step(ctx, &r.s.Steps[i]); err != nil {
			return err
		}
	}
	return r.finish(ctx)
}

// ready waits until every fragment runs, and notes where.
func (r *runner) ready(ctx context.Context) error {
	err := r.until(ctx, findWithin, func(v *testnet.View) bool {
		r.replicas = fragmentNodes(v, r.net.Query())
		return len(r.replicas) > 0 && v.Results > 0
	})
	if err != nil {
		return fmt.Errorf("query %s gave no result within %s", r.net.Query(), findWithin)
	}
	return nil
}

// errPatience is why until gave up.
var errPatience = errors.New("waited in vain")

// until looks at the testnet until something holds; errPatience if it did not within a time.
func (r *runner) until(ctx context.Context, within time.Duration, ok func(v *testnet.View) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, within, errPatience)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		v := r.net.View(ctx)
		if ctx.Err() == nil && ok(&v) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// step does one step. A condition that is not met is a failure of the scenario, not an error.
func (r *runner) step(ctx context.Context, s *Step) error {
	r.o.Say(s.Text)
	switch {
	case s.Fault != nil:
		return r.fault(ctx, s)
	case s.Until != nil:
		return r.within(ctx, s)
	case s.Recount:
		r.changes.recount()
		return nil
	}
	select {
	case <-time.After(s.Wait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *runner) fault(ctx context.Context, s *Step) error {
	f := *s.Fault
	f.Targets = nil
	for _, t := range s.Fault.Targets {
		node, err := r.resolve(ctx, t)
		if err != nil {
			r.fail(s.Pos.String(), s.Text, err.Error())
			return nil
		}
		f.Targets = append(f.Targets, node)
	}
	r.observer.arm()
	if _, err := r.net.Apply(ctx, f); err != nil {
		return fmt.Errorf("%s: %s: %w", s.Pos, s.Text, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if end := time.Now().Add(f.For); end.After(r.healed) {
		r.healed = end
	}
	return nil
}

func (r *runner) within(ctx context.Context, s *Step) error {
	var last string
	err := r.until(ctx, s.Within, func(v *testnet.View) (ok bool) {
		ok, last = r.holds(s.Until, v)
		return ok
	})
	if errors.Is(err, errPatience) {
		r.fail(s.Pos.String(), s.Text, last)
		return nil
	}
	return err
}

// fail notes what did not hold, once.
func (r *runner) fail(at, expected, seen string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed[at] {
		return
	}
	r.failed[at] = true
	r.report.Failures = append(r.report.Failures, Failure{At: at, Expected: expected, Seen: seen})
	r.o.Say("FAILED " + expected + ": " + seen)
}

// watch looks all the time who reads from where, and whether something holds that never must.
func (r *runner) watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		v := r.net.View(ctx)
		r.changes.look(&v, r.net.Query(), r.o.Say)
		for i := range r.s.Never {
			c := &r.s.Never[i]
			if ok, seen := r.holds(c, &v); ok && ctx.Err() == nil {
				r.fail(c.Pos.String(), "never: "+c.Text, seen)
			}
		}
	}
}
