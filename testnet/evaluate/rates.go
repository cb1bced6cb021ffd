package evaluate

import (
	"fmt"
	"strings"
)

// Rate is what came of one rate of the sources on real daemons, without any failure.
type Rate struct {
	Setup string `json:"setup"`
	// Nodes is how many the chain has, Replicas how many run each of its fragments.
	Nodes    int `json:"nodes"`
	Replicas int `json:"replicas"`
	// Asked rows a second of each source. Written is what came to be, for what writes the sources is a program of this
	// machine too; Taken is what of it the daemons took in, on average.
	Asked   int `json:"asked"`
	Written int `json:"written"`
	Taken   int `json:"taken"`
	// Delay is the longest from a row's time until the client had it; Growth is by how much the shortest rose meanwhile.
	Delay  Micros `json:"delay"`
	Growth Micros `json:"delay_growth"`
	// Held: nearly all was written, what was written was taken in, no result was later than X, and they became no later.
	Held bool `json:"held"`
	// Processors that were used: by the daemons where data enter, by all others, by the testnet itself (it writes the
	// sources, carries what daemons say to each other, and follows the results), and by everything on the machine, of All.
	Sources float64 `json:"sources_cpus"`
	Others  float64 `json:"other_daemons_cpus"`
	Testnet float64 `json:"testnet_cpus"`
	Machine float64 `json:"machine_cpus"`
	All     int     `json:"processors"`
	// PerRow is what all daemons together used for each row that was taken in, in microseconds of a processor.
	PerRow  float64  `json:"cpu_us_per_row"`
	Daemons []Daemon `json:"daemons"`
}

// Daemon is what one of them used at some rate.
type Daemon struct {
	Name string `json:"name"`
	// CPUs it used, and PerRow what that is for each row that was taken in by any, in microseconds of a processor.
	CPUs   float64 `json:"cpus"`
	PerRow float64 `json:"cpu_us_per_row"`
	// Fragments it runs.
	Fragments []Working `json:"fragments"`
}

// Working is how much of the time a fragment worked, 0 to 1; it works on one processor at a time.
type Working struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"`
}

// String tells the rate for people.
func (r *Rate) String() string {
	held := "held"
	if !r.Held {
		held = "not held, " + r.fails()
	}
	return fmt.Sprintf("%s, %d rows/s a stream: %s; longest delay %s; of %d processors sources used %.1f, other daemons %.1f, the testnet %.1f, everything on the machine %.1f",
		r.Setup, r.Asked, held, r.Delay, r.All, r.Sources, r.Others, r.Testnet, r.Machine)
}

// Bounds of a rate that is held.
const (
	// writtenShare is how much of what is asked for has to be written, takenShare how much of that has to be taken in: the rest is what
	// comes to be in a third of a second, which may be on its way at the end of a look and not at its beginning.
	writtenShare = 0.9
	takenShare   = 0.95
	// mostGrowth is by how much the delay may rise in the time between the first and the last third of a look.
	mostGrowth = 0.1
)

// written reports whether the source files grew as they should, taken whether the daemons took in what they had.
func (r *Rate) written() bool { return float64(r.Written) >= writtenShare*float64(r.Asked) }
func (r *Rate) taken() bool   { return float64(r.Taken) >= takenShare*float64(r.Written) }

// grew reports whether results became later and later.
func (r *Rate) grew() bool { return r.Growth.Seconds() > mostGrowth*rateFor.Seconds()*2/3 }

// judge decides whether the rate is held.
func (r *Rate) judge() { r.Held = r.fails() == "" }

// fails says what is not as it has to be; "" if all is.
func (r *Rate) fails() string {
	switch {
	case !r.written():
		return fmt.Sprintf("%d rows/s were written", r.Written)
	case !r.taken():
		return fmt.Sprintf("%d of %d rows/s were taken in", r.Taken, r.Written)
	case r.grew():
		return fmt.Sprintf("the delay grew by %s", r.Growth)
	case r.Delay > Micros(bound):
		return fmt.Sprintf("a result was %s late", r.Delay)
	}
	return ""
}

// Busy are bounds from which something is what bounds a rate: a share of the machine's processors, or of a fragment's time.
const (
	busyMachine  = 0.9
	busyFragment = 0.9
)

