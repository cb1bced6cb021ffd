package replica

import (
	"fmt"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// stream is what one input carries: a row and a boundary every 100 ms of stime, the same from every producer.
type stream struct {
	schema *tuple.Schema
	offset tuple.Time
	log    []*tuple.Frame
	last   uint64
	ended  bool
}

// produce logs what an instant brings; at is its stime.
func (s *stream) produce(at tuple.Time) {
	if s.ended || int64(at)%(100*ms) != 0 {
		return
	}
	if stime := at - 50*ms + s.offset; stime > 0 {
		b := tuple.NewBatchBuilder(s.schema)
		b.AppendInt(0, int64(stime))
		b.AppendBin(1, fmt.Appendf(nil, "k%d", s.last%3))
		b.AppendInt(2, int64(s.last%7))
		b.EndRow(stime)
		s.last++
		s.log = append(s.log, &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: s.last, LastID: s.last, Batch: b.Take()})
	}
	s.log = append(s.log, &tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: at})
}

func (s *stream) end() {
	if !s.ended {
		s.ended = true
		s.log = append(s.log, &tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: tuple.MaxTime})
	}
}

// mode is what a producer does.
type mode uint8

const (
	gives    mode = iota // STABLE
	lacks                // UPSTREAM_FAILURE: two rows of three, tentatively
	floods               // UPSTREAM_FAILURE: each row 20 times
	corrects             // STABILIZATION: what it lacked, a little at a time
	stalls               // it says STABLE and gives nothing
	fails                // FAILURE
)

var modes = map[string]mode{"gives": gives, "lacks": lacks, "floods": floods, "corrects": corrects, "stalls": stalls, "fails": fails}

// producer is one replica of the fragment, or source proxy, that an input is read from.
type producer struct {
	name   string
	stream *stream
	mode   mode
	server
	made     int // frames of the log that it has given
	told     int // frames that it has given tentatively
	run      tuple.Run
	open     bool
	boundary tuple.Time
	last     uint64
}

func newProducer(name string, s *stream) *producer {
	return &producer{name: name, stream: s, run: tuple.Run{Producer: name, Incarnation: 1}, boundary: tuple.MinTime, server: newServer(1)}
}

// step gives what there is to give.
func (p *producer) step() {
	switch p.mode {
	case gives:
		p.stable(len(p.stream.log))
	case corrects:
		p.stable(min(len(p.stream.log), p.made+2))
		if p.made == len(p.stream.log) {
			p.mode = gives
		}
	case lacks, floods:
		p.tentative()
	}
	if p.mode == gives && p.open && p.made >= p.told {
		p.open = false
		p.emit(&tuple.Frame{Kind: tuple.RecDone, Run: p.run})
	}
}

func (p *producer) stable(to int) {
	for ; p.made < to; p.made++ {
		f := p.stream.log[p.made]
		if f.Kind == tuple.Boundary {
			p.boundary = f.Time
		} else {
			p.last = f.LastID
		}
		p.emit(f)
	}
}

// tentative gives the rows that are not divisible by three, and boundaries.
func (p *producer) tentative() {
	if !p.open {
		p.run.N++
		p.open, p.told = true, p.made
	}
	missing := []tuple.Missing{{Stream: "far/x", Since: p.boundary}}
	for ; p.told < len(p.stream.log); p.told++ {
		switch f := p.stream.log[p.told]; {
		case f.Kind == tuple.Boundary && f.Time != tuple.MaxTime:
			p.emit(&tuple.Frame{Kind: tuple.TentativeBoundary, Run: p.run, Time: f.Time, Missing: missing})
		case f.Kind == tuple.Insertion && f.FirstID%3 != 0:
			copies := 1
			if p.mode == floods {
				copies = 20
			}
			for range copies {
				p.emit(&tuple.Frame{Kind: tuple.Tentative, Run: p.run, FirstID: f.FirstID, LastID: f.LastID, Batch: f.Batch, Missing: missing})
			}
		}
	}
}

