package fault

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fednode/query/tuple"
)

// String renders the fault on one line.
func (f Fault) String() string {
	s := f.Kind.shape()
	b := tuple.AppendDuration(nil, f.At)
	b = append(b, ' ')
	b = append(b, s.name...)
	b = append(b, ' ')
	b = append(b, f.A...)
	if s.nodes == 2 {
		b = append(b, ' ')
		b = append(b, f.B...)
	}
	switch s.amount {
	case factor:
		b = fmt.Appendf(b, " x%d", f.Amount)
	case percent:
		b = fmt.Appendf(b, " %d%%", f.Amount)
	case duration:
		b = tuple.AppendDuration(append(b, " +"...), f.Amount)
	case bytesPerSecond:
		b = fmt.Appendf(b, " %dB/s", f.Amount)
	}
	switch {
	case s.lasts && f.For == Forever:
		b = append(b, " for ever"...)
	case s.lasts:
		b = tuple.AppendDuration(append(b, " for "...), f.For)
	}
	return string(b)
}

// String renders the plan, a fault a line.
func (p Plan) String() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].String()
	}
	return strings.Join(lines, "\n")
}

// Parse reads one fault, as String writes it. Whether the nodes exist it does not know.
func Parse(line string) (Fault, error) {
	words := strings.Fields(line)
	f, err := parse(words)
	if err != nil {
		return Fault{}, fmt.Errorf("fault %q: %w", line, err)
	}
	return f, nil
}

func parse(words []string) (f Fault, err error) {
	if len(words) < 3 {
		return f, errors.New("expected at least a time, a kind and a node: 12.5s crash f1.0 for 3s")
	}
	if f.At, err = parseDuration(words[0]); err != nil {
		return f, err
	}
	for f.Kind = 0; f.Kind < kinds && f.Kind.shape().name != words[1]; f.Kind++ {
	}
	if f.Kind == kinds {
		return f, fmt.Errorf("the kind %q is not known", words[1])
	}
	s := f.Kind.shape()
	f.A, words = words[2], words[3:]
	if s.nodes == 2 {
		if len(words) == 0 {
			return f, fmt.Errorf("%s takes two nodes", s.name)
		}
		f.B, words = words[0], words[1:]
	}
	if s.amount != none {
		if len(words) == 0 {
			return f, fmt.Errorf("%s takes an amount", s.name)
		}
		if f.Amount, err = parseAmount(words[0], s.amount); err != nil {
			return f, err
		}
		words = words[1:]
	}
	if s.lasts {
		if len(words) < 2 || words[0] != "for" {
			return f, fmt.Errorf("%s takes a length: for 3s, or for ever", s.name)
		}
		if f.For = Forever; words[1] != "ever" {
			if f.For, err = parseDuration(words[1]); err != nil {
				return f, err
			}
		}
		words = words[2:]
	}
	if len(words) > 0 {
		return f, fmt.Errorf("nothing is expected after its end: %q", words[0])
	}
	return f, nil
}

func parseAmount(word string, u unit) (int64, error) {
	cut, ok, text := word, false, ""
	switch u {
	case factor:
		cut, ok = strings.CutPrefix(word, "x")
		text = "a factor such as x40"
	case percent:
		cut, ok = strings.CutSuffix(word, "%")
		text = "a chance such as 20%"
	case bytesPerSecond:
		cut, ok = strings.CutSuffix(word, "B/s")
		text = "a bandwidth such as 20000B/s"
	case duration:
		if cut, ok = strings.CutPrefix(word, "+"); ok {
			return parseDuration(cut)
		}
		text = "a duration such as +200ms"
	}
	n, err := strconv.ParseInt(cut, 10, 64)
	if !ok || err != nil || n < 1 || u == percent && n > 100 || n > 1<<40 {
		return 0, fmt.Errorf("%q: expected %s", word, text)
	}
	return n, nil
}

// parseDuration reads a duration of up to 30 days, in microseconds.
func parseDuration(word string) (int64, error) {
	d, err := time.ParseDuration(word)
	if err != nil || d < 0 || d > 30*24*time.Hour {
		return 0, fmt.Errorf("%q: expected a duration such as 12.5s", word)
	}
	return d.Microseconds(), nil
}

// ParsePlan reads faults and puts them into order of time.
func ParsePlan(lines []string) (Plan, error) {
	var p Plan
	var problems []error
	for _, line := range lines {
		f, err := Parse(line)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		p = append(p, f)
	}
	p.Sort()
	return p, errors.Join(problems...)
}

// Sort puts the faults into order of time.
func (p Plan) Sort() {
	slices.SortStableFunc(p, func(a, b Fault) int {
		switch {
		case a.At < b.At:
			return -1
		case a.At > b.At:
			return 1
		}
		return 0
	})
}
