package dcaa

import (
	"slices"
	"strings"
)

// permissionRepeat is the time between two repetitions of a request, in microseconds.
const permissionRepeat int64 = 1_000_000

// permissionPatience is how long a replica is waited for that is there and says nothing to a request, in microseconds. One
// that redoes says nothing either, and seldom for so long; another one may be at fault, or mean no good.
const permissionPatience = 600 * second

// Permission decides when a replica of a fragment may redo at full speed, such that of the replicas that can talk to
// each other at most one does, and none that wants waits for ever.
//
// A redo begins when every other replica has said yes to the present request or is absent at that moment. The request
// that counts most, by missed buckets and then by the lower name, goes first: who has an outstanding request that counts
// more, or is redoing, keeps its yes until it has finished. Who says yes while it asks gives up what it has been granted
// so far and asks again under the next number, else two could hold each other's yes at once.
//
// Two redoing at once, with a partition between them or because one was not waited for any longer, is slower, never wrong. The
// recovery of a replica after a crash needs no permission and is not announced here.
//
// After each call the caller takes the messages to send with [Permission.TakeMessages], reads [Permission.Granted] and
// calls Tick at [Permission.Due]. A Permission belongs to one goroutine.
type Permission struct {
	// Fixed after NewPermission.
	self        string
	incarnation uint64
	broken      permissionRule // rules switched off, by the test that shows what each is for

	now    Instant // of the last call
	phase  permissionPhase
	number uint64 // of the newest request of this incarnation
	// missed ranks the request. It stays as it was in Want, also when the request is made anew under the next number: if it
	// grew, two replicas could overtake and make way for each other without end (docs/adr/0017).
	missed   uint64
	repeat   Instant // when the outstanding request is repeated
	peers    []permissionPeer
	messages []Addressed
}

type permissionPhase uint8

const (
	permissionIdle   permissionPhase = iota // nothing wanted
	permissionAsking                        // a request is outstanding
	permissionRedoing
)

// permissionPeer is another replica as this one knows it.
type permissionPeer struct {
	name   string
	absent bool
	yes    bool              // it said yes to our request of the present number
	since  Instant           // since when its yes has been missed, over all numbers
	newest permissionRequest // of its requests that came
	owed   bool              // newest waits for our yes
}

// permissionRequest names a request of one replica; later ones are larger.
type permissionRequest struct{ incarnation, number uint64 }

func (r permissionRequest) before(o permissionRequest) bool {
	return r.incarnation < o.incarnation || r.incarnation == o.incarnation && r.number < o.number
}

// NewPermission returns the permission of replica self, "org/node", which neither asks nor redoes. incarnation must be
// larger than at any start of the replica before. peers are the other replicas of the fragment; self and repetitions
// among them are left out.
func NewPermission(self string, incarnation uint64, peers []string) *Permission {
	p := &Permission{self: self, incarnation: incarnation}
	names := slices.Clone(peers)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if name != self {
			p.peers = append(p.peers, permissionPeer{name: name})
		}
	}
	return p
}

// Want asks for permission. missed is the number of buckets missed so far, which ranks the request until it is granted
// or withdrawn by Release; Want does nothing before that.
func (p *Permission) Want(now Instant, missed uint64) {
	p.now = now
	switch {
	case p.phase == permissionIdle:
		p.phase, p.missed = permissionAsking, missed
		for i := range p.peers {
			p.peers[i].since = now
		}
		p.ask(now)
		p.begin()
	case p.phase == permissionAsking && !p.keeps(ruleFrozen):
		p.missed = missed
	}
}

// Release ends the redo, or withdraws the request; who waits for this replica gets its yes.
func (p *Permission) Release(Instant) {
	p.phase = permissionIdle
	for i := range p.peers {
		if p.peers[i].owed && p.keeps(ruleOwed) {
			p.sayYes(&p.peers[i])
		}
	}
}

// Message takes a message in. from is the peer it came from, as authenticated by the connection. Messages from others
// than the peers, or that name a wrong asker, are ignored: they could only come from an older deployment or a faulty
// peer.
func (p *Permission) Message(now Instant, from string, m PermissionMessage) {
	p.now = now
	peer := p.peer(from)
	if peer == nil {
		return
	}
	switch {
	case m.Kind == PermissionRequest && m.Asker == from:
		p.requested(now, peer, m)
	case m.Kind == PermissionYes && m.Asker == p.self:
		p.answered(peer, m)
	}
	p.begin()
}

// Peer says whether a peer is absent: it is in FAILURE as seen here, or its heartbeat says that it holds us in FAILURE.
// One that is there and has given no yes for permissionPatience counts as absent.
// It counts as a yes if it is so when the redo begins; a redo that has begun goes on when the peer is back. Absence of an
// unknown peer is ignored. No peer is absent at first.
func (p *Permission) Peer(now Instant, name string, absent bool) {
	p.now = now
	peer := p.peer(name)
	if peer == nil {
		return
	}
	peer.absent = absent
	if absent && !p.keeps(ruleJudgedAtBegin) {
		peer.yes = true
	}
	p.begin()
}

