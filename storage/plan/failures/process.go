package failures

import (
	"math"
	"math/rand/v2"

	"fednode/storage/plan"
)

// process is one run. Times are seconds since its beginning; work is seconds of useful work that would not be lost if the
// newest checkpoint were gone back to.
type process struct {
	// fixed
	levels   []plan.Level
	free     int // levels below it keep what was done up to the failure
	interval float64
	work     []float64   // of an interval that ends with a checkpoint of the level
	until    []float64   // a draw below it takes the level
	rates    []float64   // failures of the level and those below
	lag      float64     // from the first operator's checkpoint to the last one's
	warm     float64     // when measuring begins
	duration float64     // when the run ends
	more     func() bool // asked now and then whether to go on

	// state
	random  *rand.Rand
	now     float64
	steps   int     // of the loops, to ask more now and then
	failure float64 // when the next one comes
	done    float64 // time spent in the interval so far
	at      float64 // work at the begin of the interval
	// newest is, by level, what a failure of it goes back to.
	newest []checkpoint
	// passing are checkpoints that have not passed the path, oldest first, from index head.
	passing []checkpoint
	head    int
}

// checkpoint is what a failure may go back to.
type checkpoint struct {
	level int
	work  float64
	ready float64 // when the last operator has completed it
}

func newProcess(s plan.System, c plan.Schedule, random *rand.Rand) *process {
	p := &process{levels: s.Levels, interval: float64(c.Interval), random: random, newest: make([]checkpoint, len(s.Levels)),
		lag: float64(max(s.PathLength, 1)-1) * float64(s.HopDelay)}
	sum, rate, last := 0.0, 0.0, 0
	for i, l := range s.Levels {
		if l.Cost == 0 {
			p.free = i + 1
		}
		if c.Probabilities[i] > 0 {
			last = i
		}
		sum += c.Probabilities[i]
		rate += float64(l.Rate)
		p.work = append(p.work, float64(c.Interval-l.Cost))
		p.until = append(p.until, sum)
		p.rates = append(p.rates, rate)
	}
	p.until[last] = math.Inf(1) // what rounding leaves of the sum is the last level's
	for i := range p.newest {
		p.newest[i].level = max(i, last) // the beginning is as good as the highest checkpoint that is drawn
	}
	p.await()
	return p
}

// await draws when the next failure comes.
func (p *process) await() { p.failure = p.now + p.random.ExpFloat64()/p.rates[len(p.rates)-1] }

// drawn returns the level of the next checkpoint.
func (p *process) drawn() int {
	u := p.random.Float64()
	for l, until := range p.until {
		if u < until {
			return l
		}
	}
	return len(p.until) - 1
}

// failed returns the level of a failure.
func (p *process) failed() int {
	u := p.random.Float64() * p.rates[len(p.rates)-1]
	for l, rate := range p.rates {
		if u < rate {
			return l
		}
	}
	return len(p.rates) - 1
}

// run lets the process work to its end and returns the share of time whose work is still there, since it was warm: at its
// beginning everything is safe, which would count for it.
func (p *process) run() float64 {
	begin, work, warm := 0.0, 0.0, false
	for !p.ended() {
		if !warm && p.now >= p.warm {
			begin, work, warm = p.now, p.at, true
		}
		if end := p.now + p.interval - p.done; end <= p.failure {
			p.now = end
			p.complete()
			continue
		}
		p.done += p.failure - p.now
		p.now = p.failure
		p.recover()
	}
	if p.now <= begin {
		return 0
	}
	return (p.at - work) / (p.now - begin)
}

// ended reports whether the run's time is over, or nobody waits for it any more.
func (p *process) ended() bool {
	p.steps++
	return p.now >= p.duration || p.steps&1023 == 0 && !p.more()
}

// complete ends an interval with its checkpoint.
func (p *process) complete() {
	level := p.drawn()
	p.at += p.work[level]
	p.done = 0
	c := checkpoint{level: level, work: p.at, ready: p.now + p.lag}
	if p.lag == 0 {
		p.keep(c)
		return
	}
	p.arrive()
	p.passing = append(p.passing, c)
}

// keep makes a checkpoint the newest for every failure that it survives.
func (p *process) keep(c checkpoint) {
	for l := 0; l <= c.level; l++ {
		p.newest[l] = c
	}
}

// arrive keeps the checkpoints that have passed the path by now.
func (p *process) arrive() {
	for p.head < len(p.passing) && p.passing[p.head].ready <= p.now {
		p.keep(p.passing[p.head])
		p.head++
	}
	if p.head == len(p.passing) {
		p.passing, p.head = p.passing[:0], 0
	}
}

// recover goes back after a failure, as often as another comes before the restart has ended; some never end. A free level loses nothing:
// the interval goes on where it was. Otherwise every checkpoint of a lower level is gone, and those on their way too.
func (p *process) recover() {
	for worst := -1; !p.ended(); {
		worst = max(worst, p.failed())
		restart := float64(p.levels[worst].Restart)
		if worst >= p.free {
			p.arrive()
			p.passing, p.head = p.passing[:0], 0
			back := p.newest[worst]
			for l := range worst {
				p.newest[l] = back
			}
			p.at, p.done = back.work, 0
			restart = float64(p.levels[back.level].Restart)
		}
		p.await()
		if p.failure-p.now >= restart {
			p.now += restart
			return
		}
		p.now = p.failure
	}
}
