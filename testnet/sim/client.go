package sim

import (
	"fednode/dcaa"
	"fednode/query/tuple"
	"fednode/testnet/sim/host"
	"fednode/testnet/sim/topology"
	"fednode/testnet/sim/world"
)

// client is the client proxy in one of its lives, with a sink that remembers what it has taken.
type client struct {
	h         *host.Host
	run       *Run
	stream    int32
	producers []world.NodeID
	intake    *dcaa.Intake
	commitAt  dcaa.Instant
	saving    *tuple.Position
	dirty     bool
}

// Slots of a client's disk.
const slotPosition = 0

// commitInterval is how often the client makes durable what it has taken, in microseconds.
const commitInterval = 1_000_000

func newClient(r *Run, h *host.Host) *client {
	return &client{h: h, run: r, stream: r.top.Output, producers: r.top.Streams[r.top.Output].Producers}
}

// Boot goes on from the stored position.
func (c *client) Boot() {
	now := c.h.Now()
	from := tuple.Position{Time: tuple.MinTime}
	if p, ok := c.h.W.Load(slotPosition).(*tuple.Position); ok {
		from = *p
	}
	c.commitAt = now.Add(commitInterval)
	var names []string
	for _, id := range c.producers {
		names = append(names, c.run.name(id))
	}
	c.intake = dcaa.NewIntake(dcaa.IntakeConfig{Settings: &c.run.settings, Producers: names, From: from,
		Tentative: c.run.top.Spec.Consistency != topology.StableOnly}, now, c, c.run.watch)
	c.run.watch.restart(from)
	c.run.changes.begin(c.h.ID)
	for _, id := range c.producers {
		c.Reachable(id, c.h.Up(id))
	}
}

// Due is when the choice of the producer is looked at, or the position stored.
func (c *client) Due() dcaa.Instant {
	if c.dirty {
		return c.h.Now()
	}
	return min(c.intake.Due(c.h.Now()), c.commitAt)
}

// Wake lets time pass.
func (c *client) Wake() {
	now := c.h.Now()
	c.dirty = false
	c.intake.Tick(now)
	if now >= c.intake.AbandonAt() {
		c.intake.Skip(now, "no replica holds these rows any more")
	}
	if now < c.commitAt {
		return
	}
	c.commitAt = now.Add(commitInterval)
	if c.saving == nil {
		at := c.intake.Position()
		c.saving = &at
		c.h.W.Commit(slotPosition, c.saving)
	}
}

// Stored acknowledges what is durable.
func (c *client) Stored(_ uint32, ok bool) {
	at := c.saving
	c.saving = nil
	if !ok || c.run.silent[c.h.ID] > 0 {
		return
	}
	for _, id := range c.producers {
		c.h.Ack(id, c.stream, *at)
	}
}

// Open asks a replica of the last fragment.
func (c *client) Open(o dcaa.Opening) {
	c.run.asks(c.h.ID, c.producers[o.Producer], c.stream, &o)
	c.h.Subscribe(c.producers[o.Producer], c.stream, o.Conn, host.Request{
		From: o.From, Durable: tuple.Position{Generation: o.From.Generation, Time: tuple.MinTime}, Tentative: o.Tentative, TentativeFrom: o.TentativeFrom,
	})
}

// Close ends a subscription.
func (c *client) Close(conn uint64) {
	c.run.leaves(c.h.ID, c.stream, conn)
	c.h.Unsubscribe(c.stream, conn)
}

// Diverged says that two replicas of the last fragment differ.
func (c *client) Diverged(d dcaa.Divergence) { c.run.diverged(c.h.ID, c.stream, d) }

// Frame takes what a replica gives.
func (c *client) Frame(_ int32, conn uint64, f *tuple.Frame) {
	c.run.changes.frame(c.h, c.stream, conn, f)
	if err := c.intake.Frame(c.h.Now(), conn, f); err != nil {
		c.run.broken("a producer broke the protocol: client: " + err.Error())
	}
	c.dirty = true
}

// Heard takes what a heartbeat says of the stream.
func (c *client) Heard(peer world.NodeID, streams []world.Status) {
	for i := range streams {
		if streams[i].Stream != c.stream {
			continue
		}
		for k, id := range c.producers {
			if id == peer {
				c.run.changes.heard(c.h.ID, peer, &streams[i])
				c.intake.Measured(k, c.h.Way(peer))
				c.intake.Heard(c.h.Now(), k, streams[i].StreamStatus)
				c.dirty = true
			}
		}
	}
}

// Reachable takes in whether a replica can be talked to.
func (c *client) Reachable(peer world.NodeID, up bool) {
	c.run.reaches(c.h.ID, peer, up)
	for k, id := range c.producers {
		if id == peer {
			c.intake.Reachable(c.h.Now(), k, up)
			c.dirty = true
		}
	}
}

// Opened, Refused, Truncated and Closed pass answers on.

// Opened grants a subscription.
func (c *client) Opened(_ int32, conn uint64) { c.intake.Opened(c.h.Now(), conn); c.dirty = true }

// Refused declines one for now.
func (c *client) Refused(_ int32, conn uint64) { c.intake.Refused(c.h.Now(), conn); c.dirty = true }

// Truncated declines one that asks for what is gone.
func (c *client) Truncated(_ int32, conn uint64, first tuple.Position) {
	c.intake.Truncated(c.h.Now(), conn, first)
	c.dirty = true
}

// Closed ends one.
func (c *client) Closed(_ int32, conn uint64) { c.intake.Closed(c.h.Now(), conn); c.dirty = true }

// Resumed says that the node stood still.
func (c *client) Resumed(gap int64) { c.intake.Resumed(c.h.Now(), gap); c.dirty = true }

// Owe says whether input waits.
func (c *client) Owe(owing bool) { c.intake.Owe(owing) }

// Beat says nothing: nobody reads from a client.
func (c *client) Beat(_ world.NodeID, beat []world.Status) []world.Status { return beat }

// Acked is not expected.
func (c *client) Acked(world.NodeID, int32, tuple.Position) {}

// Peer is not expected.
func (c *client) Peer(world.NodeID, any) {}
