package trust

import (
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// NodeCertificate says that a node key belongs to a node of an organisation. Its start is the At of its envelope.
type NodeCertificate struct {
	Org     string    `cbor:"1,keyasint"`
	Node    string    `cbor:"2,keyasint"`
	Key     PublicKey `cbor:"3,keyasint"`
	Expires Time      `cbor:"4,keyasint"`
}

// Member is a node whose certificate was verified.
type Member struct {
	Org     string
	Node    string
	Peer    peer.ID
	Key     PublicKey
	Issued  Time
	Expires Time
}

// RenewAt is when the certificate should be replaced: after two thirds of its life.
func (m Member) RenewAt() Time { return m.Issued + (m.Expires-m.Issued)/3*2 }

// String is "org/node".
func (m Member) String() string { return m.Org + "/" + m.Node }

// CertifyNode signs a certificate of 30 days, or less if the nodes key expires before. nodes must have that role.
func CertifyNode(nodes *SigningKey, node string, key PublicKey, now time.Time) (*Signed, error) {
	if nodes.Secret.Role != RoleNodes {
		return nil, roleError(nodes.Secret.String(), nodes.Secret.Role, RoleNodes)
	}
	if err := CheckName("node name", node); err != nil {
		return nil, err
	}
	st, err := openStatement(nodes.Statement)
	if err != nil {
		return nil, err
	}
	if TimeOf(now) >= st.Expires {
		return nil, &Error{Kind: ErrExpired, Place: nodes.Secret.String(), Got: "expiry at " + st.Expires.String(),
			Remedy: "run fednode key rotate nodes where the organisation key is"}
	}
	expires := min(TimeOf(now).Add(CertificateValidity), st.Expires)
	cert := NodeCertificate{Org: st.Org, Node: node, Key: key, Expires: expires}
	return nodes.signValue(ContextCertificate, cert, now)
}

// peekCertificate checks signature and form, not whether the signer may sign.
func peekCertificate(s *Signed) (Member, error) {
	if err := s.checkSignature(ContextCertificate); err != nil {
		return Member{}, err
	}
	var c NodeCertificate
	if err := decode(s.Payload, &c); err != nil {
		return Member{}, &Error{Kind: ErrMalformed, Place: "node certificate", Cause: err}
	}
	if err := CheckName("organisation in a certificate", c.Org); err != nil {
		return Member{}, err
	}
	if err := CheckName("node in a certificate", c.Node); err != nil {
		return Member{}, err
	}
	// Compared without subtracting: hostile times may be anywhere in int64.
	if c.Expires <= s.At || s.At < 0 || c.Expires > s.At.Add(CertificateValidity) {
		return Member{}, &Error{Kind: ErrMalformed, Place: fmt.Sprintf("certificate of %s/%s", c.Org, c.Node),
			Got: fmt.Sprintf("validity from %s to %s", s.At, c.Expires), Expected: "at most 30 days"}
	}
	id, err := c.Key.PeerID()
	if err != nil {
		return Member{}, err
	}
	return Member{Org: c.Org, Node: c.Node, Peer: id, Key: c.Key, Issued: s.At, Expires: c.Expires}, nil
}
