package dcaa

import (
	"fmt"
	"strings"
)

// permissionSearch visits every state of a permissionWorld that can be reached within its bounds, breadth first.
type permissionSearch struct {
	replicas int
	broken   permissionRule
	// everlasting is a network in which each message sent can arrive at any later time, any number of times or never: loss,
	// repetition, reordering and lateness in one. Only safety is looked at.
	everlasting bool
	wants       uint8    // a replica asks so often; 0 is without limit
	missed      []uint64 // with one of these
	idle        int      // so many of the last replicas never ask
	faults      int      // so many of the kinds that may happen
	may         stepKind
	suspicions  bool   // replicas may hold each other absent wrongly, without limit
	numbers     uint64 // states with a higher request number are left out
	// unaided leaves out the passing of time when it is checked that all get what they want.
	unaided bool

	seen     map[string]bool
	states   []reached
	settled  map[string]bool // by fair: true when all ways from there end well, false while it is being found out
	cutOff   int             // states left out because of numbers
	taken    stepKind        // kinds of steps that were taken
	scratch  []byte
	fairPath []permissionStep
}

// reached is how a state was reached first.
type reached struct {
	from int
	step permissionStep
}

// run returns the first failure with the steps that lead to it, or "".
func (s *permissionSearch) run() string {
	s.seen, s.settled = make(map[string]bool), make(map[string]bool)
	start := newPermissionWorld(s.replicas, s.broken)
	s.enter(start, reached{from: -1})
	queue := []*permissionWorld{start}
	for at := 0; at < len(queue); at++ {
		w := queue[at]
		queue[at] = nil
		if complaint := w.together(); complaint != "" {
			return s.trace(at, complaint)
		}
		if !s.everlasting {
			s.fairPath = s.fairPath[:0]
			if complaint := s.fair(w); complaint != "" {
				return s.trace(at, complaint)
			}
		}
		for _, step := range s.steps(w) {
			next := w.take(step, s.everlasting)
			s.taken |= step.kind
			if step.kind&s.may != 0 {
				next.faults++
			}
			if s.broken == 0 {
				next.collect(next.faults < s.faults && s.may&stepCrash != 0)
			}
			if next.numbers() > s.numbers {
				s.cutOff++
			} else if s.enter(next, reached{from: at, step: step}) {
				queue = append(queue, next)
			}
		}
	}
	return ""
}

// enter notes a state; false if it was there before.
func (s *permissionSearch) enter(w *permissionWorld, r reached) bool {
	s.scratch = w.key(s.scratch[:0])
	for i := range w.nodes {
		if s.wants > 0 {
			s.scratch = append(s.scratch, w.nodes[i].wanted)
		}
	}
	s.scratch = append(s.scratch, byte(w.faults))
	if s.seen[string(s.scratch)] {
		return false
	}
	s.seen[string(s.scratch)] = true
	s.states = append(s.states, r)
	return true
}

// choice gathers what can happen next in a world.
type choice struct {
	*permissionSearch
	w     *permissionWorld
	steps []permissionStep
}

func (c *choice) add(s permissionStep) { c.steps = append(c.steps, s) }

// fault adds what may go wrong, while the bounds allow it.
func (c *choice) fault(s permissionStep) {
	if c.w.faults < c.faults && c.may&s.kind != 0 {
		c.add(s)
	}
}

// steps returns all that can happen next, faults included.
func (s *permissionSearch) steps(w *permissionWorld) []permissionStep {
	c := choice{permissionSearch: s, w: w}
	for i := range w.nodes {
		if !w.nodes[i].dead {
			c.own(i)
			c.peers(i)
		}
	}
	for at, k := range w.net {
		if at == 0 || k != w.net[at-1] {
			c.add(permissionStep{kind: stepDeliver, i: int(k.to), k: k})
			c.fault(permissionStep{kind: stepCopy, i: int(k.to), k: k})
			c.fault(permissionStep{kind: stepLose, i: int(k.to), k: k})
		}
	}
	return c.steps
}

