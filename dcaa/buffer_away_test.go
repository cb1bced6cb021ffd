package dcaa

import (
	"errors"
	"math/rand/v2"
	"testing"

	"fednode/query/tuple"
)

// moved is a buffer whose frames leave the memory, and what they were.
type moved struct {
	*OutputBuffer
	records map[uint64][]*tuple.Frame
	last    uint64
}

// spill puts the oldest frames away, about so many bytes of them.
func (m *moved) spill(size int64, n int) bool {
	s, ok := m.Oldest(size)
	if !ok {
		return false
	}
	if n == 0 || n > len(s.Frames) {
		n = len(s.Frames)
	}
	m.last++
	if !m.Evict(s, n, m.last, 1000) {
		return false
	}
	m.records[m.last] = s.Frames[:n]
	return true
}

// read returns the ids and boundaries that a subscriber at a position is given, as the cursor of an output does.
func (m *moved) read(from tuple.Position) (ids, boundaries []uint64) {
	give := func(f *tuple.Frame) {
		if f.Kind == tuple.Boundary && f.Time > from.Time {
			boundaries, from.Time = append(boundaries, uint64(f.Time)), f.Time
		}
		if f.Kind == tuple.Insertion && f.LastID > from.ID {
			ids, from.ID = append(ids, f.LastID), f.LastID
		}
	}
	for seq := m.Seek(from); ; {
		f, at, ok := m.Frame(seq)
		if !ok {
			return ids, boundaries
		}
		seq = at + 1
		if record, _ := m.AwayAt(at); record != 0 {
			for _, f := range m.records[record] {
				give(f)
			}
			continue
		}
		give(f)
	}
}

func rowOf(id uint64) *tuple.Frame {
	schema := tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})
	b := tuple.NewBatchBuilder(schema)
	b.AppendInt(0, int64(id))
	b.EndRow(tuple.Time(10 * id))
	return &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: id, LastID: id, Batch: b.Take()}
}

// TestAwayIsLikeMemory drives a buffer whose frames leave the memory at any time beside one that keeps all: whoever asks is
// given the same by both, and both say alike what has been truncated.
func TestAwayIsLikeMemory(t *testing.T) {
	start := tuple.Position{Generation: 1, Time: tuple.MinTime}
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		kept := NewOutputBuffer(1, start)
		away := &moved{OutputBuffer: NewOutputBuffer(1, start), records: make(map[uint64][]*tuple.Frame)}
		both := func(do func(b *OutputBuffer)) { do(kept); do(away.OutputBuffer) }
		both(func(b *OutputBuffer) {
			if err := b.Subscribe("a", start, start); err != nil {
				t.Fatal(err)
			}
		})
		last, acked := uint64(0), uint64(0)
		for range 60 {
			switch k := rnd.IntN(10); {
			case k < 5:
				last++
				both(func(b *OutputBuffer) {
					b.Append(rowOf(last))
					if k < 4 {
						b.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: tuple.Time(10*last + 1)})
					}
				})
			case k == 5:
				both(func(b *OutputBuffer) {
					b.Append(&tuple.Frame{Kind: tuple.Gap, Generation: 1, FirstID: last, Time: tuple.Time(10 * last), To: tuple.Time(10*last + 5)})
				})
			case k < 8:
				away.spill(int64(rnd.IntN(3000)), rnd.IntN(4))
			default:
				acked += uint64(rnd.IntN(int(last-acked) + 1))
				both(func(b *OutputBuffer) {
					b.Ack("a", tuple.Position{Generation: 1, ID: acked, Time: tuple.Time(10*acked + 1)})
				})
			}
			from := tuple.Position{Generation: 1, ID: acked, Time: tuple.Time(10*acked + 1)}
			wantIDs, wantTimes := (&moved{OutputBuffer: kept}).read(from)
			ids, times := away.read(from)
			if len(ids) != len(wantIDs) || len(times) < 1 && len(wantTimes) > 0 || len(times) > 0 && times[len(times)-1] != wantTimes[len(wantTimes)-1] {
				t.Fatalf("seed %d at %v: %v and %v, want %v and %v", seed, from, ids, times, wantIDs, wantTimes)
			}
			for k := range ids {
				if ids[k] != wantIDs[k] {
					t.Fatalf("seed %d: ids %v, want %v", seed, ids, wantIDs)
				}
			}
			if away.Truncated().ID > kept.Truncated().ID || away.Reaches(from) != nil {
				t.Fatalf("seed %d: truncated to %v, with all in memory to %v", seed, away.Truncated(), kept.Truncated())
			}
		}
		both(func(b *OutputBuffer) {
			b.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: 10_000})
			b.Ack("a", tuple.Position{Generation: 1, ID: last, Time: 10_000})
			if b.Bytes() != 0 || b.AwayBytes() != 0 || b.FirstAway() != 0 {
				t.Fatalf("seed %d: %d bytes in memory and %d elsewhere are left", seed, b.Bytes(), b.AwayBytes())
			}
		})
	}
}

