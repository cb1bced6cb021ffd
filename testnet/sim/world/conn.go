package world

// pair is the connection between two nodes, if there is one. Index 0 is the end of the lower id.
type pair struct {
	// epoch numbers the connection that each end holds for standing or last held; they differ while one end does not know
	// of a newer one.
	epoch [2]uint32
	open  [2]bool
	// known is the epoch of the connection that the program of the end was last told of. What it sends goes there: a program
	// that stood still while a connection was replaced speaks into the old one until it hears of the new one.
	known [2]uint32
	// ended is the last epoch that the program of the end closed itself: nothing of it is handed over.
	ended [2]uint32
	// dialing is the epoch that the end has asked for, 0 if it has asked for none.
	dialing [2]uint32
	next    uint32
}

// ends returns the pair of two nodes, and which end a is.
func (w *World) ends(a, b NodeID) (*pair, int) {
	if a < b {
		return &w.pairs[int(a)*len(w.nodes)+int(b)], 0
	}
	return &w.pairs[int(b)*len(w.nodes)+int(a)], 1
}

// Dial asks for a connection from the running node to a peer. Opened or Closed follows.
func (w *World) Dial(to NodeID) {
	from := w.current
	p, me := w.ends(from, to)
	p.next++
	p.dialing[me] = p.next
	w.signal(from, to, sigDial, p.next)
	w.queue.push(event{at: w.now + w.cfg.DialTimeout, kind: evDialEnd, node: from, arg: uint32(to)<<16 | p.next&0xffff})
}

// stands reports whether the connection that the program of an end knows of stands.
func (p *pair) stands(end int) bool { return p.open[end] && p.known[end] == p.epoch[end] }

// signal sends a message of the kernel's own.
func (w *World) signal(from, to NodeID, s signal, epoch uint32) {
	number := w.pool.get()
	m := &w.pool.slots[number]
	m.signal, m.from, m.to, m.epoch = s, from, to, epoch
	w.transmit(w.link(from, to), number, w.now, 64)
}

// Send returns a message on its way from the running node to a peer, to be filled in before anything else is asked of the
// world; nil if the connection that the program knows of does not stand. It leaves when what the program has spent is paid.
func (w *World) Send(to NodeID, bytes int64, control bool) *Message {
	from := w.current
	p, me := w.ends(from, to)
	if !p.stands(me) {
		return nil
	}
	number := w.pool.get()
	m := &w.pool.slots[number]
	m.from, m.to, m.epoch, m.Control = from, to, p.epoch[me], control
	w.outgoing = append(w.outgoing, leaving{number: number, bytes: bytes})
	return m
}

// leaving is a message that the running program has sent and that is not on the wire yet.
type leaving struct {
	number uint32
	bytes  int64
}

// flush puts on the wire what the program sent during the last call.
func (w *World) flush() {
	at := w.now
	if len(w.outgoing) == 0 {
		return
	}
	at = max(at, w.nodes[w.current].busy)
	for _, o := range w.outgoing {
		m := &w.pool.slots[o.number]
		w.transmit(w.link(m.from, m.to), o.number, at, o.bytes)
	}
	w.outgoing = w.outgoing[:0]
}

// Hang ends the connection with a peer that the running program knows of; the peer hears of it, the program does not.
func (w *World) Hang(to NodeID) {
	p, me := w.ends(w.current, to)
	if p.stands(me) {
		w.hangUp(w.current, to, false)
	}
	p.ended[me] = max(p.ended[me], p.known[me])
}

func (w *World) hangUp(from, to NodeID, silent bool) {
	if from == to {
		return
	}
	p, me := w.ends(from, to)
	p.dialing[me] = 0
	if !p.open[me] {
		return
	}
	p.open[me] = false
	p.ended[me] = p.epoch[me]
	w.forget(w.link(from, to), p.epoch[me])
	if !silent {
		w.signal(from, to, sigReset, p.epoch[me])
	}
}

// forget drops what waits to be sent again on a connection that is over.
func (w *World) forget(l *link, epoch uint32) {
	kept := l.held[:0]
	for _, number := range l.held {
		if w.pool.slots[number].epoch == epoch {
			w.pool.put(number)
			continue
		}
		kept = append(kept, number)
	}
	l.held = kept
}

