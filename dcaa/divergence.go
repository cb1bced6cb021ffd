package dcaa

import "fednode/query/tuple"

// Divergence says that two replicas gave different rows, which never happens unless one of them computes
// wrongly: an operator that is not deterministic, another build, broken memory. DIVERGED is what operators are told.
type Divergence struct {
	// Producer differs from Other, which the consumer stays with.
	Producer, Other string
	// Generation and Boundary say up to where the two checksums are.
	Generation    uint64
	Boundary      tuple.Time
	Sum, OtherSum uint64
}

// Divergent is an IntakeShell that is told once each time that a producer begins to differ from another.
type Divergent interface {
	Diverged(d Divergence)
}

// checkPoints is how many checksums are remembered: a replica may be behind another by so many boundaries and still be
// compared with it.
const checkPoints = 256

// check is the checksum up to a boundary that a producer has told first.
type check struct {
	generation uint64
	boundary   tuple.Time
	sum        uint64
	producer   int
	// held: it is of rows that the consumer has taken from that producer.
	held bool
}

// checks are the latest ones, the oldest overwritten first. It is empty where no producer sums up.
type checks struct {
	list []check
	next int
}

// find returns the checksum up to a boundary, nil if none has been told.
func (c *checks) find(generation uint64, boundary tuple.Time) *check {
	for k := range c.list {
		if x := &c.list[k]; x.boundary == boundary && x.generation == generation {
			return x
		}
	}
	return nil
}

func (c *checks) add(x check) {
	if len(c.list) < checkPoints {
		c.list = append(c.list, x)
		return
	}
	c.list[c.next] = x
	c.next = (c.next + 1) % checkPoints
}

// compare takes the checksum that a producer gave up to a boundary. The consumer stays with whom it has rows from, else with
// who told first; the other one is not read from until its checksums agree again.
func (i *Intake) compare(x check) {
	if x.sum == 0 || x.generation == 0 {
		return
	}
	known := i.find(x.generation, x.boundary)
	switch {
	case known == nil:
		i.add(x)
	case known.producer == x.producer:
		known.held = known.held || x.held
		known.sum = x.sum // in another life it may have begun anew
	case known.sum == x.sum:
		i.producers[x.producer].diverged = false
		if x.held {
			known.producer, known.held = x.producer, true
		}
	case x.held && !known.held:
		was := *known
		*known = x
		i.diverge(was, x)
	default:
		i.diverge(x, *known)
	}
}

// diverge notes that a producer differs from another.
func (i *Intake) diverge(wrong, right check) {
	p := &i.producers[wrong.producer]
	if p.diverged {
		return
	}
	p.diverged = true
	if s, ok := i.shell.(Divergent); ok {
		s.Diverged(Divergence{Producer: p.name, Other: i.producers[right.producer].name, Generation: wrong.generation, Boundary: wrong.boundary,
			Sum: wrong.sum, OtherSum: right.sum})
	}
}

// Diverged lists the producers that are not read from because their rows differ from those that are held.
func (i *Intake) Diverged() []string {
	var names []string
	for n := range i.producers {
		if i.producers[n].diverged {
			names = append(names, i.producers[n].name)
		}
	}
	return names
}

// Accept lets a producer that has diverged be read from again: a person has found that it is right, or that what differs from
// it is gone for good. What has been compared is forgotten; who differs from it from now on is DIVERGED in turn, and so is
// the accepted one if another is being read from. It reports whether there was something to accept.
func (i *Intake) Accept(now Instant, producer string) bool {
	for n := range i.producers {
		if p := &i.producers[n]; p.name == producer && p.diverged {
			p.diverged = false
			i.checks = checks{}
			i.choose(now)
			return true
		}
	}
	return false
}

// checkFrame compares what a boundary of a connection says.
func (i *Intake) checkFrame(now Instant, c *conn, f *tuple.Frame) {
	generation := f.Generation
	if generation == 0 {
		generation = i.pos.Generation // a boundary from another node is of that of the rows before it
	}
	i.compare(check{generation: generation, boundary: f.Time, sum: f.Sum, producer: c.producer, held: c == i.data})
	if i.producers[c.producer].diverged && i.conn(c.id) == c {
		i.drop(now, c) // what it has given is held, and nothing is added to it
		i.choose(now)
	}
}
