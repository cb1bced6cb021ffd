package dcaa

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"fednode/query/tuple"
)

// words are the parts of one step of a script: verb, arguments, and key=value options.
type words struct {
	t       testing.TB
	line    string
	verb    string
	rest    []string
	options map[string]string
}

func newWords(t testing.TB, line string) *words {
	w := &words{t: t, line: line, options: map[string]string{}}
	for k, word := range strings.Fields(line) {
		key, value, option := strings.Cut(word, "=")
		switch {
		case k == 0:
			w.verb = word
		case option:
			w.options[key] = value
		default:
			w.rest = append(w.rest, word)
		}
	}
	return w
}

func (w *words) next() string {
	if len(w.rest) == 0 {
		w.t.Fatalf("%s: too few words", w.line)
	}
	word := w.rest[0]
	w.rest = w.rest[1:]
	return word
}

// flag takes a word out if it is there.
func (w *words) flag(name string) bool {
	for k := range w.rest {
		if w.rest[k] == name {
			w.rest = append(w.rest[:k:k], w.rest[k+1:]...)
			return true
		}
	}
	return false
}

func (w *words) number() int64 { return w.parse(w.next()) }

func (w *words) parse(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		w.t.Fatalf("%s: %v", w.line, err)
	}
	return n
}

func (w *words) option(key string, otherwise int64) int64 {
	if text, ok := w.options[key]; ok {
		return w.parse(text)
	}
	return otherwise
}

// time is a stime in milliseconds, "-" for none and "end" for all.
func (w *words) time() tuple.Time { return parseTime(w.t, w.next()) }

func parseTime(t testing.TB, text string) tuple.Time {
	switch text {
	case "-":
		return tuple.MinTime
	case "end":
		return tuple.MaxTime
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return tuple.Time(n * 1000)
}

func (w *words) place() tuple.Position { return parsePlace(w.t, w.next()) }

func parsePlace(t testing.TB, text string) tuple.Position {
	id, at, _ := strings.Cut(text, "@")
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return tuple.Position{ID: n, Time: parseTime(t, at)}
}

// span is two numbers, "3-5".
func (w *words) span() (from, to int64) {
	a, b, _ := strings.Cut(w.next(), "-")
	return w.parse(a), w.parse(b)
}

// run is "a1": the producer and which failure of it.
func (w *words) run() tuple.Run {
	text := w.next()
	return tuple.Run{Producer: text[:1], Incarnation: 1, N: uint64(w.parse(text[1:]))}
}

// frame builds what the verb names; the connection has been read.
func (w *words) frame() *tuple.Frame {
	f := &tuple.Frame{Generation: uint64(w.option("gen", 1))}
	switch w.verb {
	case "rows":
		from, to := w.span()
		f.Kind, f.FirstID, f.LastID = tuple.Insertion, uint64(from), uint64(to)
		var times []tuple.Time
		for range to - from + 1 {
			times = append(times, tuple.Time(w.option("at", 0)*1000))
		}
		f.Batch = batchAt(times)
	case "boundary":
		f.Kind, f.Time, f.Age = tuple.Boundary, w.time(), 1000*w.option("age", 0)
	case "tentative":
		f.Kind, f.Run = tuple.Tentative, w.run()
		var times []tuple.Time
		for len(w.rest) > 0 {
			times = append(times, w.time())
		}
		f.Batch = batchAt(times)
	case "tboundary":
		f.Kind, f.Run, f.Time, f.Age = tuple.TentativeBoundary, w.run(), w.time(), 1000*w.option("age", 0)
		if m, ok := w.options["missing"]; ok {
			f.Missing = []tuple.Missing{{Stream: m}}
		}
	case "undo":
		f.Kind, f.Run = tuple.Undo, w.run()
	case "done":
		f.Kind, f.Run = tuple.RecDone, w.run()
	case "gap":
		f.Kind, f.FirstID, f.Reason = tuple.Gap, uint64(w.number()), "lost"
		from, to := w.span()
		f.Time, f.To = tuple.Time(from*1000), tuple.Time(to*1000)
	default:
		w.t.Fatalf("unknown step %q", w.line)
	}
	return f
}

// batchAt has one row at each stime.
func batchAt(times []tuple.Time) *tuple.Batch {
	b := tuple.NewBatchBuilder(bufferSchema)
	for k, t := range times {
		b.AppendInt(0, int64(k))
		b.EndRow(t)
	}
	return b.Take()
}

// stime renders a stime in milliseconds, as scripts write it.
func stime(t tuple.Time) string {
	switch t {
	case tuple.MinTime:
		return "-"
	case tuple.MaxTime:
		return "end"
	}
	return fmt.Sprint(int64(t) / 1000)
}

func place(p tuple.Position) string { return fmt.Sprintf("%d@%s", p.ID, stime(p.Time)) }
