package world

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

// talker is a program that says hello over every connection, answers what it is asked to echo, and notes what happens.
type talker struct {
	w     *World
	id    NodeID
	life  uint64
	log   *[]string
	dial  []NodeID
	cost  int64
	wake  tuple.Instant // Never for none
	saved uint32
}

const (
	kindSay Kind = iota + 1
	kindEcho
)

func (p *talker) note(format string, args ...any) {
	*p.log = append(*p.log, fmt.Sprintf("%d n%d ", p.w.Now(), p.id)+fmt.Sprintf(format, args...))
}

func (p *talker) Boot() {
	p.note("boot %d, disk %v", p.life, p.w.Load(0))
	for _, d := range p.dial {
		p.w.Dial(d)
	}
}

func (p *talker) Opened(peer NodeID) { p.note("opened n%d", peer) }

func (p *talker) Closed(peer NodeID, why Closing) { p.note("closed n%d %v", peer, why) }

func (p *talker) Message(peer NodeID, m *Message) {
	p.w.Spend(p.cost)
	p.note("message %d", m.Number)
	if m.Kind == kindEcho {
		if a := p.w.Send(peer, 10, false); a != nil {
			a.Kind, a.Number = kindSay, m.Number
		}
	}
}

func (p *talker) Stored(ticket uint32, ok bool) { p.note("stored %d %v", ticket, ok) }

func (p *talker) Due() tuple.Instant { return p.wake }

func (p *talker) Wake() {
	p.note("wake")
	p.wake = Never
}

// stage is a world of talkers whose node 0 dials all others.
type stage struct {
	*World
	t    *testing.T
	log  []string
	live []*talker
	acts []func()
}

func newStage(t *testing.T, nodes int) *stage {
	s := &stage{t: t, live: make([]*talker, nodes)}
	cfg := Default()
	cfg.Seed, cfg.Nodes, cfg.Drift, cfg.Script = 1, nodes, 0, s
	cfg.NewProgram = func(id NodeID, life uint64) Program {
		p := &talker{w: s.World, id: id, life: life, log: &s.log, wake: Never}
		for n := 1; id == 0 && n < nodes; n++ {
			p.dial = append(p.dial, NodeID(n))
		}
		s.live[id] = p
		return p
	}
	s.World = New(cfg)
	for a := range nodes {
		for b := range nodes {
			s.SetQuality(NodeID(a), NodeID(b), Quality{Latency: 1000})
		}
	}
	return s
}

func (s *stage) Act(n uint32) { s.acts[n]() }

// at does something at a time.
func (s *stage) at(us int64, f func()) {
	s.acts = append(s.acts, f)
	s.At(us, uint32(len(s.acts)-1))
}

// say sends a message from the program of a node.
func (s *stage) say(from, to NodeID, kind Kind, number uint64) {
	s.current = from
	if m := s.Send(to, 100, false); m != nil {
		m.Kind, m.Number = kind, number
	}
	s.flush()
}

func (s *stage) expect(want ...string) {
	s.t.Helper()
	require.Equal(s.t, want, s.log)
	s.log = nil
}

// A connection takes a round trip; what is sent arrives in order, a latency later.
func TestTalk(t *testing.T) {
	s := newStage(t, 2)
	s.Start(1)
	s.Start(0)
	s.Run(5000)
	s.expect("0 n1 boot 1, disk <nil>", "0 n0 boot 1, disk <nil>", "1000 n1 opened n0", "2000 n0 opened n1")
	s.at(6000, func() { s.say(0, 1, kindEcho, 7); s.say(0, 1, kindSay, 8) })
	s.Run(10_000)
	s.expect("7000 n1 message 7", "7000 n1 message 8", "8000 n0 message 7")
}

// Nobody listens where no program runs; nobody answers where no machine is.
func TestDials(t *testing.T) {
	s := newStage(t, 3)
	s.Start(2)
	s.Crash(2, true)
	s.log = nil
	s.Start(0)
	s.Run(2_000_000)
	s.expect("0 n0 boot 1, disk <nil>", "2000 n0 closed n1 refused", "1000000 n0 closed n2 unanswered")
}

// A crash tells the peers, unless the machine goes along; a machine that is back does not know old connections.
func TestCrash(t *testing.T) {
	s := newStage(t, 2)
	s.Start(1)
	s.Start(0)
	s.Run(5000)
	s.log = nil
	s.at(6000, func() { s.Crash(1, false) })
	s.Run(8000)
	s.expect("7000 n0 closed n1 ended")
	s.Start(1)
	s.current = 0
	s.Dial(1)
	s.Run(20_000)
	s.log = nil
	s.at(21_000, func() { s.Crash(1, true) })
	s.at(22_000, func() { s.say(0, 1, kindSay, 1) })
	s.at(30_000, func() { s.Start(1) })
	s.at(31_000, func() { s.say(0, 1, kindSay, 2) })
	s.Run(40_000)
	s.expect("30000 n1 boot 3, disk <nil>", "33000 n0 closed n1 ended")
}

