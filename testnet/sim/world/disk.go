package world

// disk keeps the newest durable value of each slot over crashes.
type disk struct {
	slots   []any
	commits []commit // in order of their tickets
	first   uint32   // ticket of commits[0]
	freeAt  int64    // when the last commit ends
	full    bool
}

// commit is a value on its way to the disk.
type commit struct {
	slot  int
	value any
	// ended: durable, or refused if not ok; the program has not heard of it yet.
	ended, ok bool
	life      uint64
}

// Commit makes a value durable as the content of a slot, in order with the node's other commits, and returns the ticket
// under which Stored tells how it ended. A crash before that loses it. The value is not changed afterwards.
func (w *World) Commit(slot int, value any) uint32 {
	id := w.current
	n := &w.nodes[id]
	d := &n.disk
	ticket := d.first + uint32(len(d.commits))
	d.commits = append(d.commits, commit{slot: slot, value: value, life: n.life})
	took := w.cfg.DiskLatency/2 + w.Rand.Int64N(w.cfg.DiskLatency+1)
	d.freeAt = max(d.freeAt, max(n.busy, w.now)) + took
	w.queue.push(event{at: d.freeAt, kind: evStored, node: id, arg: ticket})
	return ticket
}

// Load returns what a slot of the running node's disk holds; nil if nothing was made durable.
func (w *World) Load(slot int) any { return w.nodes[w.current].disk.load(slot) }

func (d *disk) load(slot int) any {
	if slot >= len(d.slots) {
		return nil
	}
	return d.slots[slot]
}

// stored ends a commit: the disk did what it was asked, whatever the program does meanwhile.
func (w *World) stored(id NodeID, ticket uint32) {
	n := &w.nodes[id]
	d := &n.disk
	if ticket-d.first >= uint32(len(d.commits)) {
		return // lost in a crash
	}
	c := &d.commits[ticket-d.first]
	c.ended, c.ok = true, !d.full
	if c.ok {
		for len(d.slots) <= c.slot {
			d.slots = append(d.slots, nil)
		}
		d.slots[c.slot] = c.value
	}
	c.value = nil
	w.arrive(id, item{kind: evStored, arg: ticket})
}

// take removes a commit that has ended. They end in order.
func (d *disk) take(ticket uint32) commit {
	c := d.commits[0]
	d.commits[0] = commit{}
	d.commits = d.commits[1:]
	d.first = ticket + 1
	return c
}

// crash loses what is not durable.
func (d *disk) crash() {
	d.first += uint32(len(d.commits))
	d.commits = nil
}

// SetDiskFull says whether a node's commits are refused.
func (w *World) SetDiskFull(id NodeID, full bool) { w.nodes[id].disk.full = full }

// Wipe empties the disk of a node that is down: it comes back as a new one.
func (w *World) Wipe(id NodeID) {
	if n := &w.nodes[id]; n.program == nil {
		n.disk.slots = nil
	}
}

// DiskFull reports whether a node's commits are refused.
func (w *World) DiskFull(id NodeID) bool { return w.nodes[id].disk.full }