// TestLostRecord shows that who needs a record which is gone is told how far, and everybody else goes on.
func TestLostRecord(t *testing.T) {
	start := tuple.Position{Generation: 1, Time: tuple.MinTime}
	b := &moved{OutputBuffer: NewOutputBuffer(1, start), records: make(map[uint64][]*tuple.Frame)}
	if err := b.Subscribe("a", start, start); err != nil {
		t.Fatal(err)
	}
	for id := uint64(1); id <= 20; id++ {
		b.Append(rowOf(id))
		b.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: tuple.Time(10*id + 1)})
	}
	for range 3 {
		if !b.spill(1, 0) || !b.spill(700, 0) {
			t.Fatal("nothing could be put away")
		}
	}
	if b.AwayBytes() != 6000 || b.Behind(start) != b.Bytes()+6000 {
		t.Fatalf("%d bytes away, %d behind", b.AwayBytes(), b.Behind(start))
	}
	b.Lose(2)
	b.Lose(2)
	if err := b.Reaches(start); err != nil {
		t.Fatalf("rows before the hole are there: %v", err)
	}
	var gone *TruncatedError
	stub, away := standIn(b.records[2])
	at := tuple.Position{Generation: 1, ID: stub.FirstID - 1, Time: tuple.Time(10*stub.FirstID - 9)}
	want := tuple.Position{Generation: 1, ID: stub.LastID, Time: max(away.Time, away.Latest.Add(1))}
	if err := b.Reaches(at); !errors.As(err, &gone) || gone.First != want {
		t.Fatalf("%v, want to go on behind %v", err, want)
	}
	if b.Reaches(gone.First) != nil {
		t.Fatal("what is behind the hole is there")
	}
	b.Ack("a", gone.First)
	if b.FirstAway() != 3 || b.holes != 0 {
		t.Fatalf("the first record is %d, %d holes", b.FirstAway(), b.holes)
	}
	ids, _ := b.read(gone.First)
	if uint64(len(ids)) != 20-gone.First.ID {
		t.Fatalf("%d rows behind %v", len(ids), gone.First)
	}
}

// TestLostRecordsCostTheirRows loses records of a buffer at random: a reader that goes on where it is told to gets all rows but
// those of the records, wherever it begins, also over a GAP and where records lie side by side.
func TestLostRecordsCostTheirRows(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		start := tuple.Position{Generation: 1, Time: tuple.MinTime}
		b := &moved{OutputBuffer: NewOutputBuffer(1, start), records: make(map[uint64][]*tuple.Frame)}
		if err := b.Subscribe("a", start, start); err != nil {
			t.Fatal(err)
		}
		generation := uint64(1)
		for id := uint64(1); id <= 60; id++ {
			f := rowOf(id)
			f.Generation = generation
			b.Append(f)
			switch k := rnd.IntN(12); {
			case k < 6:
				b.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: generation, Time: tuple.Time(10*id + 1)})
			case k == 6:
				b.Append(&tuple.Frame{Kind: tuple.Gap, Generation: generation, FirstID: id, Time: tuple.Time(10 * id), To: tuple.Time(10*id + 5)})
			case k == 7:
				generation++
				b.Append(&tuple.Frame{Kind: tuple.Gap, Generation: generation, FirstID: id, Time: tuple.Time(10 * id), To: tuple.Time(10*id + 5)})
			}
		}
		b.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: generation, Time: 1000})
		for range 20 {
			b.spill(int64(200+rnd.IntN(1500)), 0)
		}
		lost := make(map[uint64]bool) // ids
		for record := uint64(1); record <= b.last; record++ {
			if rnd.IntN(3) > 0 {
				continue
			}
			b.Lose(record)
			for _, f := range b.records[record] {
				if f.Kind == tuple.Insertion {
					lost[f.LastID] = true
				}
			}
		}
		got, at := make(map[uint64]bool), start
		for asked := 0; ; asked++ {
			if asked > 100 {
				t.Fatalf("seed %d: it comes to no end at %v", seed, at)
			}
			var gone *TruncatedError
			if err := b.Subscribe("a", at, start); errors.As(err, &gone) {
				if gone.First.Compare(at) <= 0 {
					t.Fatalf("seed %d: %v at %v", seed, err, at)
				}
				at = gone.First
				continue
			}
			if at = b.readTo(at, got); at.ID == 60 {
				break
			}
		}
		for id := uint64(1); id <= 60; id++ {
			if got[id] == lost[id] {
				t.Fatalf("seed %d: row %d is given: %v, lost: %v", seed, id, got[id], lost[id])
			}
		}
	}
}

// readTo gives a subscriber at a position all up to the next hole, and returns where it stands then.
func (m *moved) readTo(at tuple.Position, got map[uint64]bool) tuple.Position {
	for seq := m.Seek(at); m.Reaches(at) == nil; {
		f, n, ok := m.Frame(seq)
		if !ok {
			break
		}
		seq = n + 1
		frames := []*tuple.Frame{f}
		if record, _ := m.AwayAt(n); record != 0 {
			frames = m.records[record]
		}
		for _, f := range frames {
			if f.Kind == tuple.Insertion && !at.Holds(f) {
				got[f.LastID] = true
			}
			at = at.Past(f)
		}
	}
	return at
}
