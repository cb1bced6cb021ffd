package host

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/dcaa"
	"fednode/query/tuple"
	"fednode/testnet/sim/world"
)

// player is an actor that subscribes to what it is told, serves one stream, and notes what happens.
type player struct {
	h      *Host
	log    *[]string
	serve  *Buffer
	beat   tuple.Time
	frames []uint64 // last ids
	wants  *Request
	conn   uint64
	beats  int
	// boundaries is how many have come.
	boundaries int
}

func (p *player) note(format string, args ...any) {
	*p.log = append(*p.log, fmt.Sprintf("n%d ", p.h.ID)+fmt.Sprintf(format, args...))
}

func (p *player) Boot() {
	if p.serve != nil {
		p.h.Serve(0, p.serve)
	}
}

func (p *player) Reachable(peer world.NodeID, up bool) {
	p.note("reachable n%d %v", peer, up)
	if up && p.wants != nil {
		p.conn++
		p.h.Subscribe(peer, 0, p.conn, *p.wants)
	}
}

func (p *player) Heard(_ world.NodeID, s []world.Status) {
	p.beats++
	for i := range s {
		p.beat = s[i].Boundary
	}
}

func (p *player) Beat(_ world.NodeID, s []world.Status) []world.Status {
	if p.serve == nil {
		return s
	}
	return append(s, world.Status{StreamStatus: dcaa.StreamStatus{State: dcaa.Stable, Boundary: p.beat}})
}

func (p *player) Opened(_ int32, conn uint64)  { p.note("opened %d", conn) }
func (p *player) Refused(_ int32, conn uint64) { p.note("refused %d", conn) }
func (p *player) Truncated(_ int32, conn uint64, first tuple.Position) {
	p.note("truncated %d, first %d", conn, first.ID)
}
func (p *player) Closed(_ int32, conn uint64) { p.note("closed %d", conn) }

func (p *player) Frame(_ int32, _ uint64, f *tuple.Frame) {
	switch f.Kind {
	case tuple.Insertion:
		p.frames = append(p.frames, f.LastID)
	case tuple.Boundary:
		p.boundaries++
	default:
		p.note("%v", f.Kind)
	}
}

func (p *player) Peer(peer world.NodeID, body any) { p.note("from n%d: %v", peer, body) }
func (p *player) Acked(peer world.NodeID, _ int32, at tuple.Position) {
	p.note("acked by n%d: %d", peer, at.ID)
	p.serve.Ack(peer, at)
}
func (p *player) Owe(bool)            {}
func (p *player) Resumed(gap int64)   { p.note("resumed after %dms", gap/100_000*100) }
func (p *player) Stored(uint32, bool) {}
func (p *player) Due() dcaa.Instant   { return dcaa.Never }
func (p *player) Wake()               {}

// pair is a world of two hosts: n0 reads what n1 serves.
type pair struct {
	*world.World
	t       *testing.T
	log     []string
	players [2]*player
	buffer  *Buffer
	wants   *Request
	settled Settings
	next    uint64
	acts    []func()
}

func (s *pair) Act(n uint32) { s.acts[n]() }

func (s *pair) at(us int64, f func()) {
	s.acts = append(s.acts, f)
	s.At(us, uint32(len(s.acts)-1))
}

func newPair(t *testing.T, wants *Request) *pair {
	s := &pair{t: t, wants: wants, settled: DefaultSettings()}
	s.settled.Window = 8
	s.buffer = NewBuffer(dcaa.NewOutputBuffer(1, tuple.Position{Generation: 1, Time: tuple.MinTime}), []string{"world/n0/q/f", "world/n1/q/g"})
	cfg := world.Default()
	cfg.Seed, cfg.Nodes, cfg.Script = 1, 2, s
	cfg.NewProgram = func(id world.NodeID, life uint64) world.Program {
		h := New(s.World, id, life, &s.settled, 2, 1, []Peer{{ID: 1 - id, Dial: id == 0}})
		p := &player{h: h, log: &s.log}
		if id == 1 {
			p.serve = s.buffer
		} else {
			p.wants = s.wants
		}
		s.players[id] = p
		h.Run(p)
		return h
	}
	s.World = world.New(cfg)
	s.SetQuality(0, 1, world.Quality{Latency: 1000})
	s.SetQuality(1, 0, world.Quality{Latency: 1000})
	s.Start(1)
	s.Start(0)
	return s
}

