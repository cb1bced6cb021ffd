package failbench

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/testnet"
)

func at(ms int) time.Time { return time.UnixMilli(int64(ms)) }

// The gap is that between two arrivals of which the later came after the failure, or from the last one on.
func TestLongestGap(t *testing.T) {
	var rows []arrival
	for _, ms := range []int{0, 900, 1000, 1100, 1340, 1400} {
		rows = append(rows, arrival{at: at(ms)})
	}
	require.Equal(t, 240*time.Millisecond, longestGap(rows, at(1050), at(1500)))
	require.Equal(t, 600*time.Millisecond, longestGap(rows, at(1050), at(2000)), "nothing came after the last one")
	require.Equal(t, 100*time.Millisecond, longestGap(rows, at(950), at(1150)))
	require.Equal(t, 50*time.Millisecond, longestGap(nil, at(950), at(1000)))
}

// What a chain adds is told by rows that came on both streams.
func TestAdded(t *testing.T) {
	source := []arrival{{at: at(10), src: "a", n: 1}, {at: at(20), src: "a", n: 2}}
	results := []arrival{{at: at(110), src: "a", n: 1}, {at: at(115), src: "b", n: 1}, {at: at(140), src: "a", n: 2}, {at: at(150), src: "a", n: 3}}
	require.Equal(t, []time.Duration{100 * time.Millisecond, 120 * time.Millisecond}, added(source, results))
}

// A row counts when it is newer than all before it; tentative ones are counted besides.
func TestWatch(t *testing.T) {
	w := &watch{}
	for _, e := range []testnet.Event{
		{Data: []byte(`{"id":1,"stime":"2026-03-01T10:00:00Z","src":"a","n":1}`)},
		{Name: "tentative", Data: []byte(`{"id":null,"stime":"2026-03-01T10:00:01Z","src":"a","n":2}`)},
		{Name: "done", Data: []byte(`{"before":"end"}`)},
		{Data: []byte(`{"id":2,"stime":"2026-03-01T10:00:01Z","src":"a","n":2}`)},
	} {
		require.NoError(t, w.event(e))
	}
	rows, tentative := w.seen()
	require.Len(t, rows, 2)
	require.Equal(t, 1, tentative)
	w.reset()
	rows, tentative = w.seen()
	require.Empty(t, rows)
	require.Zero(t, tentative)
	require.Error(t, w.event(testnet.Event{Data: []byte(`x`)}))
}

func TestQuantile(t *testing.T) {
	m := Measure{Values: []time.Duration{3, 1, 2}}
	require.Equal(t, time.Duration(2), m.Median())
	require.Equal(t, time.Duration(3), m.Worst())
	require.Zero(t, (&Measure{}).Worst())
}
