package querytest

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"fednode/query"
	"fednode/query/tuple"
)

// Feed is what the sources of a diagram send, in order of arrival.
type Feed struct {
	diagram *query.Diagram
	events  []event
}

// event is rows of a stream, or, where rows is nil, a boundary.
type event struct {
	stream *query.Stream
	rows   *tuple.Batch
	until  tuple.Time
}

// NewFeed returns an empty feed for the streams of a diagram.
func NewFeed(d *query.Diagram) *Feed { return &Feed{diagram: d} }

// Rows adds rows of a stream, one a line: the stime, then a value for each column but the event time's, separated by
// spaces. Times are written as durations since 1970 ("90s"), nulls as -, texts with spaces in double quotes.
func (f *Feed) Rows(stream, lines string) error {
	s := f.diagram.Stream(stream)
	if s == nil {
		return fmt.Errorf("no stream %s", stream)
	}
	b := tuple.NewBatchBuilder(s.Schema)
	for i, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		if err := appendRow(b, s, line); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	f.Batch(stream, b.Take())
	return nil
}

// Batch adds an owned batch of rows.
func (f *Feed) Batch(stream string, b *tuple.Batch) {
	f.events = append(f.events, event{stream: f.diagram.Stream(stream), rows: b})
}

// Boundary says that no later row of a stream has stime < t.
func (f *Feed) Boundary(stream string, t tuple.Time) error {
	s := f.diagram.Stream(stream)
	if s == nil {
		return fmt.Errorf("no stream %s", stream)
	}
	f.events = append(f.events, event{stream: s, until: t})
	return nil
}

// End ends every stream.
func (f *Feed) End() {
	for _, s := range f.diagram.Streams {
		f.events = append(f.events, event{stream: s, until: tuple.MaxTime})
	}
}

// appendRow parses one line.
func appendRow(b *tuple.BatchBuilder, s *query.Stream, line string) error {
	words, err := split(line)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		return fmt.Errorf("no stime")
	}
	at, err := tuple.ParseDuration(words[0])
	if err != nil {
		return err
	}
	words = words[1:]
	for i, f := range s.Schema.Fields() {
		if i == s.Time {
			b.AppendInt(i, at)
			continue
		}
		if len(words) == 0 {
			return fmt.Errorf("no value for column %s", f.Name)
		}
		if err := appendValue(b, i, f.Type, words[0]); err != nil {
			return fmt.Errorf("column %s: %w", f.Name, err)
		}
		words = words[1:]
	}
	if len(words) > 0 {
		return fmt.Errorf("value %q has no column", words[0])
	}
	b.EndRow(tuple.Time(at))
	return nil
}

// split cuts a line at spaces outside of double quotes.
func split(line string) ([]string, error) {
	var words []string
	for line = strings.TrimLeft(line, " \t"); line != ""; line = strings.TrimLeft(line, " \t") {
		if line[0] == '"' {
			q, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, fmt.Errorf("no closing quote in %q", line)
			}
			text, err := strconv.Unquote(q)
			if err != nil {
				return nil, err
			}
			words, line = append(words, text), line[len(q):]
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		words, line = append(words, word), rest
	}
	return words, nil
}

// appendValue parses one value.
func appendValue(b *tuple.BatchBuilder, i int, t tuple.Type, text string) error {
	if text == "-" {
		b.AppendNull(i)
		return nil
	}
	var n int64
	var err error
	switch t.Kind {
	case tuple.Bool:
		v, err := strconv.ParseBool(text)
		b.AppendBool(i, v)
		return err
	case tuple.Float64:
		v, err := strconv.ParseFloat(text, 64)
		b.AppendFloat(i, v)
		return err
	case tuple.String, tuple.Bytes:
		b.AppendBin(i, []byte(text))
		return nil
	case tuple.IP:
		a, err := netip.ParseAddr(text)
		if err == nil {
			v := tuple.IPBytes(a)
			b.AppendBin(i, v[:])
		}
		return err
	case tuple.CIDR:
		p, err := netip.ParsePrefix(text)
		if err == nil {
			v := tuple.CIDRBytes(p)
			b.AppendBin(i, v[:])
		}
		return err
	case tuple.Int64:
		n, err = strconv.ParseInt(text, 10, 64)
	case tuple.Decimal:
		n, err = tuple.ParseDecimal(text, t.Scale)
	case tuple.Timestamp, tuple.Duration:
		n, err = tuple.ParseDuration(text)
	default:
		return fmt.Errorf("no text form for %s", t)
	}
	if err == nil {
		b.AppendInt(i, n)
	}
	return err
}
