package admission

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"fednode/node/trust"
)

// DefaultPeersPerOrg bounds how many nodes of one organisation are connected at a time: a partner can certify any
// number of nodes.
const DefaultPeersPerOrg = 256

// Config is what a door needs.
type Config struct {
	Registry    *trust.Registry
	Certificate *trust.Signed // our own
	Now         func() time.Time
	PeersPerOrg int           // 0: DefaultPeersPerOrg
	Timeout     time.Duration // for one exchange; 0: 5 s
}

// Door admits peers by their certificates.
type Door struct {
	registry *trust.Registry
	now      func() time.Time
	perOrg   int
	timeout  time.Duration

	mu     sync.Mutex
	own    []byte // our certificate, encoded
	inside map[peer.ID]guest
	count  map[string]int // guests by organisation
}

type guest struct {
	member      trust.Member
	certificate *trust.Signed
}

// New makes a door. It fails if our own certificate would be refused by our own rules: then everybody else would
// refuse it too.
func New(cfg Config) (*Door, error) {
	d := &Door{registry: cfg.Registry, now: cfg.Now, perOrg: cfg.PeersPerOrg, timeout: cfg.Timeout,
		inside: make(map[peer.ID]guest), count: make(map[string]int)}
	if d.perOrg == 0 {
		d.perOrg = DefaultPeersPerOrg
	}
	if d.timeout == 0 {
		d.timeout = 5 * time.Second
	}
	return d, d.SetCertificate(cfg.Certificate)
}

// SetCertificate is shown from the next connection on; it takes a renewed one.
func (d *Door) SetCertificate(s *trust.Signed) error {
	if _, err := d.registry.VerifyCertificate(s, d.now()); err != nil {
		return fmt.Errorf("p2p: own certificate: %w", err)
	}
	b, err := s.Marshal()
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.own = b
	return nil
}

func (d *Door) certificate() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.own
}

// Member says who an admitted peer is; false for everybody else.
func (d *Door) Member(p peer.ID) (trust.Member, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g, ok := d.inside[p]
	return g.member, ok
}

// Renew takes a newer certificate of an admitted peer, so that a long connection outlives the first one.
func (d *Door) Renew(p peer.ID, certificate []byte) error {
	m, s, err := d.verify(p, certificate)
	if err != nil {
		return err
	}
	return d.admit(m, s)
}

// Forget drops a peer that has no connection left.
func (d *Door) Forget(p peer.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget(p)
}

func (d *Door) forget(p peer.ID) {
	g, ok := d.inside[p]
	if !ok {
		return
	}
	delete(d.inside, p)
	if d.count[g.member.Org]--; d.count[g.member.Org] == 0 {
		delete(d.count, g.member.Org)
	}
}

// Recheck verifies all admitted peers again, after trust or revocations changed and as certificates expire, and returns
// those that are no longer admitted with the reason; their connections are for the caller to close.
func (d *Door) Recheck() map[peer.ID]error {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make(map[peer.ID]error)
	for p, g := range d.inside {
		if _, err := d.registry.VerifyCertificate(g.certificate, d.now()); err != nil {
			out[p] = err
		}
	}
	for p := range out {
		d.forget(p)
	}
	return out
}

// Greet runs the exchange with the peer that the transport has authenticated, and admits it or says why not.
func (d *Door) Greet(rw io.ReadWriter, remote peer.ID, weDialled bool) error {
	if weDialled {
		return d.greetAsDialler(rw, remote)
	}
	return d.greetAsListener(rw, remote)
}

func (d *Door) greetAsDialler(rw io.ReadWriter, remote peer.ID) error {
	if err := writeMessage(rw, kindShow, d.certificate()); err != nil {
		return err
	}
	kind, body, err := readMessage(rw)
	if err != nil {
		return err
	}
	switch kind {
	case kindRefuse:
		return &RefusedError{Peer: remote, Reason: printable(string(body), maxReason)}
	case kindShow:
		return d.check(remote, body)
	}
	return &ProtocolError{Got: fmt.Sprintf("kind %d", kind), Expected: "a certificate or a refusal"}
}

func (d *Door) greetAsListener(rw io.ReadWriter, remote peer.ID) error {
	kind, body, err := readMessage(rw)
	if err == nil && kind != kindShow {
		err = &ProtocolError{Got: fmt.Sprintf("kind %d", kind), Expected: "a certificate"}
	}
	if err == nil {
		err = d.check(remote, body)
	}
	if err == nil {
		return writeMessage(rw, kindShow, d.certificate())
	}
	// The reason is for the other side's log; if it cannot be sent, ours has it.
	return errors.Join(err, writeMessage(rw, kindRefuse, []byte(printable(err.Error(), maxReason))))
}

// check verifies a certificate that the peer showed and admits it.
func (d *Door) check(remote peer.ID, certificate []byte) error {
	m, s, err := d.verify(remote, certificate)
	if err != nil {
		return err
	}
	return d.admit(m, s)
}

func (d *Door) verify(remote peer.ID, certificate []byte) (trust.Member, *trust.Signed, error) {
	s, err := trust.ParseSigned(certificate, maxMessage)
	if err != nil {
		return trust.Member{}, nil, err
	}
	m, err := d.registry.VerifyCertificate(s, d.now())
	if err != nil {
		return trust.Member{}, nil, err
	}
	if m.Peer != remote {
		return trust.Member{}, nil, &trust.Error{Kind: trust.ErrIdentity, Place: "certificate of " + m.String(),
			Got: "peer " + remote.String(), Expected: m.Peer.String(), Remedy: "each node shows its own certificate"}
	}
	return m, s, nil
}

func (d *Door) admit(m trust.Member, s *trust.Signed) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if old, ok := d.inside[m.Peer]; ok && old.member.Org != m.Org {
		return &trust.Error{Kind: trust.ErrIdentity, Place: "certificate of " + m.String(), Got: "a peer connected as " + old.member.String()}
	} else if !ok {
		if d.count[m.Org] >= d.perOrg {
			return &ProtocolError{Got: fmt.Sprintf("one more peer of %s", m.Org), Expected: fmt.Sprintf("at most %d at a time", d.perOrg)}
		}
		d.count[m.Org]++
	}
	d.inside[m.Peer] = guest{member: m, certificate: s}
	return nil
}
