package trust

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// KeyInfo is one line of fednode key list.
type KeyInfo struct {
	Role    Role
	ID      string
	Key     PublicKey
	Here    bool // the secret is in this directory
	Issued  Time // zero for the root and the node key
	Expires Time // zero for the root and the node key
	Void    Time // revoked: what it signed before is void; zero if not
	File    string
}

// ListKeys lists the root, every signing key that the organisation file knows, and the node key.
func (d Dir) ListKeys() ([]KeyInfo, error) {
	org, err := d.LoadOrg()
	if err != nil {
		return nil, err
	}
	reg, err := NewRegistry(org, DefaultSkew)
	if err != nil {
		return nil, err
	}
	voids := reg.orgs[org.Name].voids
	list := []KeyInfo{{Role: RoleRoot, Key: org.Root, File: FileOrgKey}}
	for _, s := range org.Statements {
		st, err := org.openStatement(s)
		if err != nil {
			return nil, err
		}
		list = append(list, KeyInfo{Role: st.Role, Key: st.Key, Issued: s.At, Expires: st.Expires, File: signingFile(st.Role)})
	}
	if node, err := d.LoadNodeKey(); err == nil {
		list = append(list, KeyInfo{Role: RoleNode, Key: node.Public(), File: FileNodeKey})
	} else if !errors.Is(err, ErrMissing) {
		return nil, err
	}
	for i := range list {
		k := &list[i]
		k.ID, k.Void = k.Key.ID(), voids[k.Key]
		if k.Here, err = d.holds(k.File, k.Role, k.Key); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// holds says whether the file holds the secret of the key.
func (d Dir) holds(name string, role Role, key PublicKey) (bool, error) {
	k, err := d.loadKey(name, role)
	if errors.Is(err, ErrMissing) {
		return false, nil
	}
	return err == nil && k.Public() == key, err
}

// RotateKey makes a new key of a signing role, states it with the root and keeps the old one as FILE.old-ID. What the
// old one signed stays valid: revoke it too if it may have been stolen. The root key must be here.
func (d Dir) RotateKey(role Role, now time.Time, random io.Reader) (*SigningKey, error) {
	if !role.signing() {
		return nil, &Error{Kind: ErrRole, Place: "key rotate", Got: quote(string(role)), Expected: "nodes, deploy or contracts",
			Remedy: "a new node key is a new node (fednode node request); a new root is a new organisation"}
	}
	root, err := d.LoadRoot()
	if err != nil {
		return nil, err
	}
	org, err := d.LoadOrg()
	if err != nil {
		return nil, err
	}
	key, err := newSigningKey(root, role, now, random)
	if err != nil {
		return nil, err
	}
	text, err := key.format()
	if err != nil {
		return nil, err
	}
	// The organisation file first: a statement about a key that nobody holds harms nobody, the reverse would.
	org.Statements = append(org.Statements, key.Statement)
	if err := d.replaceOrg(org); err != nil {
		return nil, err
	}
	if err := d.setAside(role); err != nil {
		return nil, err
	}
	return key, replaceFile(d.file(signingFile(role)), text, 0o600)
}

// setAside keeps the present key of a role under another name.
func (d Dir) setAside(role Role) error {
	old, err := d.LoadSigningKey(role)
	if errors.Is(err, ErrMissing) || errors.Is(err, ErrMalformed) {
		return nil
	}
	if err != nil {
		return err
	}
	path := d.file(signingFile(role))
	// A link, not a rename: at no time is there no key under the usual name.
	if err := os.Link(path, path+".old-"+old.Secret.Public().ID()); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("trust: %w", err)
	}
	return nil
}

func (d Dir) replaceOrg(o *Org) error {
	if err := o.check(); err != nil {
		return err
	}
	text, err := FormatOrg(o)
	if err != nil {
		return err
	}
	return replaceFile(d.file(FileOrg), text, 0o644)
}

// RevokeKey voids what key signed before the given time, and records it in the organisation file. before zero means
// for good: up to the key's expiry, or for node keys as far as certificates reach. The root key must be here; for node
// keys the nodes key is enough.
func (d Dir) RevokeKey(key PublicKey, before Time, reason string, now time.Time) (*Signed, error) {
	org, err := d.LoadOrg()
	if err != nil {
		return nil, err
	}
	if before == 0 {
		before = org.forGood(key, TimeOf(now))
	}
	rev := Revocation{Org: org.Name, Number: org.nextNumber(), Key: key, Before: before, Reason: strings.TrimSpace(reason)}
	s, err := d.signRevocation(org, rev, now)
	if err != nil {
		return nil, err
	}
	org.Revocations = append(org.Revocations, s)
	return s, d.replaceOrg(org)
}

func (d Dir) signRevocation(org *Org, rev Revocation, now time.Time) (*Signed, error) {
	root, err := d.LoadRoot()
	if err == nil {
		payload, err := encode(rev)
		if err != nil {
			return nil, err
		}
		return sign(root, ContextRevocation, payload, now)
	}
	if !errors.Is(err, ErrMissing) || org.isSigningKey(rev.Key) {
		return nil, err
	}
	nodes, err := d.LoadSigningKey(RoleNodes)
	if err != nil {
		return nil, err
	}
	return nodes.signValue(ContextRevocation, rev, now)
}

// forGood is a time after everything that the key can sign, or that can be said about it by keys of today.
func (o *Org) forGood(key PublicKey, now Time) Time {
	for _, s := range o.Statements {
		if st, err := openStatement(s); err == nil && st.Key == key {
			return st.Expires
		}
	}
	const century = 100 * 365 * 24 * time.Hour
	return now.Add(century)
}

func (o *Org) nextNumber() uint64 {
	next := uint64(1)
	for _, s := range o.Revocations {
		if r, err := openRevocation(s); err == nil {
			next = max(next, r.Number+1)
		}
	}
	return next
}
