package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/testnet"
)

// row makes a row of a tail whose time is so long ago.
func row(id int, ago time.Duration) testnet.Event {
	e := testnet.Event{Data: fmt.Appendf(nil, `{"id":%d,"stime":%q,"n":1}`, id, time.Now().Add(-ago).UTC().Format(time.RFC3339Nano))}
	if id == 0 {
		e.Name = "tentative"
	} else {
		e.ID = fmt.Sprintf("1:%d", id)
	}
	return e
}

// TestObserver: what a client sees is counted: delays beyond what is normal, tentative rows until they are replaced, and
// rows that come twice.
func TestObserver(t *testing.T) {
	o := newObserver(nil, "rows")
	o.settle = -1
	say := func(e testnet.Event) { require.NoError(t, o.event(e)) }
	say(testnet.Event{Name: "gap", Data: []byte(`{}`)}) // of what was freed before it came
	for id := 1; id <= 3; id++ {
		say(row(id, 100*time.Millisecond))
	}
	o.arm()
	say(row(0, 90*time.Millisecond))
	say(row(0, 80*time.Millisecond))
	s, normal, open := o.saw()
	require.InDelta(t, 0.1, normal.Seconds(), 0.05)
	require.Equal(t, uint64(2), s.tentative)
	require.Equal(t, 2, open)
	say(testnet.Event{Name: "undo", Data: []byte(`{"from":null}`)})
	say(row(0, 70*time.Millisecond))
	say(testnet.Event{Name: "done", Data: []byte(`{"before":"2020-01-01T00:00:00Z"}`)})
	_, _, open = o.saw()
	require.Equal(t, 1, open)
	say(testnet.Event{Name: "done", Data: []byte(`{"before":"end"}`)})
	say(row(4, 3*time.Second)) // a correction is not new
	s, _, open = o.saw()
	require.Zero(t, open)
	require.Less(t, s.worst.delay, time.Second)
	require.False(t, s.lateUntil.IsZero(), "but it shows that results have not caught up")
	require.Empty(t, s.undone)
	say(row(4, 0))
	say(testnet.Event{Name: "gap", Data: []byte(`{}`)})
	say(row(9, 0))
	s, _, _ = o.saw()
	require.Len(t, s.undone, 1, "a jump behind a gap is none")
	require.Equal(t, uint64(1), s.lost)
	require.Error(t, o.event(testnet.Event{Data: []byte(`{`)}))
}

// TestSlowest: of the row that was longest under way it is said which it was, when it came, and what had come before it.
func TestSlowest(t *testing.T) {
	o := newObserver(nil, "rows")
	o.settle = -1
	r := &runner{observer: o, report: &Report{Began: time.Now().Add(-time.Minute)}}
	require.Nil(t, r.slowest(&o.seen.worst), "nothing came")
	say := func(e testnet.Event) { require.NoError(t, o.event(e)) }
	say(row(1, 5*time.Second))
	require.Equal(t, uint64(1), o.seen.worst.id, "nothing was done yet: what was slow in calm counts")
	o.arm()
	o.lostConnection(nil)
	o.heard = o.heard.Add(-time.Second)
	say(row(2, 3*time.Second))
	say(row(3, 2*time.Second))
	got := r.slowest(&o.seen.worst)
	require.Equal(t, uint64(2), got.ID)
	require.InDelta(t, 3, got.Delay, 0.5)
	require.InDelta(t, 1, got.Quiet, 0.5)
	require.InDelta(t, 60, got.Offset, 2)
	got.Offset, got.Delay, got.Quiet, got.Stime = 60, 3, 1, time.Unix(5, 250e6)
	require.Equal(t, "row 2 of rows, of 00:00:05.250, came at 60.0 s, 3.00 s old, when nothing had come for 1.00 s, behind a new connection", got.String())
	say(testnet.Event{Name: "gap", Data: []byte(`{}`)})
	e := row(0, 0)
	e.Data = fmt.Appendf(nil, `{"id":7,"stime":%q}`, time.Now().Add(-1900*time.Millisecond).UTC().Format(time.RFC3339Nano))
	o.seen.worst = slowest{}
	say(e)
	got = r.slowest(&o.seen.worst)
	require.True(t, got.Tentative)
	require.Equal(t, "a gap", got.After)
	require.Contains(t, got.String(), "a tentative row of rows, ")
}

