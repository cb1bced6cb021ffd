package link

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/dcaa"
	"fednode/node/export"
	"fednode/node/flow"
	"fednode/query/tuple"
)

// me is the consumer's subscription.
func me(from tuple.Position) flow.Subscriber {
	return flow.Subscriber{Name: "south/n/q/f", From: from, Durable: from, Counted: true}
}

// TestReplay shows that a stream of a peer is read as if it were here, from any position, and that what is acknowledged
// over the link frees the producer's buffer.
func TestReplay(t *testing.T) {
	producer, consumer := between(t)
	out := producer.output("north/q/o")
	for id := uint64(1); id <= 100; id += 10 {
		out.Append(rows(id, 10))
		out.Append(boundary(tuple.Time(id + 10)))
	}
	for _, from := range []tuple.Position{beginning, {Generation: 1, ID: 30, Time: 31}, {Generation: 1, ID: 35, Time: 31}} {
		in := follow(consumer, producer, from)
		at := from
		for at.Time < 101 {
			f, err := in.Next(t.Context())
			require.NoError(t, err)
			if f.Kind == tuple.Boundary {
				at.Time = f.Time
				continue
			}
			require.Equal(t, at.ID+1, f.FirstID)
			require.EqualValues(t, f.FirstID, f.Batch.Cols[0].Int[f.Batch.Row(0)])
			at.ID, at.Generation = f.LastID, f.Generation
		}
		require.EqualValues(t, 100, at.ID)
		if from == beginning {
			in.Ack(tuple.Position{Generation: 1, ID: 30, Time: 31})
			require.Eventually(t, func() bool { return out.Subscribers()["south/n/q/f"].ID == 30 }, patient, time.Millisecond)
		}
		in.Close()
	}
}

// TestGapOverLink shows that who asks for what is gone is told the oldest position and up to which stime rows are lost, and
// that a GAP of the stream itself arrives.
func TestGapOverLink(t *testing.T) {
	producer, consumer := between(t)
	out := producer.output("north/q/o", "north/n/other")
	out.Append(rows(1, 10))
	out.Append(rows(11, 10))
	out.Ack("north/n/other", tuple.Position{Generation: 1, ID: 10, Time: tuple.MinTime})
	out.Append(&tuple.Frame{Kind: tuple.Gap, Generation: 1, FirstID: 20, Time: 3, To: 4, Reason: "lost"})
	_, err := consumer.Open(t.Context(), producer.host.ID(), "north/q/o", me(beginning))
	var gone *dcaa.TruncatedError
	require.ErrorAs(t, err, &gone)
	require.Equal(t, tuple.Position{Generation: 1, ID: 10, Time: 11}, gone.First)

	in := follow(consumer, producer, beginning)
	defer in.Close()
	var got []string
	for range 3 {
		f, err := in.Next(t.Context())
		require.NoError(t, err)
		if f.Kind == tuple.Gap {
			got = append(got, fmt.Sprintf("gap behind %d up to %d", f.FirstID, f.To))
			continue
		}
		got = append(got, f.String())
	}
	require.Equal(t, []string{"gap behind 10 up to 11", "INSERTION 1:11-20 rows=10", "gap behind 20 up to 4"}, got)
}

// TestRefusals shows that a peer is told why it does not get a stream, in a form that its consumer can act on.
func TestRefusals(t *testing.T) {
	producer, consumer := between(t)
	producer.output("north/q/o")
	open := func(stream, name string) error {
		_, err := consumer.Open(t.Context(), producer.host.ID(), stream, flow.Subscriber{Name: name, From: beginning, Durable: beginning, Counted: true})
		return err
	}
	require.ErrorAs(t, open("north/q/none", "south/n/q/f"), new(*NoStreamError))
	require.ErrorContains(t, open("north/q/o", "north/n/q/f"), "does not belong to south", "a name of another organisation")
	for n := range flow.MaxPerOrg {
		require.NoError(t, open("north/q/o", fmt.Sprint("south/n/q/f", n)))
	}
	require.ErrorContains(t, open("north/q/o", "south/n/q/more"), "no more are")
	producer.shelf.deny(errors.New("no clause lets it leave"))
	var refused *flow.RefusedError
	require.ErrorAs(t, open("north/q/o", "south/n/q/f0"), &refused)
	require.Contains(t, refused.Reason, "no clause lets it leave")
}