// A cut holds what is sent back until it heals, and keeps its order; the other direction goes on.
func TestCut(t *testing.T) {
	s := newStage(t, 2)
	s.Start(1)
	s.Start(0)
	s.Run(5000)
	s.log = nil
	s.Cut(0, 1)
	s.Cut(0, 1)
	s.at(6000, func() { s.say(0, 1, kindSay, 1); s.say(1, 0, kindSay, 2) })
	s.at(7000, func() { s.say(0, 1, kindSay, 3); s.Heal(0, 1) })
	s.at(500_000, func() { s.Heal(0, 1) })
	s.Run(400_000)
	require.False(t, s.Reachable(0, 1))
	s.expect("7000 n0 message 2")
	s.Run(2_000_000)
	require.True(t, s.Reachable(0, 1))
	require.Len(t, s.log, 2)
	require.Contains(t, s.log[0], "n1 message 1")
	require.Contains(t, s.log[1], "n1 message 3")
}

// Loss delays and never reorders what belongs to one connection.
func TestLoss(t *testing.T) {
	s := newStage(t, 2)
	s.Start(1)
	s.Start(0)
	s.Run(5000)
	s.log = nil
	s.SetQuality(0, 1, Quality{Latency: 1000, Jitter: 500, Loss: 300_000})
	for n := range 100 {
		s.at(6000+int64(n)*1000, func() { s.say(0, 1, kindSay, uint64(n)) })
	}
	s.Run(60_000_000)
	require.Len(t, s.log, 100)
	for n, line := range s.log {
		require.Contains(t, line, fmt.Sprintf("message %d", n))
	}
	require.Greater(t, s.Now(), int64(200_000))
}

// A narrow link takes messages one after the other.
func TestBandwidth(t *testing.T) {
	s := newStage(t, 2)
	s.Start(1)
	s.Start(0)
	s.Run(5000)
	s.log = nil
	s.SetQuality(0, 1, Quality{Latency: 1000, Bandwidth: 100_000}) // 1 ms for each message
	s.at(6000, func() { s.say(0, 1, kindSay, 1); s.say(0, 1, kindSay, 2) })
	s.at(6500, func() { require.EqualValues(t, 1500, s.Backlog(0, 1)) })
	s.Run(20_000)
	s.expect("8000 n1 message 1", "9000 n1 message 2")
}

// What waits for a narrow link goes at the rate that the link has by then.
func TestBandwidthChanges(t *testing.T) {
	for _, c := range []struct {
		bandwidth, backlog int64
		want               []string
	}{
		{0, 0, []string{"7500 n1 message 1", "7500 n1 message 2", "7500 n1 message 3", "8000 n1 message 4"}},
		{200_000, 1250, []string{"7750 n1 message 1", "8250 n1 message 2", "8750 n1 message 3", "9250 n1 message 4"}},
		{50_000, 5000, []string{"8500 n1 message 1", "10500 n1 message 2", "12500 n1 message 3", "14500 n1 message 4"}},
	} {
		s := newStage(t, 2)
		s.Start(1)
		s.Start(0)
		s.Run(5000)
		s.log = nil
		s.SetQuality(0, 1, Quality{Latency: 1000, Bandwidth: 100_000}) // 1 ms for each message
		s.at(6000, func() { s.say(0, 1, kindSay, 1); s.say(0, 1, kindSay, 2); s.say(0, 1, kindSay, 3) })
		s.at(6500, func() {
			s.SetQuality(0, 1, Quality{Latency: 1000, Bandwidth: c.bandwidth})
			require.Equal(t, c.backlog, s.Backlog(0, 1))
		})
		s.at(7000, func() { s.say(0, 1, kindSay, 4) })
		s.Run(20_000)
		s.expect(c.want...)
	}
}

// Control messages come twice or late when a fault says so, others never.
func TestRepeatOvertake(t *testing.T) {
	s := newStage(t, 2)
	s.Start(1)
	s.Start(0)
	s.Run(5000)
	s.log = nil
	s.SetQuality(0, 1, Quality{Latency: 1000, Repeat: 500_000, Overtake: 500_000})
	for n := range 100 {
		s.at(6000+int64(n)*1000, func() {
			s.current = 0
			m := s.Send(1, 10, true)
			m.Kind, m.Number = kindSay, uint64(n)
			s.flush()
			s.say(0, 1, kindSay, 1000)
		})
	}
	s.Run(60_000_000)
	var control []string
	data := 0
	for _, line := range s.log {
		_, text, _ := cutTime(line)
		if text == "n1 message 1000" {
			data++
		} else {
			control = append(control, text)
		}
	}
	require.Equal(t, 100, data)
	require.Greater(t, len(control), 110)
	require.False(t, slices.IsSorted(control))
}