// own adds what replica i does by itself.
func (c *choice) own(i int) {
	n := &c.w.nodes[i]
	switch {
	case n.p.phase != permissionIdle:
		c.add(permissionStep{kind: stepRelease, i: i})
		c.add(permissionStep{kind: stepGrow, i: i, missed: c.missed[len(c.missed)-1] + 1})
	case i < c.replicas-c.idle && (c.wants == 0 || n.wanted < c.wants):
		for _, missed := range c.missed {
			c.add(permissionStep{kind: stepWant, i: i, missed: missed})
		}
	}
	if n.p.phase == permissionAsking {
		c.fault(permissionStep{kind: stepTick, i: i})
	}
	c.fault(permissionStep{kind: stepCrash, i: i})
	c.fault(permissionStep{kind: stepDie, i: i})
}

// peers adds what replica i comes to hold of the others.
func (c *choice) peers(i int) {
	for j := range c.w.nodes {
		switch gone := c.w.gone(j, i); {
		case j == i:
		case !c.w.absent(i, j) && (gone || c.suspicions):
			c.add(permissionStep{kind: stepSuspect, i: i, j: j})
		case !c.w.absent(i, j):
			c.fault(permissionStep{kind: stepSuspect, i: i, j: j})
		case !gone:
			c.add(permissionStep{kind: stepUnsuspect, i: i, j: j})
		}
		if j < i && !c.w.gone(j, i) {
			c.fault(permissionStep{kind: stepCut, i: i, j: j})
		}
	}
}

// maxFairNumber is more than any request needs once faults have ended.
const maxFairNumber = 16

// fair goes all ways from a state on which nothing fails, nobody new asks, redoes end, messages arrive in any order and
// who is absent is known. A second passes only where nothing else is left to happen. It complains if a way does not end
// with all that wanted served: if it stops before, or goes on for ever.
func (s *permissionSearch) fair(w *permissionWorld) string {
	key := string(w.key(nil))
	if done, there := s.settled[key]; done {
		return ""
	} else if there {
		return "they go round in a circle"
	}
	if w.numbers() > maxFairNumber {
		return "they ask again without end"
	}
	if complaint := w.together(); complaint != "" {
		return complaint
	}
	s.settled[key] = false
	steps := w.fairSteps()
	if len(steps) == 0 && !w.quiet() {
		if s.unaided {
			return "one waits although nothing was lost"
		}
		steps = append(steps, permissionStep{kind: stepTickAll})
	}
	for _, step := range steps {
		s.fairPath = append(s.fairPath, step)
		next := w.take(step, false)
		if s.broken == 0 {
			next.collect(false)
		}
		if complaint := s.fair(next); complaint != "" {
			return complaint
		}
		s.fairPath = s.fairPath[:len(s.fairPath)-1]
	}
	s.settled[key] = true
	return ""
}

// fairSteps returns what happens without faults and without a second passing.
func (w *permissionWorld) fairSteps() []permissionStep {
	var steps []permissionStep
	for i := range w.nodes {
		if w.nodes[i].dead {
			continue
		}
		if w.nodes[i].p.Granted() {
			steps = append(steps, permissionStep{kind: stepRelease, i: i})
		}
		for j := range w.nodes {
			if j != i && w.absent(i, j) != w.gone(j, i) {
				kind := stepSuspect
				if w.absent(i, j) {
					kind = stepUnsuspect
				}
				steps = append(steps, permissionStep{kind: kind, i: i, j: j})
			}
		}
	}
	for at, k := range w.net {
		if at == 0 || k != w.net[at-1] {
			steps = append(steps, permissionStep{kind: stepDeliver, i: int(k.to), k: k})
		}
	}
	return steps
}

// trace renders how state number at was reached, and what happened on a fair way from there.
func (s *permissionSearch) trace(at int, complaint string) string {
	var back []string
	for n := at; s.states[n].from >= 0; n = s.states[n].from {
		back = append(back, s.states[n].step.String())
	}
	var b strings.Builder
	for i := range back {
		fmt.Fprintln(&b, back[len(back)-1-i])
	}
	for _, step := range s.fairPath {
		fmt.Fprintln(&b, "fair:", step)
	}
	return b.String() + complaint
}