// Tick repeats the outstanding request, a second after it was last sent, to those that have not said yes: it, or their
// answer, may be lost, or they have restarted and forgotten it.
func (p *Permission) Tick(now Instant) {
	p.now = now
	if due, ok := p.Due(); ok && now >= due {
		p.request(now)
		p.begin()
	}
}

// Due is when Tick is needed next, if at all.
func (p *Permission) Due() (Instant, bool) {
	return p.repeat, p.phase == permissionAsking && p.keeps(ruleRepeat)
}

// Granted reports whether the redo may run: from the moment of the last yes to Release.
func (p *Permission) Granted() bool { return p.phase == permissionRedoing }

// Waiting returns the peers, by name, whose yes an outstanding request lacks; none when nothing is asked.
func (p *Permission) Waiting() []string {
	var names []string
	for i := range p.peers {
		if p.phase == permissionAsking && !p.allows(&p.peers[i]) {
			names = append(names, p.peers[i].name)
		}
	}
	return names
}

// TakeMessages returns the messages to send, in order, and forgets them. They may be lost: none must be kept.
func (p *Permission) TakeMessages() []Addressed {
	m := p.messages
	p.messages = nil
	return m
}

// requested judges the request of a peer.
func (p *Permission) requested(now Instant, peer *permissionPeer, m PermissionMessage) {
	r := permissionRequest{incarnation: m.AskerIncarnation, number: m.Number}
	if r.before(peer.newest) && p.keeps(ruleNewest) {
		return // withdrawn since; it must not displace the one that waits for our yes
	}
	peer.newest = r
	if p.phase == permissionRedoing && p.keeps(ruleRedoing) || p.phase == permissionAsking && p.outranks(m) {
		peer.owed = true
		return
	}
	p.sayYes(peer)
	if p.phase == permissionAsking && p.keeps(ruleWithdraw) {
		if !p.keeps(ruleSameRank) {
			p.missed++
		}
		p.ask(now)
	}
}

// outranks reports whether our request counts more than the one of a peer.
func (p *Permission) outranks(m PermissionMessage) bool {
	if p.missed == m.Missed {
		return p.keeps(ruleTie) && strings.Compare(p.self, m.Asker) < 0
	}
	return p.missed > m.Missed && p.keeps(ruleRank)
}

// answered counts a yes, if it is one to the outstanding request.
func (p *Permission) answered(peer *permissionPeer, m PermissionMessage) {
	ours := m.AskerIncarnation == p.incarnation || !p.keeps(ruleIncarnation)
	present := m.Number == p.number || !p.keeps(ruleNumber)
	if p.phase == permissionAsking && ours && present {
		peer.yes = true
	}
}

// begin starts the redo when every peer allows it.
func (p *Permission) begin() {
	if p.phase != permissionAsking {
		return
	}
	for i := range p.peers {
		if !p.allows(&p.peers[i]) {
			return
		}
	}
	p.phase = permissionRedoing
}

func (p *Permission) allows(peer *permissionPeer) bool {
	return peer.yes || (peer.absent || p.now > peer.since.Add(permissionPatience)) && p.keeps(ruleAbsent)
}

// ask makes a request under the next number, to which nobody has said yes.
func (p *Permission) ask(now Instant) {
	p.number++
	for i := range p.peers {
		peer := &p.peers[i]
		if peer.yes {
			peer.since = now
		}
		peer.yes = peer.absent && !p.keeps(ruleJudgedAtBegin)
	}
	p.request(now)
}

// request sends the outstanding request to those that have not said yes, absent ones too: they may hear it.
func (p *Permission) request(now Instant) {
	p.repeat = now.Add(permissionRepeat)
	for i := range p.peers {
		if !p.peers[i].yes {
			p.send(p.peers[i].name, PermissionMessage{
				Kind: PermissionRequest, Asker: p.self, AskerIncarnation: p.incarnation, Number: p.number, Missed: p.missed,
			})
		}
	}
}

// sayYes answers the newest request of a peer.
func (p *Permission) sayYes(peer *permissionPeer) {
	peer.owed = false
	p.send(peer.name, PermissionMessage{
		Kind: PermissionYes, Asker: peer.name, AskerIncarnation: peer.newest.incarnation, Number: peer.newest.number,
	})
}

func (p *Permission) send(to string, m PermissionMessage) {
	p.messages = append(p.messages, Addressed{To: to, Message: m})
}

func (p *Permission) peer(name string) *permissionPeer {
	for i := range p.peers {
		if p.peers[i].name == name {
			return &p.peers[i]
		}
	}
	return nil
}
