package api

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

const events = `id: 3:1
data: {"id":1,"stime":"1970-01-01T00:00:01Z","n":1,"who":"row 1"}

id: 3:2
data: {"id":2,"stime":"1970-01-01T00:00:02Z","n":2,"who":"row 2"}

event: boundary
data: "1970-01-01T00:00:03Z"

event: gap
data: {"from":"1970-01-01T00:00:03Z","to":"1970-01-01T00:00:04Z","reason":"gone"}

id: 3:4
data: {"id":4,"stime":"1970-01-01T00:00:04Z","n":4,"who":"row 4"}

id: 3:5
data: {"id":5,"stime":"1970-01-01T00:00:05Z","n":5,"who":"row 5"}

event: end
data: {}

`

func TestTailAsEvents(t *testing.T) {
	r := newRig(t)
	got := r.do(call{method: "GET", path: "/api/v1/streams/conns/tail?from=beginning&boundaries=true"})
	require.Equal(t, events, got.body)
	require.Equal(t, "text/event-stream", got.header.Get("Content-Type"))
	require.Equal(t, TailFrom{Beginning: true}, r.fake.from[0])
}

func TestTailAsLines(t *testing.T) {
	r := newRig(t)
	got := r.do(call{method: "GET", path: "/api/v1/streams/conns/tail?from=2", header: map[string]string{"Accept": "application/x-ndjson"}})
	require.Equal(t, `{"gap":{"from":"1970-01-01T00:00:03Z","to":"1970-01-01T00:00:04Z","reason":"gone"}}
{"id":4,"stime":"1970-01-01T00:00:04Z","n":4,"who":"row 4"}
{"id":5,"stime":"1970-01-01T00:00:05Z","n":5,"who":"row 5"}
`, got.body)
	require.Equal(t, TailFrom{After: TupleID{ID: 2}}, r.fake.from[0])
}

// latestFrames are those of a failure: rows that are tentative, voided, given again and replaced.
func latestFrames() []*tuple.Frame {
	guess := func(n int) *tuple.Frame {
		f := insertion(n, 1)
		f.Kind, f.Generation, f.FirstID, f.LastID, f.Run = tuple.Tentative, 0, 1, 1, tuple.Run{Producer: "p", Incarnation: 1, N: 1}
		return f
	}
	second := tuple.Time(tuple.Second)
	return []*tuple.Frame{
		insertion(1, 1), guess(2), guess(3),
		{Kind: tuple.TentativeBoundary, Time: 4 * second},
		{Kind: tuple.Undo, Time: 3 * second}, guess(3),
		insertion(2, 1),
		{Kind: tuple.RecDone, Time: 3 * second}, {Kind: tuple.Boundary, Time: 3 * second},
		{Kind: tuple.Undo, Time: tuple.MinTime}, {Kind: tuple.RecDone, Time: tuple.MaxTime},
		{Kind: tuple.Gap, Generation: 3, FirstID: 3, Time: 3 * second, To: 4 * second, Reason: "gone"},
		{Kind: tuple.Boundary, Time: tuple.MaxTime},
	}
}

func TestLatestAsEvents(t *testing.T) {
	r := newRig(t)
	r.fake.frames = latestFrames()
	got := r.do(call{method: "GET", path: "/api/v1/streams/conns/tail?mode=latest&boundaries=true"})
	require.Equal(t, `id: 3:1
data: {"id":1,"stime":"1970-01-01T00:00:01Z","n":1,"who":"row 1"}

event: tentative
data: {"id":null,"stime":"1970-01-01T00:00:02Z","n":2,"who":"row 2"}

event: tentative
data: {"id":null,"stime":"1970-01-01T00:00:03Z","n":3,"who":"row 3"}

event: undo
data: {"from":"1970-01-01T00:00:03Z"}

event: tentative
data: {"id":null,"stime":"1970-01-01T00:00:03Z","n":3,"who":"row 3"}

id: 3:2
data: {"id":2,"stime":"1970-01-01T00:00:02Z","n":2,"who":"row 2"}

event: done
data: {"before":"1970-01-01T00:00:03Z"}

event: boundary
data: "1970-01-01T00:00:03Z"

event: undo
data: {"from":null}

event: done
data: {"before":"end"}

event: gap
data: {"from":"1970-01-01T00:00:03Z","to":"1970-01-01T00:00:04Z","reason":"gone"}

event: end
data: {}

`, got.body)
	require.Equal(t, TailFrom{Latest: true}, r.fake.from[0])
}

