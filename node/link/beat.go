package link

import (
	"slices"
	"strings"
	"time"

	"fednode/dcaa"
	"fednode/node/flow"
	"fednode/node/p2p"
	"fednode/node/wire"
)

// mostTold is how many streams a heartbeat tells of. Those that the peer subscribes to come first.
const mostTold = 2048

// toldFor is how long a list of streams serves at most: an export may end meanwhile.
const toldFor = time.Second

// beat is the list of streams that heartbeats tell one peer of. It is made anew when something has changed, not ten times
// a second.
type beat struct {
	local, served uint64 // versions that it was made from
	until         time.Time
	streams       []flow.Stream // by name
}

// Beat says how the streams fare that a peer shares with us: those it subscribes to, and those it may have to read next.
func (l *Link) Beat(p p2p.Peer) []wire.StreamStatus {
	list := l.told(p, time.Now())
	out := make([]wire.StreamStatus, len(list))
	for i, st := range list {
		out[i] = StatusOf(st)
	}
	return out
}

// told returns the streams to tell a peer of.
func (l *Link) told(p p2p.Peer, now time.Time) []flow.Stream {
	version := l.local.Version()
	l.mu.Lock()
	have, served := l.beats[p.ID], l.served
	l.mu.Unlock()
	if have != nil && have.local == version && have.served == served && now.Before(have.until) {
		return have.streams
	}
	b := &beat{local: version, served: served, until: now.Add(toldFor), streams: l.permitted(p, l.subscribed(p))}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx != nil { // a peer that goes meanwhile leaves one list behind at most
		l.beats[p.ID] = b
	}
	return b.streams
}

// subscribed returns the streams that a peer subscribes to, by name.
func (l *Link) subscribed(p p2p.Peer) []flow.Stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []flow.Stream
	for k, s := range l.serving {
		if k.peer == p.ID {
			out = append(out, s.stream)
		}
	}
	slices.SortFunc(out, byName)
	return slices.CompactFunc(out, sameName)
}

// permitted adds what a peer shares with us to what it subscribes to, leaves out what it may not have, and sorts by name.
func (l *Link) permitted(p p2p.Peer, subscribed []flow.Stream) []flow.Stream {
	var out []flow.Stream
	seen := make(map[string]bool)
	add := func(st flow.Stream) {
		if st == nil || seen[st.Name()] || len(out) == mostTold {
			return
		}
		seen[st.Name()] = true
		if x, err := l.local.Permit(st.Name(), p.Member.Org); err == nil {
			if x != nil {
				st = unsummed{st}
			}
			out = append(out, st)
		}
	}
	for _, st := range subscribed {
		add(st)
	}
	for _, name := range l.local.Shared(p.Member.Org, p.Member.Node) {
		add(l.local.Find(name))
	}
	slices.SortFunc(out, byName)
	return out
}

// unsummed is a stream that leaves through an export: its checksums are of rows and columns that may not leave.
type unsummed struct{ flow.Stream }

// Beat is what heartbeats say of the stream.
func (u unsummed) Beat() dcaa.StreamStatus {
	b := u.Stream.Beat()
	b.Sum = 0
	return b
}

func byName(a, b flow.Stream) int    { return strings.Compare(a.Name(), b.Name()) }
func sameName(a, b flow.Stream) bool { return a.Name() == b.Name() }

// StatusOf is a stream as a heartbeat shows it.
func StatusOf(st flow.Stream) wire.StreamStatus {
	b := st.Beat()
	return wire.StreamStatus{Name: st.Name(), State: wire.StreamState(b.State), Boundary: b.Boundary, Holding: b.Holding, Generation: b.Generation, LastID: b.LastID, Sum: b.Sum, Begins: b.Begins, Above: b.Above}
}