// TestExportEnds shows that a stream whose export ends while it is read is taken back, with the reason.
func TestExportEnds(t *testing.T) {
	producer, consumer := between(t)
	producer.shelf.export = &export.Export{Name: "x", Stream: "north/q/o", Columns: []export.Column{{Name: "v"}}}
	out := producer.output("north/q/o")
	out.Append(rows(1, 3))
	c, err := consumer.Open(t.Context(), producer.host.ID(), "north/q/o", me(beginning))
	require.NoError(t, err)
	defer c.Close()
	f, err := c.Next(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, f.LastID)
	producer.shelf.deny(errors.New("it has expired"))
	out.Append(rows(4, 3))
	_, err = c.Next(t.Context())
	require.Error(t, err, "what was appended after the export had ended")
	_, err = consumer.Open(t.Context(), producer.host.ID(), "north/q/o", me(beginning))
	require.ErrorContains(t, err, "it has expired")
}

// TestReconnect shows that over connections that break again and again every id arrives once and in order.
func TestReconnect(t *testing.T) {
	producer, consumer := between(t)
	out := producer.output("north/q/o")
	in := follow(consumer, producer, beginning)
	defer in.Close()
	next := uint64(1)
	for cut := range uint64(4) {
		for id := cut*30 + 1; id <= (cut+1)*30; id += 3 {
			out.Append(rows(id, 3))
		}
		for next <= cut*30+15 { // some of it, and then the connection breaks
			f, err := in.Next(t.Context())
			require.NoError(t, err)
			require.Equal(t, next, f.FirstID)
			next = f.LastID + 1
		}
		require.NoError(t, consumer.host.Libp2p().Network().ClosePeer(producer.host.ID()))
	}
	for next <= 120 {
		f, err := in.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, next, f.FirstID)
		next = f.LastID + 1
	}
}

// TestStreamCloses shows that a stream which stops at its producer ends at the consumer after its last frame.
func TestStreamCloses(t *testing.T) {
	producer, consumer := between(t)
	out := producer.output("north/q/o")
	out.Append(rows(1, 3))
	c, err := consumer.Open(t.Context(), producer.host.ID(), "north/q/o", me(beginning))
	require.NoError(t, err)
	defer c.Close()
	out.Close()
	f, err := c.Next(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, f.LastID)
	_, err = c.Next(t.Context())
	require.Error(t, err)
}

// TestPermissionEndsWhileOpen shows that a stream which a query makes, and which passes through no export, ends where it may
// no longer be read, before another frame leaves.
func TestPermissionEndsWhileOpen(t *testing.T) {
	producer, consumer := between(t)
	out := producer.output("north/q/o")
	out.Append(rows(1, 10))
	in, err := consumer.Open(t.Context(), producer.host.ID(), "north/q/o", me(beginning))
	require.NoError(t, err)
	defer in.Close()
	f, err := in.Next(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 10, f.LastID)
	producer.shelf.deny(&export.DeniedError{Stream: "north/a", Org: "south", Why: "it has expired"})
	out.Append(rows(11, 10))
	_, err = in.Next(t.Context())
	require.Error(t, err)
	var refused *flow.RefusedError
	if !errors.As(err, &refused) {
		// The end of the data stream may overtake the reason, which goes on the control stream; who asks anew hears it.
		_, err = consumer.Open(t.Context(), producer.host.ID(), "north/q/o", me(tuple.Position{Generation: 1, ID: 10, Time: tuple.MinTime}))
		require.ErrorAs(t, err, &refused)
	}
	require.Contains(t, refused.Reason, "has expired")
}
