package op_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fednode/query/op"
	"fednode/query/op/optest"
	"fednode/query/tuple"
)

// modelRow is a row of either side: its stime in ms, its key (0 is null) and its value.
type modelRow struct{ at, key, value int64 }

// modelResult is a result of the model, with what the canonical order goes by.
type modelResult struct {
	at, key     int64
	left, right int // places, len(side) if there is none
	text        string
}

// modelJoin is the join as its definition reads: every pair is looked at.
func modelJoin(typ string, before, after int64, left, right []modelRow) []string {
	var out []modelResult
	rightMatched := make([]bool, len(right))
	for i, l := range left {
		first := int64(-1)
		for j, r := range right {
			if l.key == 0 || l.key != r.key || r.at < l.at-before || r.at > l.at+after || l.value == r.value {
				continue
			}
			rightMatched[j] = true
			if at := max(l.at, r.at); first < 0 || at < first {
				first = at
			}
			if typ == "inner" || typ == "left" || typ == "full" {
				out = append(out, modelResult{max(l.at, r.at), l.key, i, j, fmt.Sprint(l.key, " ", l.value, " ", r.value)})
			}
		}
		switch {
		case first >= 0 && typ == "semi":
			out = append(out, modelResult{first, l.key, i, len(right), fmt.Sprint(l.key, " ", l.value)})
		case first < 0 && typ == "anti":
			out = append(out, modelResult{l.at + after, l.key, i, len(right), fmt.Sprint(l.key, " ", l.value)})
		case first < 0 && (typ == "left" || typ == "full"):
			out = append(out, modelResult{l.at + after, l.key, i, len(right), fmt.Sprint(l.key, " ", l.value, " null")})
		}
	}
	for j, r := range right {
		if typ == "full" && !rightMatched[j] {
			out = append(out, modelResult{r.at + before, r.key, len(left), j, fmt.Sprint(r.key, " null ", r.value)})
		}
	}
	slices.SortFunc(out, func(a, b modelResult) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.key, b.key), cmp.Compare(a.left, b.left), cmp.Compare(a.right, b.right))
	})
	var lines []string
	for _, r := range out {
		lines = append(lines, fmt.Sprintf("%s: %s", tuple.AppendDuration(nil, r.at*1000), strings.Replace(r.text, "0", "null", b2i(r.key == 0))))
	}
	return lines
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

type modelSink struct{ lines []string }

func (s *modelSink) Batch(_ int, b *tuple.Batch) error {
	for i := range b.Rows() {
		s.lines = append(s.lines, string(optest.AppendRow(nil, b, i)))
	}
	return nil
}

// The join agrees with its definition for every type, many bounds and streams.
func TestJoinAgreesWithModel(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		before, after := rng.Int64N(40), rng.Int64N(40)
		for _, typ := range []string{"inner", "left", "full", "semi", "anti"} {
			left, right := modelRows(rng), modelRows(rng)
			want := modelJoin(typ, before, after, left, right)
			got := runJoin(t, typ, before, after, left, right)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, %s join within %d before, %d after:\n got %q\nwant %q", seed, typ, before, after, got, want)
			}
		}
	}
}

func modelRows(rng *rand.Rand) []modelRow {
	var rows []modelRow
	at := int64(0)
	for range rng.IntN(60) {
		at += rng.Int64N(8)
		rows = append(rows, modelRow{at, rng.Int64N(4), 1 + rng.Int64N(9)})
	}
	return rows
}

func runJoin(t *testing.T, typ string, before, after int64, left, right []modelRow) []string {
	t.Helper()
	in := []op.Input{modelInput(t, "l", "a"), modelInput(t, "r", "b")}
	p, err := optest.Build("join", fmt.Sprintf(
		"on = [\"k\"]\ntype = %q\nwithin = { before = \"%dms\", after = \"%dms\" }\nwhere = \"left.a <> right.b\"", typ, before, after), in)
	if err != nil {
		t.Fatal(err)
	}
	o, out := p.New(), &modelSink{}
	for port, rows := range [][]modelRow{left, right} {
		if b := modelBatch(in[port].Schema, rows); b.Rows() > 0 {
			if err := o.Process(port, b, out); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := o.Boundary(port, tuple.MaxTime, out); err != nil {
			t.Fatal(err)
		}
	}
	return out.lines
}

func modelInput(t *testing.T, name, value string) op.Input {
	t.Helper()
	s, err := optest.Schema("k int64, " + value + " int64")
	if err != nil {
		t.Fatal(err)
	}
	return op.Input{Name: name, Schema: s}
}

func modelBatch(s *tuple.Schema, rows []modelRow) *tuple.Batch {
	b := tuple.NewBatchBuilder(s)
	for _, r := range rows {
		if r.key == 0 {
			b.AppendNull(0)
		} else {
			b.AppendInt(0, r.key)
		}
		b.AppendInt(1, r.value)
		b.EndRow(tuple.Time(r.at * 1000))
	}
	return b.Take()
}
