package postgres

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// sequences is how many random sequences each kind of table is put through.
const sequences = 25

// TestRandomSequences writes random stable and tentative rows, voids and replaces them, and ends the sink's connection before
// or after any of its messages. At each commit the table is what the rows say it is; and in the end what the stable rows alone
// leave.
func TestRandomSequences(t *testing.T) {
	for name, keys := range map[string]string{
		"appended": "", "by key": `key = ["k"]`, "tagged": "key = [\"k\"]\ntentative = \"tag\"", "written": "key = [\"k\"]\ntentative = \"write\"",
	} {
		t.Run(name, func(t *testing.T) {
			r, cuts := newRelay(t), 0
			db, conn := database(t)
			for seed := range uint64(sequences) {
				table := fmt.Sprint("t", seed) // each sequence is a deployment of its own under the same name
				d := declare(t, pairs, connect.Database{Connection: r.connection(db)}, "table = \""+table+"\"\ntimeout = \"1m\"\n"+keys)
				s := &sequence{t: t, rng: rand.New(rand.NewPCG(seed, 1)), relay: r, declared: d, conn: conn, table: table, keyed: keys != "", tagged: name == "tagged", what: fmt.Sprintf("%s, seed %d", name, seed)}
				s.run()
				cuts += s.cuts
			}
			require.Greater(t, cuts, sequences, "the connection is cut now and then")
		})
	}
}

// sequence is what a client proxy does with a sink, and what the table should be.
type sequence struct {
	t        *testing.T
	rng      *rand.Rand
	relay    *relay
	declared *declared
	conn     *pgx.Conn
	table    string
	keyed    bool
	tagged   bool
	what     string
	cuts     int

	sink  connect.Sink // nil if it has failed
	state []byte
	// stable are all stable rows there will be, by id from 1 on; given are those that the sink has been given.
	stable    []pair
	given     int
	tentative []pair
	committed int
	clock     tuple.Time
}

func (s *sequence) run() {
	ctx := s.t.Context()
	s.state = s.declared.sink().(connect.ClaimingSink).Claim()
	for range 60 {
		if s.rng.IntN(12) == 0 {
			s.relay.cut(s.rng.IntN(40), s.rng.IntN(2) == 0)
		}
		s.step(ctx)
	}
	s.relay.cut(-1, false)
	for s.sink == nil || s.committed < len(s.stable) || len(s.tentative) > 0 {
		if s.sink == nil {
			s.recover(ctx)
			continue
		}
		if s.given < len(s.stable) {
			s.give(ctx)
		}
		s.undo(ctx, tuple.MinTime)
		s.commit(ctx)
	}
	s.check()
	require.NoError(s.t, s.sink.Close())
}

// step does one thing that may come next.
func (s *sequence) step(ctx context.Context) {
	if s.sink == nil {
		s.recover(ctx)
		return
	}
	_, tags := s.sink.(connect.TaggingSink)
	tags = tags && s.declared.plan.Tentative
	switch n := s.rng.IntN(10); {
	case n < 3:
		s.give(ctx)
	case n < 6 && tags:
		s.guess(ctx)
	case n == 6 && tags:
		s.undo(ctx, s.someTime())
	case n == 7 && tags:
		for range 1 + s.rng.IntN(3) { // word of it comes several times in a row
			s.replaced(ctx, s.someTime())
		}
	default:
		s.commit(ctx)
	}
}

// someTime is a stime among those of the rows, or one of the ends.
func (s *sequence) someTime() tuple.Time {
	switch s.rng.IntN(4) {
	case 0:
		return tuple.MinTime
	case 1:
		return tuple.MaxTime
	}
	return s.clock - tuple.Time(s.rng.IntN(10))
}

// some returns a few new rows.
func (s *sequence) some(kind string) (out []pair) {
	for range 1 + s.rng.IntN(5) {
		s.clock += tuple.Time(s.rng.IntN(3))
		out = append(out, pair{k: s.rng.Int64N(6), v: fmt.Sprint(kind, s.clock, "-", s.rng.IntN(1000)), stime: s.clock})
	}
	return out
}

