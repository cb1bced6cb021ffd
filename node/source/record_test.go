package source

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/node/ingest"
	"fednode/query/tuple"
	"fednode/query/tuple/tupletest"
)

// fullRecord has something in every field.
func fullRecord() *record {
	batch := rows(3, 4)().Batch
	r := &record{
		state:  ingest.State{NextID: 12, High: 9000, Idle: 8000, Boundary: 8500},
		totals: ingest.Totals{Rows: 11, Late: 2, Future: 1, Clamped: 1}, errors: 5, lag: 30_000_000,
		position: []byte("here"), firstID: 10, batch: batch,
	}
	r.side.setAside(rows(1, 2, 3)().Batch, []ingest.Verdict{{Row: 0, Late: true, Limit: 7000}, {Row: 2, Limit: 60_000_000}})
	r.side.rejects = []connect.Reject{broken(7, "a,b,c")().Rejects[0], {Reason: connect.TooLarge, Size: 1 << 26}}
	r.side.follow(&side{clock: 100, ids: [sideKinds]stretch{{4, 2}, {9, 0}}}, 99)
	return r
}

func encoded(r *record) []byte {
	var e tuple.Encoder
	r.encode(&e, testSchema)
	return e.B
}

// TestRecordParts shows that each reader of a record gets its part of it, and the numbers of what it passes over.
func TestRecordParts(t *testing.T) {
	want := fullRecord()
	require.Equal(t, [sideKinds]stretch{{6, 2}, {9, 2}}, want.side.ids, "numbers follow those of the commit before")
	require.EqualValues(t, 100, want.side.clock, "the clock does not fall")
	for _, p := range []part{stateOnly, withRows, withSide} {
		got, err := decodeRecord(encoded(want), testSchema, p)
		require.NoError(t, err)
		require.Equal(t, want.state, got.state)
		require.Equal(t, want.totals, got.totals)
		require.Equal(t, want.lag, got.lag)
		require.Equal(t, want.position, got.position)
		require.Equal(t, want.side.ids, got.side.ids)
		require.Equal(t, want.side.clock, got.side.clock)
		require.Equal(t, p == withRows, got.batch != nil)
		require.Equal(t, p == withSide, got.side.rows != nil)
		if p == withSide {
			require.Equal(t, want.side.verdicts, got.side.verdicts)
			require.Equal(t, tupletest.Lines(want.side.rows), tupletest.Lines(got.side.rows))
			require.Equal(t, want.side.rejects, got.side.rejects)
		}
	}
}

// TestRecordOfVersion1 shows that a log of before the lag was measured is read.
func TestRecordOfVersion1(t *testing.T) {
	want := fullRecord()
	bytes := encoded(want)
	var before, lag tuple.Encoder
	before.Uint(testSchema.Fingerprint())
	before.Uint(want.state.NextID)
	for _, at := range []tuple.Time{want.state.High, want.state.Idle, want.state.Boundary} {
		before.Time(at)
	}
	lag.Int(want.lag)
	n := 1 + len(before.B)
	old := append(append([]byte{1}, bytes[1:n]...), bytes[n+len(lag.B):]...)
	got, err := decodeRecord(old, testSchema, withRows)
	require.NoError(t, err)
	require.Equal(t, want.state, got.state)
	require.Equal(t, want.totals, got.totals)
	require.Equal(t, want.lastID(), got.lastID())
	require.Equal(t, ingest.Measured, got.lag)
	require.NotNil(t, got.batch)
}

// TestRecordBytesThatLie shows that a record which is cut, or holds another number than it should, is an error or
// another record, never a crash.
func TestRecordBytesThatLie(t *testing.T) {
	whole := encoded(fullRecord())
	for _, p := range []part{withRows, withSide} {
		for n := range whole {
			_, err := decodeRecord(whole[:n], testSchema, withRows)
			require.Error(t, err, "%d of %d bytes", n, len(whole))
			for _, v := range []byte{0, 1, 0x7f, 0x80, 0xff} {
				bad := append([]byte(nil), whole...)
				bad[n] = v
				if r, err := decodeRecord(bad, testSchema, p); err == nil && p == withSide {
					require.Len(t, r.side.verdicts, int(r.side.ids[Late].n))
					require.Len(t, r.side.rejects, int(r.side.ids[Unreadable].n))
				}
			}
		}
	}
}

// TestRawIsBounded shows that a commit of many large broken records keeps all of them, and of the last ones their place
// instead of their beginning.
func TestRawIsBounded(t *testing.T) {
	r := &record{}
	raw := make([]byte, connect.MaxRaw)
	for i := range maxRaw/len(raw) + 10 {
		r.side.rejects = append(r.side.rejects, connect.Reject{Reason: connect.Syntax, Place: connect.Place{File: "in", Line: int64(i + 1)}, Raw: raw, Size: 1 << 20})
	}
	first := newSide()
	r.side.follow(&first, 5)
	b := encoded(r)
	require.Less(t, len(b), maxRaw+1<<17)
	got, err := decodeRecord(b, testSchema, withSide)
	require.NoError(t, err)
	require.Len(t, got.side.rejects, len(r.side.rejects))
	last := got.side.rejects[len(r.side.rejects)-1]
	require.Empty(t, last.Raw)
	require.EqualValues(t, len(r.side.rejects), last.Place.Line)
	require.Len(t, got.side.rejects[0].Raw, connect.MaxRaw)
}