// Reset breaks the connection of two nodes, as a middlebox that forgets it: both ends hear of it.
func (w *World) Reset(a, b NodeID) {
	p, me := w.ends(a, b)
	for _, e := range [2]struct {
		to   NodeID
		from NodeID
		end  int
	}{{a, b, me}, {b, a, 1 - me}} {
		if !p.open[e.end] {
			continue
		}
		number := w.pool.get()
		m := &w.pool.slots[number]
		m.signal, m.from, m.to, m.epoch = sigReset, e.from, e.to, p.epoch[e.end]
		w.queue.push(event{at: w.now, kind: evArrive, node: e.to, arg: number})
	}
}

// receive acts on a message that reached a machine: first what its kernel does, whatever its program is up to.
func (w *World) receive(id NodeID, number uint32) {
	m := &w.pool.slots[number]
	n := &w.nodes[id]
	p, me := w.ends(id, m.from)
	pass := false
	if !n.off {
		switch m.signal {
		case sigDial:
			pass = w.accept(n, m, p, me)
		case sigAccept:
			pass = p.dialing[me] == m.epoch && n.program != nil
			if pass {
				p.dialing[me], p.epoch[me], p.open[me] = 0, m.epoch, true
			} else {
				w.signal(id, m.from, sigReset, m.epoch)
			}
		case sigReset:
			if p.dialing[me] == m.epoch {
				p.dialing[me], pass = 0, true
			}
			if p.open[me] && p.epoch[me] == m.epoch {
				p.open[me], pass = false, true
				w.forget(w.link(id, m.from), m.epoch)
			}
		default:
			pass = p.open[me] && p.epoch[me] == m.epoch
			if !pass {
				w.signal(id, m.from, sigReset, m.epoch)
				m = &w.pool.slots[number]
			}
		}
	}
	if !pass || n.program == nil {
		w.pool.put(number)
		return
	}
	w.arrive(id, item{kind: evArrive, arg: number})
}

// accept answers a dial.
func (w *World) accept(n *node, m *Message, p *pair, me int) bool {
	from, to, epoch := m.to, m.from, m.epoch
	if n.program == nil {
		w.signal(from, to, sigReset, epoch)
		return false
	}
	p.epoch[me], p.open[me], p.dialing[me] = epoch, true, 0
	w.signal(from, to, sigAccept, epoch)
	return true
}

// deliver hands a message to the program.
func (w *World) deliver(n *node, id NodeID, number uint32) {
	m := &w.pool.slots[number]
	p, me := w.ends(id, m.from)
	if m.epoch <= p.ended[me] {
		return
	}
	switch m.signal {
	case sigDial, sigAccept:
		p.known[me] = m.epoch
		n.program.Opened(m.from)
	case sigReset:
		why := Ended
		if m.epoch != p.known[me] {
			why = Refused
		}
		n.program.Closed(m.from, why)
	case sigLate:
		n.program.Closed(m.from, Unanswered)
	default:
		// A copy: the program may send, and the pool then move.
		w.scratch = *m
		n.program.Message(m.from, &w.scratch)
	}
}

// dialEnd gives up a dial that nobody answered.
func (w *World) dialEnd(id NodeID, arg uint32) {
	peer := NodeID(arg >> 16)
	p, me := w.ends(id, peer)
	if p.dialing[me] == 0 || p.dialing[me]&0xffff != arg&0xffff {
		return
	}
	epoch := p.dialing[me]
	p.dialing[me] = 0
	w.forget(w.link(id, peer), epoch)
	if w.nodes[id].program != nil {
		w.tell(id, peer, sigLate, epoch)
	}
}

// tell hands a signal to the program of a node without a way over the network.
func (w *World) tell(id, from NodeID, s signal, epoch uint32) {
	number := w.pool.get()
	m := &w.pool.slots[number]
	m.signal, m.from, m.to, m.epoch = s, from, id, epoch
	w.arrive(id, item{kind: evArrive, arg: number})
}
