package sunion

import (
	"fmt"
	"testing"

	"fednode/query/tuple"
	"fednode/query/tuple/tupletest"
)

// sums gives an output's rows to a checksum in frames of so many rows, and passes each boundary as soon as all rows before it
// have been given. It returns what the checksum says there.
func sums(c *Checksum, o *SOutput, b *tuple.Batch, boundaries []tuple.Time, sizes func(left int) int) []uint64 {
	var said []uint64
	for at := 0; at < b.Rows() || len(said) < len(boundaries); {
		for len(said) < len(boundaries) && !before(b, at, boundaries[len(said)]) {
			said = append(said, c.Boundary(o.State().Generation, boundaries[len(said)]))
		}
		if at < b.Rows() {
			n := sizes(b.Rows() - at)
			c.Rows(o.Batch(b.Slice(at, at+n)))
			at += n
		}
	}
	return said
}

// before reports whether a row from at on lies before t.
func before(b *tuple.Batch, at int, t tuple.Time) bool {
	for ; at < b.Rows(); at++ {
		if b.Time[b.Row(at)] < t {
			return true
		}
	}
	return false
}

// every returns boundaries up to an end.
func every(step, end tuple.Time) (list []tuple.Time) {
	for t := step; t <= end; t += step {
		list = append(list, t)
	}
	return list
}

// A checksum depends on rows and ids: not on batches, dictionaries, how nulls and selections are kept, nor on what has been
// given beyond the boundary.
func TestChecksumIgnoresBatching(t *testing.T) {
	for seed := range uint64(40) {
		r := tupletest.Source(seed)
		s := tupletest.Schema(r)
		one, single := NewChecksum(1), NewChecksum(1)
		o, p := NewSOutput(1), NewSOutput(1)
		for k, b := range tupletest.Batches(r, s, 4, 60, 1000) {
			last := tuple.Time(0)
			for i := range b.Rows() {
				last = max(last, b.Time[b.Row(i)])
			}
			boundaries := []tuple.Time{last - 3, last + 1 + tuple.Time(k)*tuple.Time(tuple.Minute)/2}
			whole := sums(one, o, b, boundaries, func(left int) int { return min(left, 1+r.IntN(20)) })
			each := sums(single, p, b.Clone(), boundaries, func(int) int { return 1 })
			for i := range whole {
				if each[i] != whole[i] || whole[i] == 0 {
					t.Fatalf("seed %d: rows before %v have the checksum %x, row by row %x", seed, boundaries[i], whole[i], each[i])
				}
			}
		}
	}
}

// numbers returns rows of one value, at stimes of their own.
func numbers(at func(i int) tuple.Time, values ...int64) *tuple.Batch {
	b := tuple.NewBatchBuilder(tuple.MustSchema(tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)}))
	for i, v := range values {
		b.AppendInt(0, v)
		b.EndRow(at(i))
	}
	return b.Take()
}

// One other value, one row less, or the same rows under other ids, give another checksum.
func TestChecksumTellsRowsApart(t *testing.T) {
	seen := make(map[uint64]string)
	for _, values := range [][]int64{{1}, {2}, {1, 2}, {2, 1}, {1, 1}, {2, 2}, {1, 2, 3}, {3, 2, 1}, {0}, {0, 0}} {
		b := numbers(func(int) tuple.Time { return 5 }, values...)
		x := sums(NewChecksum(1), NewSOutput(1), b, []tuple.Time{6}, func(left int) int { return left })[0]
		if other, ok := seen[x]; ok {
			t.Fatalf("%v and %v have the same checksum", values, other)
		}
		seen[x] = fmt.Sprint(values)
	}
}

// What differs is seen at the boundaries of two stretches at least, even of a replica that gives few of them.
func TestChecksumRemembers(t *testing.T) {
	const minute = tuple.Time(tuple.Minute)
	at := func(i int) tuple.Time { return tuple.Time(i) * minute / 4 }
	x, y := numbers(at, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), numbers(at, 1, 2, 3, 4, 5, 0, 7, 8, 9, 10, 11, 12)
	all := func(left int) int { return left }
	few := []tuple.Time{minute - 1, 2*minute + 7, 3 * minute}
	a := sums(NewChecksum(1), NewSOutput(1), x, few, all)
	b := sums(NewChecksum(1), NewSOutput(1), y, few, func(int) int { return 1 })
	if a[0] != b[0] || a[1] == b[1] {
		t.Fatalf("%x and %x", a, b)
	}
	often := sums(NewChecksum(1), NewSOutput(1), x, []tuple.Time{7, minute - 1, minute + 5, 2*minute + 7, 2*minute + 9, 3 * minute}, all)
	if often[1] != a[0] || often[3] != a[1] || often[5] != a[2] {
		t.Fatalf("%x, and with fewer boundaries %x", often, a)
	}
}