func TestLatestAsLines(t *testing.T) {
	r := newRig(t)
	r.fake.frames = latestFrames()
	got := r.do(call{method: "GET", path: "/api/v1/streams/conns/tail?mode=latest&boundaries=true", header: map[string]string{"Accept": jsonLines}})
	require.Equal(t, `{"event":"stable","id":1,"stime":"1970-01-01T00:00:01Z","n":1,"who":"row 1"}
{"event":"tentative","id":null,"stime":"1970-01-01T00:00:02Z","n":2,"who":"row 2"}
{"event":"tentative","id":null,"stime":"1970-01-01T00:00:03Z","n":3,"who":"row 3"}
{"event":"undo","from":"1970-01-01T00:00:03Z"}
{"event":"tentative","id":null,"stime":"1970-01-01T00:00:03Z","n":3,"who":"row 3"}
{"event":"stable","id":2,"stime":"1970-01-01T00:00:02Z","n":2,"who":"row 2"}
{"event":"done","before":"1970-01-01T00:00:03Z"}
{"event":"boundary","stime":"1970-01-01T00:00:03Z"}
{"event":"undo","from":null}
{"event":"done","before":"end"}
{"event":"gap","from":"1970-01-01T00:00:03Z","to":"1970-01-01T00:00:04Z","reason":"gone"}
`, got.body)
}

func TestUnknownMode(t *testing.T) {
	r := newRig(t)
	got := r.do(call{method: "GET", path: "/api/v1/streams/conns/tail?mode=newest"})
	require.Equal(t, 400, got.status)
	require.Contains(t, got.body, "expected stable or latest")
}

// A browser that lost its connection says what it had, and gets what follows, even in the middle of a frame.
func TestTailResumes(t *testing.T) {
	r := newRig(t)
	got := r.do(call{method: "GET", path: "/api/v1/streams/conns/tail?from=beginning&rows=1", header: map[string]string{"Last-Event-ID": "3:4"}})
	require.Equal(t, TailFrom{After: TupleID{Generation: 3, ID: 4}}, r.fake.from[0])
	require.Contains(t, got.body, "id: 3:5\n")
	require.NotContains(t, got.body, "id: 3:4\n")
}

func TestTailHead(t *testing.T) {
	r := newRig(t)
	resp := r.start(context.Background(), call{method: "HEAD", path: "/api/v1/streams/conns/tail"})
	require.NoError(t, resp.Body.Close())
	require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
}

// A quiet tail shows that it is alive, until the server stops, which ends it at once.
func TestQuietTail(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Heartbeat = time.Millisecond })
	r.fake.frames = nil
	resp := r.start(context.Background(), call{method: "GET", path: "/api/v1/streams/conns/tail"})
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for range 2 {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, ": alive\n", line)
		_, err = lines.ReadString('\n')
		require.NoError(t, err)
	}
	r.srv.endTails()
	_, err := io.Copy(io.Discard, lines)
	require.NoError(t, err)
}

func TestTailsAtOnce(t *testing.T) {
	r := newRig(t, func(c *Config) { c.MaxTails = 1 })
	r.fake.frames = nil
	ctx, cancel := context.WithCancel(context.Background())
	resp := r.start(ctx, call{method: "GET", path: "/api/v1/streams/conns/tail"})
	defer resp.Body.Close()
	got := r.do(call{method: "GET", path: "/api/v1/streams/conns/tail"})
	require.Equal(t, 429, got.status)
	require.Equal(t, "1", got.header.Get("Retry-After"))
	cancel()
	require.Eventually(t, func() bool { return r.fake.openTails() == 0 }, waitLimit, time.Millisecond, "a client that leaves frees its tail")
}

// A client that takes nothing is cut off after a while; until then nobody else waits for it.
func TestSlowClient(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Patience = 300 * time.Millisecond })
	var frames []*tuple.Frame
	for i := range 3000 { // far more than the buffers of a connection hold
		frames = append(frames, insertion(1+i*100, 100))
	}
	r.fake.frames = frames
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.srv.Addr(), "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "GET /api/v1/streams/conns/tail HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+testToken+"\r\n\r\n")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return r.fake.begun() == 1 }, waitLimit, time.Millisecond)

	got := r.do(call{method: "GET", path: "/api/v1/streams/conns/tail?rows=1000", header: map[string]string{"Accept": jsonLines}})
	require.Equal(t, 1000, strings.Count(got.body, "\n"))
	require.Eventually(t, func() bool { return r.fake.openTails() == 0 }, waitLimit, time.Millisecond, "the slow one is cut off")
}

func TestTupleIDs(t *testing.T) {
	for text, want := range map[string]TupleID{"7": {ID: 7}, "2:18446744073709551615": {Generation: 2, ID: 1<<64 - 1}} {
		got, err := ParseTupleID(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, text, got.String())
	}
	for _, text := range []string{"", ":", "x", "1:", "1:2:3", "-1", "18446744073709551616"} {
		_, err := ParseTupleID(text)
		require.ErrorIs(t, err, ErrInvalid, text)
	}
}

func TestStreamTime(t *testing.T) {
	for text, want := range map[string]StreamTime{"null": NoTime, `"end"`: EndTime, `"1970-01-01T00:00:01.5Z"`: StreamTime(1_500_000)} {
		var got StreamTime
		require.NoError(t, got.UnmarshalJSON([]byte(text)))
		require.Equal(t, want, got)
		b, err := got.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, text, string(b))
	}
	require.Error(t, new(StreamTime).UnmarshalJSON([]byte(`"soon"`)))
	require.Error(t, new(StreamTime).UnmarshalJSON([]byte(`1`)))
	require.Equal(t, "-", NoTime.String())
	require.Equal(t, "end", EndTime.String())
}
