package faultstore

import (
	"sync"

	"golang.org/x/sys/unix"
)

// Rule says when writes fail and how. The zero Rule never fails.
type Rule struct {
	// FromWrite is the number of the first write that fails, from 1; 0 is none.
	FromWrite int
	// AfterBytes fails every write that would pass so many bytes in all; 0 is no limit.
	AfterBytes int64
	// Times is how many writes fail before the fault has passed; 0 is for ever.
	Times int
	// Err is what they fail with; nil is a full disk.
	Err error
	// Torn lets half of the first failing write through.
	Torn bool
}

// Plan applies a rule to everything that is written through it.
type Plan struct {
	mu     sync.Mutex
	rule   Rule
	writes int
	bytes  int64
	failed int
}

// NewPlan returns a plan with a rule.
func NewPlan(r Rule) *Plan { return &Plan{rule: r} }

// Set replaces the rule and counts from zero.
func (p *Plan) Set(r Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rule, p.writes, p.bytes, p.failed = r, 0, 0, 0
}

// Failed returns how many writes have failed under the present rule.
func (p *Plan) Failed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// write decides about one write of n bytes: how many go through, and the error.
func (p *Plan) write(n int64) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writes++
	r := &p.rule
	due := r.FromWrite > 0 && p.writes >= r.FromWrite || r.AfterBytes > 0 && p.bytes+n > r.AfterBytes
	if !due || r.Times > 0 && p.failed >= r.Times {
		p.bytes += n
		return n, nil
	}
	p.failed++
	through := int64(0)
	if r.Torn && p.failed == 1 {
		through = n / 2
	}
	if r.Err != nil {
		return through, r.Err
	}
	return through, unix.ENOSPC
}