// A backlog that one boundary passes has the checksum that it would have with a boundary each minute, whatever stretches are
// empty.
func TestChecksumOfBacklog(t *testing.T) {
	const minute = tuple.Time(tuple.Minute)
	for _, step := range []tuple.Time{minute / 3, minute, minute + 1, 5 * minute} {
		values := make([]int64, 50)
		b := numbers(func(i int) tuple.Time { return tuple.Time(i) * step }, values...)
		end := 50*step + minute/2
		all := func(left int) int { return left }
		want := sums(NewChecksum(1), NewSOutput(1), b, append(every(minute, end-1), end), all)
		if got := sums(NewChecksum(1), NewSOutput(1), b, []tuple.Time{end}, all); got[0] != want[len(want)-1] || got[0] == 0 {
			t.Fatalf("a row each %v: %x in one go, %x minute by minute", step, got[0], want[len(want)-1])
		}
	}
}

// A replica that has lost its sums has the same as the others again after three stretches; one that has kept them, at once.
func TestChecksumJoinsIn(t *testing.T) {
	const second = tuple.Time(tuple.Second)
	steady, o := NewChecksum(1), NewSOutput(1)
	var late, kept, cut *Checksum
	for n := tuple.Time(0); n < 400; n++ {
		f := o.Batch(numbers(func(i int) tuple.Time { return n*second + tuple.Time(i) }, int64(n), int64(n)*7))
		o.Boundary((n+1)*second, 0)
		step := func(c *Checksum) uint64 {
			c.Rows(f)
			return c.Boundary(1, (n+1)*second)
		}
		if n == 100 {
			steady.Rows(f)
			cut = RestoreChecksum(steady.State()) // in the middle of a bucket, of which it knows nothing then
			steady.Boundary(1, (n+1)*second)
			kept, late = RestoreChecksum(steady.State()), LateChecksum(o.State())
			continue
		}
		want := step(steady)
		if n < 100 {
			continue
		}
		if got := step(kept); got != want {
			t.Fatalf("at %d s: %x after a restart, %x without", n, got, want)
		}
		for _, c := range []*Checksum{late, cut} {
			switch got := step(c); {
			case got != 0 && got != want:
				t.Fatalf("at %d s: %x, the others have %x", n, got, want)
			case got == 0 && n >= 100+180:
				t.Fatalf("at %d s: not known", n)
			case got != 0 && n < 115:
				t.Fatalf("at %d s: known", n)
			}
		}
	}
}

// A new generation begins anew; ids are those of the generation.
func TestChecksumOfAGeneration(t *testing.T) {
	b := numbers(func(i int) tuple.Time { return tuple.Time(i) }, 1, 2, 3)
	c := NewChecksum(1)
	c.Rows(NewSOutput(1).Batch(b))
	c.Boundary(1, 5)
	c.Rows(NewSOutput(2).Batch(b))
	fresh := NewChecksum(2)
	fresh.Rows(NewSOutput(2).Batch(b))
	if got, want := c.Boundary(2, 5), fresh.Boundary(2, 5); got != want {
		t.Fatalf("%x, one that has seen this generation alone has %x", got, want)
	}
}

// BenchmarkChecksum: what a checksum costs for each row that an output gives: an address of 256, a port and a count.
func BenchmarkChecksum(b *testing.B) {
	s := tuple.MustSchema(tuple.Field{Name: "src", Type: tuple.Of(tuple.IP)}, tuple.Field{Name: "port", Type: tuple.Of(tuple.Int64)},
		tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)})
	build := tuple.NewBatchBuilder(s)
	const rows = 4096
	for n := range rows {
		build.AppendBin(0, []byte{10: 0xFF, 11: 0xFF, 12: 10, 15: byte(n * 31)})
		build.AppendInt(1, int64(n%1024))
		build.AppendInt(2, int64(n))
		build.EndRow(tuple.Time(n))
	}
	o, batch := NewSOutput(1), build.Take()
	for _, name := range []string{"off", "on"} {
		b.Run(name, func(b *testing.B) {
			c := NewChecksum(1)
			c.Rows(o.Batch(batch)) // its buffer has its length now
			for b.Loop() {
				if f := o.Batch(batch); name == "on" {
					c.Rows(f)
					c.Boundary(1, rows)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