// set changes what the producer does. One that lacked something corrects that first.
func (p *producer) set(m mode) {
	if m == gives && p.made < len(p.stream.log) && p.open {
		m = corrects
	}
	p.mode = m
}

func (p *producer) status() dcaa.StreamStatus {
	s := dcaa.StreamStatus{State: dcaa.Stable, Boundary: p.boundary, Generation: 1, LastID: p.last}
	switch {
	case p.boundary == tuple.MaxTime:
		s.State = dcaa.Ended
	case p.mode == lacks || p.mode == floods:
		s.State = dcaa.UpstreamFailure
	case p.mode == corrects:
		s.State = dcaa.Stabilization
	case p.mode == fails:
		s.State = dcaa.Failure
	case p.boundary == tuple.MinTime:
		s.State = dcaa.Starting
	}
	return s
}

// server gives the frames of one output to whoever has asked.
type server struct {
	buffer *dcaa.OutputBuffer
	stable []*tuple.Frame // all of them: a recovery point holds the buffer too
	conns  []*cursor
}

// cursor is one subscription, of a consumer that names it id.
type cursor struct {
	to          consumer
	id          uint64
	granted     bool
	tentative   bool
	stable, run uint64
}

// consumer is who holds the other end of a cursor.
type consumer interface {
	opened(id uint64)
	closed(id uint64)
	truncated(id uint64, first tuple.Position)
	frame(id uint64, f *tuple.Frame)
}

func newServer(generation uint64) server {
	return server{buffer: dcaa.NewOutputBuffer(generation, tuple.Position{Generation: generation, Time: tuple.MinTime})}
}

func (s *server) emit(f *tuple.Frame) {
	switch f.Kind {
	case tuple.Insertion, tuple.Boundary, tuple.Gap:
		s.stable = append(s.stable, f)
		s.buffer.Append(f)
	default:
		s.buffer.AppendTentative(f, 1<<26)
	}
}

// ask is a consumer's request; it is answered with the next frames.
func (s *server) ask(to consumer, o dcaa.Opening) {
	c := &cursor{to: to, id: o.Conn, tentative: o.Tentative, stable: s.buffer.Seek(o.From)}
	if o.Tentative {
		c.run = s.buffer.SeekRun(o.TentativeFrom)
	}
	s.conns = append(s.conns, c)
	if s.buffer.Reaches(o.From) != nil {
		s.drop(o.Conn, to)
		to.truncated(o.Conn, s.buffer.Truncated())
	}
}

func (s *server) drop(id uint64, to consumer) {
	for k, c := range s.conns {
		if c.id == id && c.to == to {
			s.conns = append(s.conns[:k:k], s.conns[k+1:]...)
			return
		}
	}
}

// cut ends the connections of a consumer; both sides notice.
func (s *server) cut(to consumer) {
	for _, c := range append([]*cursor(nil), s.conns...) {
		if c.to == to {
			s.drop(c.id, to)
			to.closed(c.id)
		}
	}
}

// deliver gives every consumer what it has not been given yet.
func (s *server) deliver() {
	for _, c := range append([]*cursor(nil), s.conns...) {
		if !c.granted {
			c.granted = true
			c.to.opened(c.id)
		}
		for f := s.next(c); f != nil; f = s.next(c) {
			c.to.frame(c.id, f)
		}
	}
}

// next returns what comes next on a cursor, in the order in which it was emitted; nil if that is nothing, or the consumer
// has ended the subscription.
func (s *server) next(c *cursor) *tuple.Frame {
	held := false
	for _, o := range s.conns {
		held = held || o == c
	}
	if !held {
		return nil
	}
	f, at, ok := s.buffer.Frame(c.stable)
	if c.tentative {
		if g, seq, also := s.buffer.RunFrame(c.run, c.stable); also && (!ok || seq < at) {
			c.run = seq + 1
			return g
		}
	}
	if !ok {
		return nil
	}
	c.stable = at + 1
	return f
}
