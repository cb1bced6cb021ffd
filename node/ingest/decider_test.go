package ingest

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"fednode/query/tuple"
)

var schema = tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})

func batch(times ...tuple.Time) *tuple.Batch {
	b := tuple.NewBatchBuilder(schema)
	for i, t := range times {
		b.AppendInt(0, int64(i))
		b.EndRow(t)
	}
	return b.Take()
}

const ms = tuple.Time(1000)

// TestLate: after a burst of rows far ahead, honest rows are late, counted one by one, and never change a closed window.
func TestLate(t *testing.T) {
	cfg := Bounded()
	cfg.MaxOutOfOrder = 1000 * int64(ms)
	d := New(cfg, 0)
	d.Rows(batch(60000*ms, 61000*ms), 0, 0)
	c := d.Rows(batch(1000*ms, 2000*ms, 3000*ms, 4000*ms, 5000*ms), 0, 0)
	if c.Batch != nil || len(c.Verdicts) != 5 || d.Totals().Late != 5 {
		t.Fatalf("accepted %v, %d verdicts, %d late; want none, 5, 5", c.Batch, len(c.Verdicts), d.Totals().Late)
	}
	if v := c.Verdicts[0]; !v.Late || v.Limit != 60000*ms {
		t.Fatalf("verdict %+v, want late against 60s", v)
	}
}

// TestLimitIsHalfOpen: a row at the limit is in time, one microsecond below it is late.
func TestLimitIsHalfOpen(t *testing.T) {
	cfg := Bounded()
	cfg.MaxOutOfOrder = 2000 * int64(ms)
	d := New(cfg, 0)
	d.Rows(batch(0, 1000*ms, 9000*ms), 0, 0)
	c := d.Rows(batch(7000*ms, 7000*ms-1, 500*ms), 0, 0)
	if c.Batch.Rows() != 1 || d.Totals().Late != 2 || c.Verdicts[1].Limit != 7000*ms {
		t.Fatalf("accepted %d, late %d, verdicts %+v", c.Batch.Rows(), d.Totals().Late, c.Verdicts)
	}
	if c.Boundary != 7000*ms {
		t.Fatalf("boundary %v, want 7s", c.Boundary)
	}
}

// TestFuture: one row a day ahead of its arrival does not make the honest rows late.
func TestFuture(t *testing.T) {
	for _, clamp := range []bool{false, true} {
		t.Run(fmt.Sprintf("clamp=%v", clamp), func(t *testing.T) {
			cfg := Live()
			if clamp {
				cfg.Future = FutureClamp
			}
			d := New(cfg, 0)
			arrival := tuple.Time(36000 * tuple.Second)
			rows := []tuple.Time{arrival.Add(tuple.Day)}
			for i := range 10 {
				rows = append(rows, arrival.Add(int64(i+1)*tuple.Second))
			}
			c := d.Rows(batch(rows...), arrival, 0)
			want := 10
			if clamp {
				want = 11
				if c.Batch.Time[0] != arrival.Add(tuple.Minute) {
					t.Fatalf("clamped to %v", c.Batch.Time[0])
				}
			}
			if c.Batch.Rows() != want || d.Totals().Future != 1 || d.Totals().Late != 0 {
				t.Fatalf("accepted %d, want %d; totals %+v", c.Batch.Rows(), want, d.Totals())
			}
			if c.Boundary != arrival.Add(10*tuple.Second) {
				t.Fatalf("boundary %v follows the honest rows only", c.Boundary)
			}
		})
	}
}

