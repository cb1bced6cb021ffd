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