var schema = tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})

// emit appends a row, or another frame, and sends it.
func (s *pair) emit(f *tuple.Frame) {
	s.buffer.Append(f, 0)
	s.players[1].h.Pump(0)
}

func (s *pair) row() *tuple.Frame {
	s.next++
	b := tuple.NewBatchBuilder(schema)
	b.AppendInt(0, int64(s.next))
	b.EndRow(tuple.Time(s.next))
	return &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: s.next, LastID: s.next, Batch: b.Take()}
}

// emitAt has n1 emit frames at a time.
func (s *pair) emitAt(us int64, frames ...func() *tuple.Frame) {
	s.at(us, func() { s.players[1].pending(s, frames) })
}

// pending emits frames as the running program.
func (p *player) pending(s *pair, frames []func() *tuple.Frame) {
	s.As(p.h.ID, func() {
		for _, f := range frames {
			s.emit(f())
		}
	})
}

func from(id uint64) *Request {
	return &Request{From: tuple.Position{Generation: 1, ID: id, Time: tuple.MinTime}, Tentative: true, TentativeFrom: tuple.MinTime}
}

// A subscriber is told of its peer, gets what there is, and then what comes, in order and within its credit.
func TestSubscribe(t *testing.T) {
	s := newPair(t, from(0))
	for n := range 30 {
		s.emitAt(10_000+int64(n)*1000, s.row)
	}
	s.Run(400_000)
	require.ElementsMatch(t, []string{"n1 reachable n0 true", "n0 reachable n1 true", "n0 opened 1"}, s.log)
	require.Len(t, s.players[0].frames, 30)
	require.EqualValues(t, 30, s.players[0].frames[29])
	require.Greater(t, s.players[0].beats, 2)
	require.InDelta(t, 2000, s.players[0].h.Way(1).RoundTrip, 50)
}

// A silent peer is unreachable after three heartbeats and reachable with the next; what was held back then comes.
func TestSilence(t *testing.T) {
	s := newPair(t, from(0))
	s.Run(1_000_000)
	s.log = nil
	s.at(1_000_000, func() { s.Cut(1, 0) })
	s.emitAt(1_100_000, s.row)
	s.Run(1_250_000)
	require.Empty(t, s.log)
	s.Run(1_550_000)
	require.Equal(t, []string{"n0 reachable n1 false"}, s.log)
	s.Heal(1, 0)
	s.Run(3_000_000)
	require.Contains(t, s.log, "n0 reachable n1 true")
	require.Equal(t, []uint64{1, 1}, s.players[0].frames, "over the subscription that stood, and over the new one")
}

// A peer that does not hear us is as good as gone, though we hear it.
func TestOneWay(t *testing.T) {
	s := newPair(t, nil)
	s.Run(1_000_000)
	s.log = nil
	s.Cut(0, 1)
	s.Run(2_500_000)
	require.ElementsMatch(t, []string{"n1 reachable n0 false", "n0 reachable n1 false"}, s.log)
}

// A crash ends subscriptions at once; the peer is dialled until it is back.
func TestCrash(t *testing.T) {
	s := newPair(t, from(0))
	s.Run(1_000_000)
	s.log = nil
	s.at(1_000_000, func() { s.Crash(1, false) })
	s.at(3_000_000, func() { s.Start(1) })
	s.Run(1_100_000)
	require.Equal(t, []string{"n0 reachable n1 false", "n0 closed 1"}, s.log)
	s.Run(8_000_000)
	require.Contains(t, s.log, "n0 reachable n1 true")
	require.Contains(t, s.log, "n0 opened 2")
}

