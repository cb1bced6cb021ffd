package world

// item is something that waits for a node's processor: a message or the end of a commit.
type item struct {
	kind eventKind // evArrive or evStored
	arg  uint32
}

// inbox holds items in order of arrival.
type inbox struct {
	items []item
	head  int
}

func (b *inbox) len() int { return len(b.items) - b.head }

func (b *inbox) push(i item) { b.items = append(b.items, i) }

func (b *inbox) pop() item {
	i := b.items[b.head]
	b.head++
	if b.head == len(b.items) {
		b.items, b.head = b.items[:0], 0
	}
	return i
}

// node is one machine with at most one running program.
type node struct {
	program Program // nil while it is down
	life    uint64  // counts from 1
	off     bool    // the machine is off: nothing answers
	paused  bool
	// slow is how much longer everything takes, in percent.
	slow  int64
	clock clock
	disk  disk
	inbox inbox
	// busy is until when the processor is taken.
	busy int64
	// spent is how long it has been taken in all.
	spent int64
	// ready: an evReady is on its way.
	ready bool
	// wakeAt is the world time of the evWake that counts, whose number is wake; noWake if there is none.
	wakeAt int64
	wake   uint32
	woken  bool // Due has come while the processor was taken
}

const noWake = int64(-1)

// free reports whether the program could take something now.
func (n *node) free(now int64) bool { return !n.paused && n.busy <= now && n.inbox.len() == 0 }

// arrive hands an item to the program, now or when its turn comes.
func (w *World) arrive(id NodeID, i item) {
	n := &w.nodes[id]
	if !n.free(w.now) {
		n.inbox.push(i)
		w.awaitReady(id)
		return
	}
	w.handle(id, i)
	w.rearm(id)
}

// awaitReady makes sure that the node looks at its inbox when it can.
func (w *World) awaitReady(id NodeID) {
	n := &w.nodes[id]
	if n.ready || n.paused {
		return
	}
	n.ready = true
	w.queue.push(event{at: max(n.busy, w.now), kind: evReady, node: id})
}

// work takes what waits in the inbox, and wakes the program once nothing waits.
func (w *World) work(id NodeID) {
	n := &w.nodes[id]
	n.ready = false
	for n.program != nil && !n.paused && n.busy <= w.now {
		if n.inbox.len() > 0 {
			w.handle(id, n.inbox.pop())
			continue
		}
		if n.woken {
			n.woken = false
			w.wakeUp(id)
		}
		break
	}
	if n.program == nil {
		return
	}
	if n.inbox.len() > 0 || n.woken {
		w.awaitReady(id)
	}
	w.rearm(id)
}

// handle hands one item to the program.
func (w *World) handle(id NodeID, i item) {
	n := &w.nodes[id]
	w.current = id
	w.Steps++
	if i.kind == evStored {
		c := n.disk.take(i.arg)
		n.program.Stored(i.arg, c.ok)
		w.flush()
		return
	}
	w.deliver(n, id, i.arg)
	w.pool.put(i.arg)
	w.flush()
}

// due acts on an evWake.
func (w *World) due(id NodeID, number uint32) {
	n := &w.nodes[id]
	if n.program == nil || n.wakeAt == noWake || number != n.wake {
		return
	}
	n.wakeAt = noWake
	if !n.free(w.now) {
		n.woken = true
		w.awaitReady(id)
		return
	}
	w.wakeUp(id)
	w.rearm(id)
}

// wakeUp wakes the program if what it waits for has come.
func (w *World) wakeUp(id NodeID) {
	n := &w.nodes[id]
	w.current = id // Due may look at the clock
	if n.clock.read(w.now) < n.program.Due() {
		return
	}
	w.Steps++
	n.program.Wake()
	w.flush()
}

// rearm sees to it that the program is woken when it wants to be.
func (w *World) rearm(id NodeID) {
	n := &w.nodes[id]
	if n.program == nil || n.woken {
		return
	}
	w.current = id // Due may look at the clock
	due := n.program.Due()
	if due == Never {
		return
	}
	at := max(n.clock.when(due), w.now)
	if n.wakeAt != noWake && n.wakeAt <= at {
		return // the earlier one looks again
	}
	n.wake++
	n.wakeAt = at
	w.queue.push(event{at: at, kind: evWake, node: id, arg: n.wake})
}

// Spend says that what the running program does takes so many microseconds on a healthy node.
func (w *World) Spend(us int64) {
	n := &w.nodes[w.current]
	n.busy = max(n.busy, w.now) + us*n.slow/100
	n.spent += us * n.slow / 100
}

// Spent is the processor time that the programs of a node have taken, in microseconds.
func (w *World) Spent(id NodeID) int64 { return w.nodes[id].spent }

// Start begins a life of a node that is down.
func (w *World) Start(id NodeID) {
	n := &w.nodes[id]
	if n.program != nil {
		return
	}
	n.off = false
	n.life++
	n.busy = w.now
	n.program = w.cfg.NewProgram(id, n.life)
	w.current = id
	n.program.Boot()
	w.flush()
	w.rearm(id)
}

// Crash ends the life of a node: what its memory held is gone. A silent one takes the machine along, so that its peers
// hear nothing; otherwise its kernel tells them that the connections are over.
func (w *World) Crash(id NodeID, silent bool) {
	n := &w.nodes[id]
	if n.program == nil {
		return
	}
	n.program = nil
	n.paused, n.woken, n.wakeAt = false, false, noWake
	for n.inbox.len() > 0 {
		if i := n.inbox.pop(); i.kind == evArrive {
			w.pool.put(i.arg)
		}
	}
	n.disk.crash()
	n.off = silent
	for p := range w.nodes {
		w.hangUp(id, NodeID(p), silent)
	}
}

// Pause stops a node's processor, as SIGSTOP does; its connections stand.
func (w *World) Pause(id NodeID) {
	if n := &w.nodes[id]; n.program != nil {
		n.paused = true
	}
}

// Resume lets a paused node go on. What has arrived meanwhile comes before what has become due.
func (w *World) Resume(id NodeID) {
	n := &w.nodes[id]
	if !n.paused {
		return
	}
	n.paused = false
	n.busy = max(n.busy, w.now)
	w.awaitReady(id)
}

// SetSlow makes everything on a node take percent of what it does on a healthy one.
func (w *World) SetSlow(id NodeID, percent int64) { w.nodes[id].slow = percent }

// Jump moves a node's clock ahead by so many microseconds, as a machine that slept.
func (w *World) Jump(id NodeID, us int64) {
	n := &w.nodes[id]
	n.clock.jump(w.now, us)
	n.wakeAt = noWake
	w.rearm(id)
}

// Up reports whether a program runs on a node; a paused one does.
func (w *World) Up(id NodeID) bool { return w.nodes[id].program != nil }

// Healthy reports whether a node runs, is not paused and not slowed.
func (w *World) Healthy(id NodeID) bool {
	n := &w.nodes[id]
	return n.program != nil && !n.paused && n.slow <= healthy
}

// Waiting returns how many items wait for the node's processor.
func (w *World) Waiting(id NodeID) int { return w.nodes[id].inbox.len() }

const healthy = 100