func cutTime(line string) (at, text string, ok bool) {
	for i := range line {
		if line[i] == ' ' {
			return line[:i], line[i+1:], true
		}
	}
	return "", line, false
}

// What arrives while a node is busy or paused waits, and comes before what has become due meanwhile.
func TestBusyAndPaused(t *testing.T) {
	s := newStage(t, 2)
	s.Start(1)
	s.Start(0)
	s.Run(5000)
	s.log = nil
	s.live[1].cost = 3000
	s.SetSlow(1, 200)
	s.at(6000, func() { s.say(0, 1, kindSay, 1); s.say(0, 1, kindSay, 2) })
	s.Run(30_000)
	s.expect("7000 n1 message 1", "13000 n1 message 2")
	s.live[1].cost = 0
	s.at(31_000, func() {
		s.live[1].wake = s.LocalOf(1) + 1000
		s.rearm(1)
		s.Pause(1)
		s.say(0, 1, kindSay, 3)
	})
	s.at(50_000, func() { require.Equal(t, 1, s.Waiting(1)); s.Resume(1) })
	s.Run(60_000)
	s.expect("50000 n1 message 3", "50000 n1 wake")
}

// What a node that stood still says to a life of its peer that is over does not reach the next one, whose connection it has not
// heard of yet.
func TestAnswerToThePast(t *testing.T) {
	s := newStage(t, 2)
	s.Start(1)
	s.Start(0)
	s.Run(5000)
	s.log = nil
	s.Pause(1)
	s.at(6000, func() { s.say(0, 1, kindEcho, 1) })
	s.at(10_000, func() { s.Crash(0, false) })
	s.at(20_000, func() { s.Start(0) })
	s.at(30_000, func() { s.say(0, 1, kindEcho, 2) })
	s.at(40_000, func() { s.Resume(1) })
	s.Run(50_000)
	s.expect("20000 n0 boot 2, disk <nil>", "22000 n0 opened n1",
		"40000 n1 message 1", "40000 n1 closed n0 ended", "40000 n1 opened n0", "40000 n1 message 2", "41000 n0 message 2")
}

// A commit is durable in order, after its latency; a crash loses what is not, a full disk refuses.
func TestDisk(t *testing.T) {
	s := newStage(t, 1)
	s.Start(0)
	s.log = nil
	s.current = 0
	s.Commit(0, "first")
	s.Commit(0, "second")
	s.Run(20_000)
	require.Len(t, s.log, 2)
	require.Contains(t, s.log[0], "stored 0 true")
	require.Contains(t, s.log[1], "stored 1 true")
	s.SetDiskFull(0, true)
	s.Commit(0, "third")
	s.Run(40_000)
	require.Contains(t, s.log[2], "stored 2 false")
	s.SetDiskFull(0, false)
	s.Commit(0, "fourth")
	s.Crash(0, false)
	s.log = nil
	s.Start(0)
	s.Run(60_000)
	s.expect("40000 n0 boot 2, disk second")
	s.Commit(0, "fifth")
	s.Run(80_000)
	s.Crash(0, false)
	s.Wipe(0)
	s.Start(0)
	require.Contains(t, s.log[len(s.log)-1], "disk <nil>")
}

// A jump of a clock brings timers forward; clocks differ in rate by no more than the drift.
func TestClocks(t *testing.T) {
	s := newStage(t, 1)
	s.Start(0)
	s.log = nil
	s.at(1000, func() { s.live[0].wake = s.LocalOf(0) + 5_000_000; s.rearm(0) })
	s.at(2000, func() { s.Jump(0, 5_000_000) })
	s.Run(10_000)
	s.expect("2000 n0 wake")
	c := clock{base: 100, since: 10, drift: 50}
	for _, at := range []tuple.Instant{101, 1_000_000, 1 << 40} {
		when := c.when(at)
		require.GreaterOrEqual(t, c.read(when), at)
		require.Less(t, c.read(when-2), at)
	}
}

// Events come in order of time, and those of one moment in the order in which they were made.
func TestQueue(t *testing.T) {
	s := newStage(t, 1)
	var q queue
	for n := range 5000 {
		q.push(event{at: s.Rand.Int64N(100), arg: uint32(n)})
		if n%3 == 0 {
			q.pop()
		}
	}
	last := q.pop()
	for q.len() > 0 {
		e := q.pop()
		require.True(t, last.at < e.at || last.at == e.at && last.seq < e.seq)
		last = e
	}
}

func BenchmarkQueue(b *testing.B) {
	var q queue
	for n := range 200 {
		q.push(event{at: int64(n * 7919 % 1000)})
	}
	b.ReportAllocs()
	for b.Loop() {
		e := q.pop()
		e.at += 100 + int64(e.seq%97)
		q.push(e)
	}
}
