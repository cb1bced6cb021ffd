package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// database is what a sink has written to a target that keeps the position with the rows.
type database struct {
	claim  string
	rows   []int64
	pos    tuple.Position
	claims int
	// broken is what writing fails with.
	broken error
}

// table is a sink into a database.
type table struct {
	d    *database
	rows []int64
}

func (s *table) Claim() []byte {
	s.d.claims++
	return []byte{byte(s.d.claims)}
}

func (s *table) Recover(_ context.Context, state []byte) (tuple.Position, error) {
	if s.d.claim != string(state[:1]) {
		s.d.claim, s.d.pos = string(state[:1]), tuple.Position{Time: tuple.MinTime}
	}
	return s.d.pos, nil
}

func (s *table) Write(_ context.Context, r connect.SinkRows) error {
	for i := range r.Batch.Rows() {
		s.rows = append(s.rows, r.Batch.Cols[0].Int[r.Batch.Row(i)])
	}
	return s.d.broken
}

func (s *table) Commit(_ context.Context, p tuple.Position) ([]byte, error) {
	s.d.rows, s.d.pos, s.rows = append(s.d.rows, s.rows...), p, nil
	return []byte(s.d.claim), nil
}

func (s *table) Finish(context.Context) error { return nil }
func (s *table) Close() error                 { return nil }

// forgetful is a store that a process is killed before it writes, now and then.
type forgetful struct {
	*positions
	rand *rand.Rand
}

var errKilled = errors.New("killed")

func (p forgetful) SavePosition(stream, client string, at tuple.Position, state []byte) error {
	if p.rand.IntN(3) == 0 {
		return errKilled
	}
	return p.positions.SavePosition(stream, client, at, state)
}

// TestClaiming shows that the position of a sink which keeps it itself is what is gone on from: whenever the store has not heard of
// a commit, no row is lost or there twice, and in the end all is acknowledged.
func TestClaiming(t *testing.T) {
	for seed := range uint64(20) {
		inBubble(t, func(t *testing.T, w *world, a, b *node) {
			d := &database{}
			produce(w, 300)
			a.append(boundary(tuple.MaxTime))
			b.append(boundary(tuple.MaxTime))
			p := w.proxy(&disk{}, &positions{}, func(c *Config) {
				c.NewSink = func() connect.Sink { return &table{d: d} }
				c.Positions = forgetful{&positions{}, rand.New(rand.NewPCG(seed, 1))}
			})
			if err := p.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(d.rows) != 300 || !slices.IsSorted(d.rows) || d.rows[299] != 300 {
				t.Fatalf("seed %d: %v", seed, d.rows)
			}
			for _, n := range []*node{a, b} {
				if bytes, _ := n.out.Held(); bytes != 0 {
					t.Fatalf("seed %d: %d bytes are not acknowledged at %s", seed, bytes, n.name)
				}
			}
		})
	}
}

// TestLasting shows that a sink whose error lasts is tried again seldom, and says so; and that one whose place another has taken is
// not tried again.
func TestLasting(t *testing.T) {
	for _, final := range []bool{false, true} {
		inBubble(t, func(t *testing.T, w *world, _, _ *node) {
			d, made := &database{broken: &connect.LastingError{Err: errDisk, Final: final}}, 0
			produce(w, 5)
			p := w.proxy(&disk{}, &positions{}, func(c *Config) {
				c.NewSink = func() connect.Sink { made++; return &table{d: d} }
				c.Positions = &positions{}
			})
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second) // virtual
			defer cancel()
			err := p.Run(ctx)
			s := p.Status()
			switch {
			case final && (!errors.Is(err, errDisk) || made != 1 || s.Failure != "ended: write: the disk failed"):
				t.Fatalf("%v, %d sinks, %+v", err, made, s)
			case !final && (err != nil || made < 4 || made > 5 || s.Failure != "trying again alone does not mend this: write: the disk failed"):
				t.Fatalf("%v, %d sinks, %+v", err, made, s)
			}
		})
	}
}

// TestPutBack shows that a target which was put back behind what was acknowledged goes on from there: what a producer still has
// comes again, and the rest is told as a gap.
func TestPutBack(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, b *node) {
		d, pos := &database{}, &positions{}
		life := func() Status {
			p := w.proxy(&disk{}, &positions{}, func(c *Config) {
				c.NewSink = func() connect.Sink { return &table{d: d} }
				c.Positions = pos
			})
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // virtual
			defer cancel()
			if err := p.Run(ctx); err != nil {
				t.Fatal(err)
			}
			return p.Status()
		}
		produce(w, 50)
		life()
		d.rows, d.pos = d.rows[:20], tuple.Position{Generation: 1, ID: 20, Time: 21}
		for _, n := range []*node{a, b} {
			n.append(stable(51, 5), boundary(56))
		}
		s := life()
		if len(d.rows) != 25 || d.rows[24] != 55 || s.Gaps != 1 || s.Committed.ID != 55 {
			t.Fatalf("%+v %v", s, d.rows)
		}
	})
}