// failed notes that the sink has failed: what was not committed is gone.
func (s *sequence) failed(err error) bool {
	if err == nil {
		return false
	}
	s.cuts++
	s.sink.Close() // it may be broken in any way
	s.sink = nil
	return true
}

func (s *sequence) recover(ctx context.Context) {
	s.sink = s.declared.sink()
	pos, err := s.sink.Recover(ctx, s.state)
	if s.failed(err) {
		return
	}
	// A commit whose answer was lost may have been carried out; nothing else may differ from what is known.
	require.Contains(s.t, []int{s.committed, s.given}, int(pos.ID), s.what)
	s.given, s.committed, s.tentative = int(pos.ID), int(pos.ID), nil
	if tags, ok := s.sink.(connect.TaggingSink); ok && s.declared.plan.Tentative {
		if s.failed(tags.Undo(ctx, tuple.MinTime)) {
			return
		}
	}
	s.check()
}

// give gives stable rows: those that are lost, or new ones.
func (s *sequence) give(ctx context.Context) {
	if s.given == len(s.stable) {
		s.stable = append(s.stable, s.some("s")...)
	}
	rows := s.stable[s.given:]
	err := s.sink.Write(ctx, connect.SinkRows{Batch: batch(rows...), Generation: 1, FirstID: uint64(s.given) + 1})
	if !s.failed(err) {
		s.given = len(s.stable)
	}
}

func (s *sequence) guess(ctx context.Context) {
	rows := s.some("t")
	if !s.failed(s.sink.(connect.TaggingSink).WriteTentative(ctx, batch(rows...))) {
		s.tentative = append(s.tentative, rows...)
	}
}

func (s *sequence) undo(ctx context.Context, at tuple.Time) {
	if s.sink == nil || s.failed(s.sink.(connect.TaggingSink).Undo(ctx, at)) {
		return
	}
	s.tentative = slices.DeleteFunc(s.tentative, func(p pair) bool { return p.stime >= at })
}

func (s *sequence) replaced(ctx context.Context, at tuple.Time) {
	if s.sink != nil && !s.failed(s.sink.(connect.TaggingSink).Done(ctx, at)) {
		s.tentative = slices.DeleteFunc(s.tentative, func(p pair) bool { return p.stime < at })
	}
}

func (s *sequence) commit(ctx context.Context) {
	if s.sink == nil {
		return
	}
	at := s.given
	state, err := s.sink.Commit(ctx, tuple.Position{Generation: 1, ID: uint64(at), Time: s.clock})
	if s.failed(err) {
		return
	}
	s.committed = at
	if s.rng.IntN(4) > 0 { // otherwise the process is killed before it stores the state
		s.state = state
	} else if s.rng.IntN(2) == 0 {
		s.failed(context.Canceled)
	}
	s.check()
}

// check compares the table with what the rows leave.
func (s *sequence) check() {
	columns := "k::text || '=' || v"
	if s.tagged {
		columns += " || ' ' || _state || ' ' || (extract(epoch from _stime) * 1000000)::bigint"
	}
	rows, err := s.conn.Query(s.t.Context(), "SELECT "+columns+" FROM "+s.table)
	require.NoError(s.t, err)
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(s.t, err)
	slices.Sort(got)
	want := s.want()
	slices.Sort(want)
	require.Equal(s.t, want, got, s.what)
}

func (s *sequence) want() []string {
	out := []string{}
	print := func(p pair, state string) string {
		if s.tagged {
			return fmt.Sprintf("%d=%s %s %d", p.k, p.v, state, p.stime)
		}
		return fmt.Sprintf("%d=%s", p.k, p.v)
	}
	if !s.keyed {
		for _, p := range s.stable[:s.committed] {
			out = append(out, print(p, ""))
		}
		return out
	}
	table := make(map[int64]string)
	for _, p := range s.stable[:s.committed] {
		table[p.k] = print(p, "stable")
	}
	for _, p := range s.tentative {
		table[p.k] = print(p, "tentative")
	}
	return slices.AppendSeq(out, maps.Values(table))
}
