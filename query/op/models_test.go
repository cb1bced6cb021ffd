package op_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"fednode/query/op"
	"fednode/query/op/optest"
	"fednode/query/tuple"
)

// agree runs an operator over random rows and compares its output with what a model, its definition read literally, says
// of the same rows. table are the rows of a second input, if the kind has one.
func agree(t *testing.T, kind, text string, table *op.Table, model func(rows, table []modelRow) []string) {
	t.Helper()
	in := []op.Input{modelInput(t, "s", "n")}
	if table != nil {
		in = append(in, modelInput(t, "t", "v"))
		in[1].Table = table
	}
	p, err := optest.Build(kind, text, in)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		streams := [][]modelRow{modelRows(rng), modelRows(rng)}
		o, out := p.New(), &modelSink{}
		for port := range in {
			if b := modelBatch(in[port].Schema, streams[port]); b.Rows() > 0 {
				if err := o.Process(port, b, out); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := o.Boundary(port, tuple.MaxTime, out); err != nil {
				t.Fatal(err)
			}
		}
		if want := model(streams[0], streams[1]); !slices.Equal(out.lines, want) {
			t.Fatalf("seed %d:\n got %q\nwant %q", seed, out.lines, want)
		}
		total += len(out.lines)
	}
	if total < 40 {
		t.Fatalf("%d results in all show too little", total)
	}
}

// line prints a row of the model with further values.
func (r modelRow) line(more ...any) string {
	key := fmt.Sprint(r.key)
	if r.key == 0 {
		key = "null"
	}
	s := fmt.Sprintf("%s: %s %d", tuple.AppendDuration(nil, r.at*1000), key, r.value)
	for _, m := range more {
		s += fmt.Sprint(" ", m)
	}
	return s
}

func TestDedupAgreesWithModel(t *testing.T) {
	agree(t, "dedup", "by = [\"k\"]\nwithin = \"15ms\"", nil, func(rows, _ []modelRow) (out []string) {
		for i, r := range rows {
			if !slices.ContainsFunc(rows[:i], func(o modelRow) bool { return o.key == r.key && r.at-o.at < 15 }) {
				out = append(out, r.line())
			}
		}
		return out
	})
}

func TestLookupAgreesWithModel(t *testing.T) {
	table := &op.Table{Key: []string{"k"}, Match: "exact", TTL: 25_000}
	agree(t, "lookup", "on = [\"k\"]\ntable = \"t\"\nkeep = \"all\"", table, func(rows, versions []modelRow) (out []string) {
		for _, r := range rows {
			value := any("null")
			for _, v := range versions { // the last one wins
				if v.key == r.key && v.key != 0 && v.at <= r.at {
					value = v.value
					if r.at-v.at >= 25 {
						value = "null"
					}
				}
			}
			out = append(out, r.line(value))
		}
		return out
	})
}

func TestOverAgreesWithModel(t *testing.T) {
	text := "key = [\"k\"]\nttl = \"1h\"\nadd = { b = \"lag(n, 2)\", m = \"avg(n, 3)\", w = \"min(n, '20ms')\", a = \"at(n, '10ms')\" }"
	agree(t, "over", text, nil, func(rows, _ []modelRow) (out []string) {
		for i, r := range rows {
			var before []modelRow
			for _, o := range rows[:i] {
				if o.key == r.key {
					before = append(before, o)
				}
			}
			lag, mean, least, at := any("null"), any("null"), any("null"), any("null")
			if n := len(before); n >= 2 {
				lag = before[n-2].value
			}
			if last := before[max(0, len(before)-3):]; len(last) > 0 {
				sum := 0.0
				for _, o := range last {
					sum += float64(o.value)
				}
				mean = sum / float64(len(last))
			}
			for _, o := range before {
				if r.at-o.at < 20 && (least == "null" || o.value < least.(int64)) {
					least = o.value
				}
				if r.at-o.at >= 10 {
					at = o.value
				}
			}
			out = append(out, r.line(lag, mean, least, at))
		}
		return out
	})
}

func TestThrottleAgreesWithModel(t *testing.T) {
	agree(t, "throttle", "key = [\"k\"]\ntype = \"limit\"\ncount = 2\nper = \"30ms\"", nil, func(rows, _ []modelRow) (out []string) {
		type period struct{ start, rows int64 }
		open := map[int64]period{}
		for _, r := range rows {
			p, ok := open[r.key]
			if !ok || r.at >= p.start+30 {
				p = period{start: r.at}
			}
			p.rows++
			open[r.key] = p
			if p.rows <= 2 {
				out = append(out, r.line())
			}
		}
		return out
	})
}

// Every beginning of "a large value, then two small ones, within 40 ms" is followed by itself.
func TestPatternAgreesWithModel(t *testing.T) {
	text := "key = [\"k\"]\nwithin = \"40ms\"\nafter = \"next\"\nsteps = [{ name = \"a\", where = \"n > 4\" }, { name = \"b\", where = \"n < 6\", min = 2, max = 2 }]\n" +
		"select = { a = \"a.n\", b1 = \"first(b.n)\", b2 = \"b.n\" }"
	agree(t, "pattern", text, nil, func(rows, _ []modelRow) []string {
		type match struct {
			end, begin int
			text       string
		}
		var found []match
		for i, a := range rows {
			var b []modelRow
			for j := i + 1; a.value > 4 && j < len(rows) && len(b) < 2; j++ {
				if r := rows[j]; r.key == a.key && r.value < 6 && r.at-a.at <= 40 {
					if b = append(b, r); len(b) == 2 {
						end := modelRow{at: r.at, key: r.key, value: a.value}
						found = append(found, match{j, i, end.line(b[0].value, b[1].value)})
					}
				}
			}
		}
		slices.SortFunc(found, func(x, y match) int { return cmp.Or(x.end-y.end, x.begin-y.begin) })
		var out []string
		for _, m := range found {
			out = append(out, m.text)
		}
		return out
	})
}