// bound says what keeps a higher rate from being held: the processors, if hardly any of their time is left.
func (r *Rate) bound() string {
	own := r.Used() + r.Testnet
	if r.Machine >= busyMachine*float64(r.All) {
		text := fmt.Sprintf("the processors: %.1f of %d in use, %.1f of them by the federation%s", r.Machine, r.All, own, r.most())
		if own < 0.75*r.Machine {
			text += ", the rest by other programs"
		}
		return text
	}
	left := fmt.Sprintf("%.1f of %d processors were in use", r.Machine, r.All)
	if name, w := r.Busiest(); w.Share >= busyFragment {
		return fmt.Sprintf("fragment %s at %s, which worked %.0f %% of the time; %s", w.Name, name, 100*w.Share, left)
	}
	if !r.written() {
		return "what writes the sources, or the disk that it writes to; " + left
	}
	return "not the processors, of which " + strings.TrimSuffix(left, " processors were in use") + " were in use" + r.most() + ": what lies between the daemons, or their disks"
}

// Used is what all daemons used together, in processors.
func (r *Rate) Used() float64 { return r.Sources + r.Others }

// most says which daemon used most.
func (r *Rate) most() string {
	most := Daemon{}
	for _, d := range r.Daemons {
		if d.CPUs > most.CPUs {
			most = d
		}
	}
	if most.Name == "" {
		return ""
	}
	return fmt.Sprintf(", %.1f by the testnet and the most of a daemon, %.2f, by %s", r.Testnet, most.CPUs, most)
}

// String names a daemon with what it runs.
func (d Daemon) String() string {
	if len(d.Fragments) == 0 {
		return d.Name
	}
	names := make([]string, len(d.Fragments))
	for i, w := range d.Fragments {
		names[i] = w.Name
	}
	return d.Name + " (" + strings.Join(names, ", ") + ")"
}

// Busiest returns the fragment that worked most of the time, and its daemon; "" if there is none.
func (r *Rate) Busiest() (daemon string, most Working) {
	for _, d := range r.Daemons {
		for _, w := range d.Fragments {
			if w.Share > most.Share {
				daemon, most = d.Name, w
			}
		}
	}
	return daemon, most
}

// Peak is the highest rate that a setup holds.
type Peak struct {
	// Best is the highest rate that was held, null if none was; Next is the lowest above it that was not, null if all were.
	Best *Rate `json:"held"`
	Next *Rate `json:"not_held"`
	// Bound says what keeps Next from being held; "" if all rates were.
	Bound string `json:"bound"`
}

// peakOf returns the highest rate of a setup, whose rates were tried in any order; nil if there are none.
func peakOf(list []Rate) *Peak {
	if len(list) == 0 {
		return nil
	}
	p := &Peak{Best: highest(list)}
	for i := range list {
		r := &list[i]
		above := !r.Held && (p.Best == nil || r.Asked > p.Best.Asked)
		if above && (p.Next == nil || r.Asked < p.Next.Asked) {
			p.Next, p.Bound = r, r.bound()
		}
	}
	return p
}

// Of is what was measured: the rate that was held, or where none was the lowest one.
func (p *Peak) Of() *Rate {
	if p.Best != nil {
		return p.Best
	}
	return p.Next
}

// String tells it for people.
func (p *Peak) String() string {
	switch {
	case p.Best == nil:
		return fmt.Sprintf("%s: no rate was held; what bounds it: %s.", p.Next.Setup, p.Bound)
	case p.Next == nil:
		return fmt.Sprintf("%s: the highest rate tried was held, %d rows/s a stream.", p.Best.Setup, p.Best.Asked)
	}
	return fmt.Sprintf("%s: the highest rate held is %d rows/s a stream; what bounds it at %d: %s.", p.Best.Setup, p.Best.Asked, p.Next.Asked, p.Bound)
}

// highest returns the highest rate that was held; nil if none was.
func highest(list []Rate) (best *Rate) {
	for i := range list {
		if list[i].Held && (best == nil || list[i].Asked > best.Asked) {
			best = &list[i]
		}
	}
	return best
}