// Who asks for what is gone is told where it could begin; a slow one that is not counted is told when that happens.
func TestTruncated(t *testing.T) {
	s := newPair(t, from(0))
	for range 20 {
		s.buffer.Append(s.row(), 0)
	}
	require.NoError(t, s.buffer.Stable.Subscribe("other", tuple.Position{Generation: 1}, tuple.Position{Generation: 1}))
	s.buffer.Stable.Ack("other", tuple.Position{Generation: 1, ID: 15})
	s.Run(1_000_000)
	require.Contains(t, s.log, "n0 truncated 1, first 15")

	s = newPair(t, from(0))
	s.Run(1_000_000)
	s.at(1_000_000, func() { s.Pause(0) })
	for n := range 30 {
		s.emitAt(1_100_000+int64(n)*1000, s.row)
	}
	s.at(1_300_000, func() {
		require.NoError(t, s.buffer.Stable.Subscribe("other", tuple.Position{Generation: 1}, tuple.Position{Generation: 1}))
		s.buffer.Stable.Forget("world/n0/q/f")
		s.buffer.Stable.Ack("other", tuple.Position{Generation: 1, ID: 25})
	})
	s.at(1_400_000, func() { s.Resume(0) })
	s.Run(3_000_000)
	require.Contains(t, s.log, "n0 truncated 1, first 25")
	require.Equal(t, uint64(8), s.players[0].frames[len(s.players[0].frames)-1])
	require.Zero(t, s.players[0].boundaries)
}

// Who asks for what is gone is told up to which stime rows are, which may be beyond what was acknowledged.
func TestTruncatedTime(t *testing.T) {
	s := newPair(t, from(0))
	for range 20 {
		s.buffer.Append(s.row(), 0)
	}
	const latest = 20 // each row at its id
	require.NoError(t, s.buffer.Stable.Subscribe("other", tuple.Position{Generation: 1}, tuple.Position{Generation: 1}))
	s.buffer.Stable.Ack("other", tuple.Position{Generation: 1, ID: 20, Time: latest})
	_, first, ok := s.buffer.Attach(0, *from(0))
	require.False(t, ok)
	require.Equal(t, tuple.Position{Generation: 1, ID: 20, Time: latest + 1}, first)
	require.Equal(t, first, s.buffer.Gone(tuple.Position{Generation: 1}).First)
}

// A boundary that is all that is left is not given to a slow subscriber: the rows before it are gone.
func TestTruncatedToBoundary(t *testing.T) {
	s := newPair(t, from(0))
	s.Run(1_000_000)
	s.at(1_000_000, func() { s.Pause(0) })
	for n := range 30 {
		s.emitAt(1_100_000+int64(n)*1000, s.row)
	}
	s.emitAt(1_200_000, func() *tuple.Frame { return &tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: 31} })
	s.at(1_300_000, func() {
		require.NoError(t, s.buffer.Stable.Subscribe("other", tuple.Position{Generation: 1}, tuple.Position{Generation: 1}))
		s.buffer.Stable.Forget("world/n0/q/f")
		s.buffer.Stable.Ack("other", tuple.Position{Generation: 1, ID: 30})
		require.Equal(t, 1, s.buffer.Stable.Len(), "the boundary is held")
	})
	s.at(1_400_000, func() { s.Resume(0) })
	s.Run(3_000_000)
	require.Contains(t, s.log, "n0 truncated 1, first 30")
	require.Zero(t, s.players[0].boundaries)
}