// TestIdle: a connected source with nothing to read advances with the monotonic clock and keeps its lag; a disconnected
// or lagging one does not, and the time it was away is not counted.
func TestIdle(t *testing.T) {
	cfg := Live()
	cfg.MaxOutOfOrder = 500 * int64(ms)
	d := New(cfg, 0)
	d.Rows(batch(10000*ms), 99000*ms, 1_000_000)
	if _, ok := d.Tick(1_200_000, Waiting); ok {
		t.Fatal("idle before idle_after")
	}
	c, ok := d.Tick(2_000_000, Waiting)
	if !ok || c.Boundary != 10500*ms {
		t.Fatalf("after 1 s of silence the boundary is %v, want largest + 1 s - slack", c.Boundary)
	}
	if _, ok := d.Tick(60_000_000, Disconnected); ok {
		t.Fatal("a disconnected source is not idle")
	}
	if _, ok := d.Tick(60_100_000, Waiting); ok {
		t.Fatal("the time away counted as silence")
	}
	// One second of silence since it came back: the boundary goes on from where it was.
	if c, ok := d.Tick(61_000_000, Waiting); !ok || c.Boundary != 11500*ms {
		t.Fatalf("boundary %v after reconnecting, want that of before + 1 s", c.Boundary)
	}
	if c := d.Rows(batch(11400*ms), 99000*ms, 61_000_000); c.Batch != nil {
		t.Fatal("a row below the idle boundary was accepted")
	}
}

// TestQuietGoesOn: whatever cuts the quiet of a source short, its boundary goes on from where it was, and does not stand
// for as long as the source had been quiet.
func TestQuietGoesOn(t *testing.T) {
	cfg := Live()
	cfg.MaxOutOfOrder = 500 * int64(ms)
	const hour = 3600 * 1_000_000
	for name, cut := range map[string]func(*Decider) *Decider{
		"disconnected": func(d *Decider) *Decider { d.Tick(hour, Disconnected); return d },
		"behind":       func(d *Decider) *Decider { d.Tick(hour, Behind); return d },
		"a late row":   func(d *Decider) *Decider { d.Rows(batch(1), 99000*ms, hour); return d },
		"restart":      func(d *Decider) *Decider { return Restore(cfg, d.State(), d.Totals(), hour) },
	} {
		d := New(cfg, 0)
		d.Rows(batch(10_000*ms), 99_000*ms, 0)
		c, ok := d.Tick(hour, Waiting)
		if want := 10_000*ms + hour - 500*ms; !ok || c.Boundary != want {
			t.Fatalf("%s: boundary %v after an hour, want %v", name, c.Boundary, want)
		}
		before := c.Boundary
		d = cut(d)
		if c, ok = d.Tick(hour+1_000_000, Waiting); !ok || c.Boundary != before+1000*ms {
			t.Fatalf("%s: boundary %v a second later, want %v", name, c.Boundary, before+1000*ms)
		}
	}
}

// TestNoneBefore: where time is arrival, the clock tells how far the quiet of a source has got that was away.
func TestNoneBefore(t *testing.T) {
	d := New(Live(), 0)
	d.Rows(batch(10_000*ms), 10_000*ms, 0)
	d = Restore(Live(), d.State(), d.Totals(), 0)
	d.NoneBefore(70_000 * ms)
	if c, ok := d.Tick(1_000_000, Waiting); !ok || c.Boundary != 71_000*ms {
		t.Fatalf("boundary %v a second after a minute away, want 71 s", c.Boundary)
	}
}

// TestNeverStarted: a source that never sent anything holds its boundary for init_delay, then advances from the start.
func TestNeverStarted(t *testing.T) {
	cfg := Live()
	cfg.Start = 1_000_000 * ms
	d := New(cfg, 0)
	if _, ok := d.Tick(9_999_999, Waiting); ok {
		t.Fatal("advanced before init_delay")
	}
	c, ok := d.Tick(10_000_000, Waiting)
	if !ok || c.Boundary != cfg.Start.Add(10*tuple.Second) {
		t.Fatalf("boundary %v", c.Boundary)
	}
}

// TestHold: with idle = "hold" silence promises nothing, and the end promises everything.
func TestHold(t *testing.T) {
	d := New(Bounded(), 0)
	d.Rows(batch(5, 3, 4), 0, 0)
	if _, ok := d.Tick(1<<40, Waiting); ok {
		t.Fatal("a held source advanced")
	}
	c, ok := d.Tick(1<<40, Ended)
	if !ok || c.Boundary != tuple.MaxTime {
		t.Fatalf("end: %v %v", c, ok)
	}
	if _, ok := d.Tick(1<<41, Ended); ok {
		t.Fatal("the end was recorded twice")
	}
}