// TestObserverKeepsUp: taking a row costs no more the more rows there were. Else a client at a high rate falls behind, and
// what it measures is itself.
func TestObserverKeepsUp(t *testing.T) {
	o := newObserver(nil, "rows")
	o.settle = -1
	stime := time.Now().Add(-time.Second)
	const rows = 20000
	id := 0
	take := func() {
		began := stime.Add(time.Duration(id) * time.Microsecond).UTC().Format(time.RFC3339Nano)
		id++
		require.NoError(t, o.event(testnet.Event{ID: fmt.Sprintf("1:%d", id), Data: fmt.Appendf(nil, `{"id":%d,"stime":%q}`, id, began)}))
	}
	bytes := func() uint64 { // that 1,000 rows take
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 1000 {
			take()
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	first := bytes()
	for id < rows {
		take()
	}
	require.Less(t, bytes(), 2*first)
	require.Less(t, len(o.calm), rows/4, "delays are counted, not kept")
	require.InDelta(t, 1, o.normal().Seconds(), 1)
}

// TestDelays: the median of what is counted is that of all.
func TestDelays(t *testing.T) {
	d := make(delays)
	require.Zero(t, d.median())
	for _, ms := range []int{9, 1, 5} {
		d.add(time.Duration(ms)*time.Millisecond + 10*time.Microsecond)
	}
	require.Equal(t, 5*time.Millisecond, d.median())
	d.add(7 * time.Millisecond)
	require.Equal(t, 7*time.Millisecond, d.median())
	d.add(5 * time.Millisecond)
	require.Equal(t, 5*time.Millisecond, d.median())
}

// TestMergeByTime: rows of several files come in the order of their time, under one head.
func TestMergeByTime(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i, text := range []string{"ts,n\n1,a\n4,b\n", "ts,n\n2,c\n3,d\n", "ts,n\n"} {
		files = append(files, filepath.Join(dir, fmt.Sprint(i)))
		require.NoError(t, os.WriteFile(files[i], []byte(text), 0o600))
	}
	to := filepath.Join(dir, "all")
	require.NoError(t, mergeByTime(files, to))
	got, err := os.ReadFile(to)
	require.NoError(t, err)
	require.Equal(t, "ts,n\n1,a\n2,c\n3,d\n4,b\n", string(got))
	require.NoError(t, os.WriteFile(files[1], []byte("ts,n\n2,c\n"), 0o600))
	require.Contains(t, firstDifference(files[0], files[1]), ":2: `1,a`, expected `2,c`")
	require.ErrorContains(t, mergeByTime([]string{filepath.Join(dir, "none")}, to), "none")
}

// TestObserverAnew shows that numbers which count anew in another generation behind a gap undo nothing, and rows do that come
// before those that came.
func TestObserverAnew(t *testing.T) {
	o := newObserver(nil, "rows")
	now := time.Now()
	row := func(generation, id int, stime time.Duration) {
		at := now.Add(stime).UTC().Format(time.RFC3339Nano)
		require.NoError(t, o.event(testnet.Event{ID: fmt.Sprintf("%d:%d", generation, id), Data: fmt.Appendf(nil, `{"id":%d,"stime":%q}`, id, at)}))
	}
	gap := func() { require.NoError(t, o.event(testnet.Event{Name: "gap", Data: []byte(`{}`)})) }
	row(1, 7, 0)
	gap()
	row(5, 1, time.Second)
	row(5, 2, 2*time.Second)
	s, _, _ := o.saw()
	require.Empty(t, s.undone)
	require.Equal(t, uint64(1), s.lost)
	gap()
	row(6, 1, time.Second)
	s, _, _ = o.saw()
	require.Len(t, s.undone, 1)
	row(7, 1, 3*time.Second) // no gap says so
	s, _, _ = o.saw()
	require.Len(t, s.undone, 2)
}
