package sim

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"fednode/testnet/sim/fault"
	"fednode/testnet/sim/topology"
)

// Campaign is many runs, one a seed, several at a time. Each run has a goroutine of its own from its beginning to its end.
type Campaign struct {
	// First is the first seed, Runs how many follow.
	First uint64
	Runs  int
	// Spec fixes the federation; nil draws one for each seed.
	Spec *topology.Spec
	// Workers is how many runs go on at once.
	Workers int
	// KeepGoing runs all seeds, whatever breaks.
	KeepGoing bool
	// Done is called after each run, one call at a time; it may be nil.
	Done func(Progress)
	// Broke is called with each failure as soon as it is found, one call at a time; it may be nil.
	Broke func(*Failure)
}

// Progress is how far a campaign has come.
type Progress struct {
	Runs      int
	Failures  int
	Simulated int64
	Steps     uint64
	Worst     int64
	Settled   int64
	Rows      uint64
	Tentative uint64
	Coverage  Coverage
}

// ProgressOf returns what one run showed as that of a campaign.
func ProgressOf(r *Result) Progress {
	var p Progress
	p.add(r)
	return p
}

func (p *Progress) add(r *Result) {
	p.Runs++
	p.Simulated += r.Simulated
	p.Steps += r.Steps
	p.Rows += r.Rows
	p.Tentative += r.Tentative
	p.Coverage.Add(&r.Coverage)
	p.Worst, p.Settled = max(p.Worst, r.Worst), max(p.Settled, r.Settled)
}

// Failure is a case that broke a promise.
type Failure struct {
	Case   Case
	Breach Breach
}

// Run runs until all seeds have been run, one breaks a promise (unless KeepGoing), or ctx ends. It returns the failures in
// order of their seeds.
func (c *Campaign) Run(ctx context.Context) (Progress, []Failure, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &campaign{cfg: c, stop: stop}
	var workers sync.WaitGroup
	for range max(1, c.Workers) {
		workers.Go(func() { s.work(ctx) })
	}
	workers.Wait()
	slices.SortFunc(s.failures, func(a, b Failure) int { return cmp.Compare(a.Case.Seed, b.Case.Seed) })
	return s.progress, s.failures, s.err
}

// campaign is what the workers share.
type campaign struct {
	cfg  *Campaign
	stop context.CancelFunc

	mu       sync.Mutex
	next     int
	progress Progress
	failures []Failure
	err      error
}

// take returns the next seed; ok is false if there is none.
func (s *campaign) take() (seed uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next >= s.cfg.Runs {
		return 0, false
	}
	s.next++
	return s.cfg.First + uint64(s.next) - 1, true
}

func (s *campaign) work(ctx context.Context) {
	for ctx.Err() == nil {
		seed, ok := s.take()
		if !ok {
			return
		}
		c, err := s.cfg.Draw(seed)
		var r Result
		if err == nil {
			r, err = Execute(c, Options{})
		}
		s.ended(c, &r, err)
	}
}

// Draw returns the case of a seed.
func (c *Campaign) Draw(seed uint64) (Case, error) {
	if c.Spec != nil {
		return DrawFaults(seed, *c.Spec)
	}
	return DrawCase(seed)
}

// ended takes in how a run ended.
func (s *campaign) ended(c Case, r *Result, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.err = err
		s.stop()
		return
	}
	p := &s.progress
	p.add(r)
	if r.Breach != nil {
		s.failures = append(s.failures, Failure{Case: c, Breach: *r.Breach})
		p.Failures++
		if s.cfg.Broke != nil {
			s.cfg.Broke(&s.failures[len(s.failures)-1])
		}
		if !s.cfg.KeepGoing {
			s.stop()
		}
	}
	if s.cfg.Done != nil {
		s.cfg.Done(*p)
	}
}

// Minimise returns a smaller case that breaks the same promise, and how, after at most tries runs.
func Minimise(c Case, b Breach, tries int) (Case, Breach, error) {
	t, err := topology.Build(c.Spec)
	if err != nil {
		return c, b, err
	}
	fails := func(p fault.Plan) bool {
		small := c
		small.Faults = p
		r, err := ExecuteOn(t, small, Options{})
		if err != nil || r.Breach == nil || r.Breach.Promise != b.Promise {
			return false
		}
		b = *r.Breach
		return true
	}
	c.Faults = fault.Minimise(c.Faults, tries, fails)
	return c, b, nil
}