// TestCuts shows that decisions do not depend on how rows are cut into batches, nor on a restart between two of them,
// and that accepted rows never lie below a promised boundary.
func TestCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{
			MaxOutOfOrder: rapid.SampledFrom([]int64{0, 5, 50, Unbounded}).Draw(t, "slack"),
			Late:          LatePolicy(rapid.IntRange(0, 2).Draw(t, "late")),
			Future:        FuturePolicy(rapid.IntRange(0, 1).Draw(t, "future")),
			MaxFutureSkew: rapid.SampledFrom([]int64{0, 20, Unbounded}).Draw(t, "skew"),
		}
		times := rapid.SliceOfN(rapid.Map(rapid.Int64Range(0, 200), func(v int64) tuple.Time { return tuple.Time(v) }), 1, 40).Draw(t, "times")
		const arrival = 120
		run := func(cut func() int, restart bool) (accepted []tuple.Time, end State, totals Totals) {
			d := New(cfg, 0)
			promised := tuple.MinTime
			for at := 0; at < len(times); {
				n := min(cut(), len(times)-at)
				c := d.Rows(batch(times[at:at+n]...), arrival, 0)
				if c.Batch != nil {
					for _, x := range c.Batch.Time {
						if x < promised {
							t.Fatalf("accepted %v below the boundary %v", x, promised)
						}
					}
					accepted = append(accepted, c.Batch.Time...)
				}
				if c.Boundary < promised {
					t.Fatalf("boundary fell from %v to %v", promised, c.Boundary)
				}
				promised = c.Boundary
				at += n
				if restart {
					d = Restore(cfg, d.State(), d.Totals(), 0)
				}
			}
			return accepted, d.State(), d.Totals()
		}
		wantRows, wantState, wantTotals := run(func() int { return len(times) }, false)
		gotRows, gotState, gotTotals := run(func() int { return rapid.IntRange(1, 5).Draw(t, "cut") }, rapid.Bool().Draw(t, "restart"))
		if !slices.Equal(gotRows, wantRows) || gotState != wantState || gotTotals != wantTotals {
			t.Fatalf("got  %v %+v %+v\nwant %v %+v %+v", gotRows, gotState, gotTotals, wantRows, wantState, wantTotals)
		}
	})
}

// TestWholeBatches: a batch that is accepted at once gives the same as its rows one by one; a selection of all rows
// makes the decider go row by row.
func TestWholeBatches(t *testing.T) {
	atOnce := 0
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{
			MaxOutOfOrder: rapid.SampledFrom([]int64{0, 5, 50, Unbounded}).Draw(t, "slack"),
			Late:          LatePolicy(rapid.IntRange(0, 2).Draw(t, "late")),
			MaxFutureSkew: rapid.SampledFrom([]int64{20, Unbounded}).Draw(t, "skew"),
		}
		whole, single := New(cfg, 0), New(cfg, 0)
		high := int64(0)
		for range rapid.IntRange(1, 6).Draw(t, "batches") {
			back := rapid.SampledFrom([]int64{0, 4, 60}).Draw(t, "disorder")
			times := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) tuple.Time {
				high += rapid.Int64Range(0, 9).Draw(t, "step")
				return tuple.Time(high - rapid.Int64Range(0, back).Draw(t, "back"))
			}), 1, 12).Draw(t, "times")
			all := make([]uint32, len(times))
			for i := range all {
				all[i] = uint32(i)
			}
			one, other := batch(times...), batch(times...)
			other.Sel = all
			if _, ok := whole.allInTime(one, tuple.MaxTime); ok {
				atOnce++
			}
			a, b := whole.Rows(one, 100, 0), single.Rows(other, 100, 0)
			if (a.Batch == nil) != (b.Batch == nil) || a.Batch != nil && !slices.Equal(a.Batch.Time, b.Batch.Time) ||
				!slices.Equal(a.Verdicts, b.Verdicts) || a.FirstID != b.FirstID || a.Boundary != b.Boundary {
				t.Fatalf("at once %+v, one by one %+v", a, b)
			}
			if whole.State() != single.State() || whole.Totals() != single.Totals() {
				t.Fatalf("at once %+v %+v, one by one %+v %+v", whole.State(), whole.Totals(), single.State(), single.Totals())
			}
		}
	})
	if atOnce == 0 {
		t.Fatal("no batch was accepted at once")
	}
}
