package link

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/flow"
	"fednode/node/p2p"
	"fednode/node/trust"
	"fednode/query/tuple"
)

// names returns the streams that a heartbeat for a peer tells of.
func (e *end) names(p p2p.Peer) []string {
	out := []string{}
	for _, s := range e.Beat(p) {
		out = append(out, s.Name)
	}
	return out
}

func (e *end) peer(org string) p2p.Peer {
	return p2p.Peer{ID: e.host.ID(), Member: trust.Member{Org: org, Node: "n"}}
}

// TestBeat shows that heartbeats tell a peer of what it subscribes to and of what it shares with us, and of nothing that it
// may not have.
func TestBeat(t *testing.T) {
	producer, consumer := between(t)
	south := consumer.peer("south")
	for _, name := range []string{"north/q/read", "north/q/shared", "north/q/other"} {
		producer.output(name)
	}
	require.Empty(t, producer.names(south), "nothing is shared with a stranger")
	producer.shelf.share("north/q/shared", "north/q/gone")
	require.Equal(t, []string{"north/q/shared"}, producer.names(south))
	c, err := consumer.Open(t.Context(), producer.host.ID(), "north/q/read", me(beginning))
	require.NoError(t, err)
	require.Equal(t, []string{"north/q/read", "north/q/shared"}, producer.names(south))
	c.Close()
	require.Eventually(t, func() bool { return len(producer.names(south)) == 1 }, patient, time.Millisecond)
	producer.shelf.deny(errors.New("no"))
	require.Eventually(t, func() bool { return len(producer.names(south)) == 0 }, patient, time.Millisecond, "a permission that ends is noticed")
}

// TestBeatIsBounded shows that what is subscribed to goes before what is only shared when not all has room.
func TestBeatIsBounded(t *testing.T) {
	producer, consumer := between(t)
	var shared []string
	for i := range mostTold + 10 {
		name := fmt.Sprintf("north/q/s%05d", i)
		producer.output(name)
		shared = append(shared, name)
	}
	producer.shelf.share(shared...)
	last := shared[len(shared)-1]
	require.NotContains(t, producer.names(consumer.peer("south")), last)
	c, err := consumer.Open(t.Context(), producer.host.ID(), last, me(beginning))
	require.NoError(t, err)
	defer c.Close()
	require.Len(t, producer.names(consumer.peer("south")), mostTold)
	require.Contains(t, producer.names(consumer.peer("south")), last)
}

// TestTentativeOverLink shows that tentative results reach the subscription that asks for them, and no other.
func TestTentativeOverLink(t *testing.T) {
	producer, consumer := between(t)
	out := producer.output("north/q/o")
	run := tuple.Run{Producer: "p", Incarnation: 1, N: 1}
	tentative := rows(5, 3)
	tentative.Kind, tentative.Generation, tentative.FirstID, tentative.LastID, tentative.Run = tuple.Tentative, 0, 1, 3, run
	for _, f := range []*tuple.Frame{rows(1, 4), boundary(5), tentative, {Kind: tuple.TentativeBoundary, Time: 8, Run: run}} {
		out.Append(f)
	}
	open := func(s flow.Subscriber) flow.Cursor {
		c, err := consumer.Open(t.Context(), producer.host.ID(), "north/q/o", s)
		require.NoError(t, err)
		t.Cleanup(c.Close)
		return c
	}
	read := func(c flow.Cursor, until tuple.FrameKind, at tuple.Time) (kinds []tuple.FrameKind) {
		for {
			f, err := c.Next(t.Context())
			require.NoError(t, err)
			kinds = append(kinds, f.Kind)
			if f.Kind == until && f.Time == at {
				return kinds
			}
		}
	}
	asks := me(beginning)
	asks.Tentative, asks.TentativeFrom = true, tuple.MinTime
	latest, stable := open(asks), open(me(beginning))
	require.Contains(t, read(latest, tuple.TentativeBoundary, 8), tuple.Tentative)
	out.Append(rows(5, 4))
	out.Append(boundary(9))
	require.Equal(t, tuple.Insertion, read(latest, tuple.Boundary, 9)[0], "the corrections follow")
	require.Equal(t, []tuple.FrameKind{tuple.Insertion, tuple.Boundary, tuple.Insertion, tuple.Boundary}, read(stable, tuple.Boundary, 9))
}

// BenchmarkBeat measures what one heartbeat of 1,000 streams costs.
func BenchmarkBeat(b *testing.B) {
	s := &shelf{streams: make(map[string]flow.Stream)}
	for i := range 1000 {
		o := flow.NewOutput(flow.OutputConfig{Name: fmt.Sprintf("north/q/s%d", i), Schema: schema, Limit: 1 << 20, Generation: 1, Start: beginning})
		s.put(o)
		s.shared = append(s.shared, o.Name())
	}
	l := New(s, nil)
	l.ctx = b.Context()
	p := p2p.Peer{ID: "peer", Member: trust.Member{Org: "south", Node: "n"}}
	for b.Loop() {
		if len(l.Beat(p)) != 1000 {
			b.Fatal("not all streams are told of")
		}
	}
}