// Tentative frames come in order of emission, but never before the stable ones that replaced what was before them.
func TestRun(t *testing.T) {
	run := tuple.Run{Producer: "n1", Incarnation: 1, N: 1}
	until := func(kind tuple.FrameKind, at tuple.Time) *tuple.Frame {
		return &tuple.Frame{Kind: kind, Time: at, Run: run, Generation: 1}
	}
	b := NewBuffer(dcaa.NewOutputBuffer(1, tuple.Position{Generation: 1, Time: tuple.MinTime}), []string{"world/n0/q/f"})
	b.Append(until(tuple.Boundary, 10), 0)
	b.Append(until(tuple.TentativeBoundary, 20), 0)
	b.Append(until(tuple.TentativeBoundary, 30), 0)
	b.Append(until(tuple.Boundary, 20), 0)
	kinds := func(r *Request) []string {
		at, _, ok := b.Attach(0, *r)
		require.True(t, ok)
		var list []string
		for {
			f, next := b.Next(at, r, 0)
			if f == nil {
				return list
			}
			at = next
			list = append(list, fmt.Sprintf("%v %d", f.Kind, f.Time))
		}
	}
	require.Equal(t, []string{"BOUNDARY 10", "BOUNDARY 20", "TENTATIVE_BOUNDARY 30"}, kinds(from(0)))
	stable := from(0)
	stable.Tentative = false
	require.Equal(t, []string{"BOUNDARY 10", "BOUNDARY 20"}, kinds(stable))
	r := from(0)
	r.TentativeFrom = 30
	at, _, ok := b.Attach(0, *r)
	require.True(t, ok)
	b.Append(until(tuple.RecDone, 0), 0)
	require.Equal(t, []string{"BOUNDARY 10", "BOUNDARY 20"}, kinds(from(0)), "somebody new does not hold the run")
	var last tuple.FrameKind
	for f, next := b.Next(at, r, 0); f != nil; f, next = b.Next(next, r, 0) {
		last = f.Kind
	}
	require.Equal(t, tuple.RecDone, last, "who holds it learns of its end")
}

// A node that stood still says so before it judges its peers.
func TestResumed(t *testing.T) {
	s := newPair(t, nil)
	s.Run(1_000_000)
	s.log = nil
	s.Pause(0)
	s.at(3_000_000, func() { s.Resume(0) })
	s.Run(4_000_000)
	require.Contains(t, s.log, "n0 resumed after 2000ms")
	require.NotContains(t, s.log, "n0 reachable n1 false")
}

// A clock that jumps while nothing arrives is noticed before the timers that it brings forward.
func TestJump(t *testing.T) {
	s := newPair(t, nil)
	s.Run(1_000_000)
	s.log = nil
	s.Cut(1, 0)
	s.at(1_050_000, func() { s.Jump(0, 5_000_000) })
	s.Run(1_060_000)
	require.Equal(t, []string{"n0 resumed after 5000ms"}, s.log)
}

// What actors tell each other and acknowledge arrives.
func TestTell(t *testing.T) {
	s := newPair(t, from(0))
	s.emitAt(50_000, s.row)
	s.at(500_000, func() {
		s.As(0, func() {
			s.players[0].h.Tell(1, "hello")
			s.players[0].h.Ack(1, 0, tuple.Position{Generation: 1, ID: 1, Time: 5})
		})
	})
	s.Run(1_000_000)
	require.Contains(t, s.log, "n1 from n0: hello")
	require.Contains(t, s.log, "n1 acked by n0: 1")
	require.Zero(t, s.buffer.Stable.Len())
}

// Patience grows with each false alarm and wears off.
func TestPatience(t *testing.T) {
	s := DefaultSettings()
	p := newPatience(&s)
	require.EqualValues(t, 300_000, p.limit(0))
	p.refuted(400_000, 1000)
	require.EqualValues(t, 1_200_000, p.limit(1000))
	require.EqualValues(t, 750_000, p.limit(1000+calm))
	p.refuted(100_000, 2000)
	require.EqualValues(t, 1_200_000, p.limit(2000))
	p.refuted(1<<40, 3000)
	require.EqualValues(t, 1_200_000, p.limit(3000), "that was no mistake")
	p.passed(450_000, 4000)
	require.EqualValues(t, 1_350_000, p.limit(4000))
	p.refuted(1_000_000, 5000)
	require.EqualValues(t, longest, p.limit(5000))
	p.passed(longest, 6000)
	require.EqualValues(t, longest, p.limit(6000))
}
