package optest

import (
	"math/rand/v2"
	"sort"
	"strings"

	"fednode/query/op"
	"fednode/query/tuple"
)

// shuffleWithin returns the rows with their order changed between every two boundaries.
func shuffleWithin(s *tuple.Batch, boundaries []tuple.Time, rng *rand.Rand) *tuple.Batch {
	order := make([]uint32, len(s.Time))
	for i := range order {
		order[i] = uint32(i)
	}
	lo := 0
	for _, t := range boundaries {
		hi := lo
		for hi < len(order) && s.Time[hi] < t {
			hi++
		}
		part := order[lo:hi]
		rng.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
		lo = hi
	}
	view := *s
	view.Sel = order
	return view.Clone()
}

// lineSink keeps emitted rows without asking for their order.
type lineSink struct {
	ports map[int]*strings.Builder
}

// Batch keeps the rows of one port.
func (l *lineSink) Batch(port int, b *tuple.Batch) error {
	if l.ports == nil {
		l.ports = map[int]*strings.Builder{}
	}
	if l.ports[port] == nil {
		l.ports[port] = &strings.Builder{}
	}
	var line []byte
	for i := range b.Rows() {
		line = append(AppendRow(line[:0], b, i), '\n')
		l.ports[port].Write(line)
	}
	return nil
}

func (l *lineSink) transcript(p *op.Plan) string {
	d := driver{plan: p, out: make([]strings.Builder, len(p.Ports))}
	for i, b := range l.ports {
		d.out[i].WriteString(b.String())
	}
	return d.transcript()
}

// sortedLines sorts the lines of a transcript. Every port's lines begin with its number, so ports stay apart.
func sortedLines(transcript string) string {
	lines := strings.Split(transcript, "\n")
	port := ""
	for i, l := range lines {
		if strings.HasPrefix(l, "port ") {
			port = l
		}
		lines[i] = port + " " + l
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// shuffled checks the claim of Plan.OrderInsensitive. Rows keep their stime, so what is emitted at once is compared as
// it stands only when the operator restores the order.
func (r *rig) shuffled() {
	if !r.plan.OrderInsensitive {
		return
	}
	original := r.streams
	defer func() { r.streams = original }()
	for range 3 {
		r.streams = nil
		for _, s := range original {
			r.streams = append(r.streams, shuffleWithin(s, r.grid(12), r.rng))
		}
		x := newDriver(r.plan, r.plan.New(), r.streams, r.c.lag())
		if !r.plan.RestoresOrder {
			// The rows leave in the order they came, so neither their order nor stimes that rise can be asked for.
			if got, want := r.unordered(), sortedLines(r.want); got != want {
				r.t.Fatalf("order within boundaries changes the rows:\n%s", firstDifference(want, got))
			}
			continue
		}
		r.finish("shuffling", x, r.shuffledSteps())
		r.compare("shuffling between boundaries", x)
	}
}

// shuffledSteps cuts by place, since stimes no longer rise.
func (r *rig) shuffledSteps() []step {
	var out []step
	next := make([]int, len(r.streams))
	for _, t := range r.grid(12) {
		for p, s := range r.streams {
			end := next[p]
			for end < len(s.Time) && s.Time[end] < t {
				end++
			}
			if next[p] < end {
				out = append(out, step{port: p, lo: next[p], hi: end, enc: sharedDict})
			}
			next[p] = end
			out = append(out, step{port: p, boundary: t})
		}
	}
	return out
}

func (r *rig) unordered() string {
	var lines lineSink
	o := r.plan.New()
	for _, s := range r.shuffledSteps() {
		var err error
		if s.lo < s.hi {
			err = o.Process(s.port, cut(r.streams[s.port], s.lo, s.hi, s.enc), &lines)
		} else {
			_, err = o.Boundary(s.port, s.boundary, &lines)
		}
		if err != nil {
			r.t.Fatalf("shuffling: %v", err)
		}
	}
	return sortedLines(lines.transcript(r.plan))
}
