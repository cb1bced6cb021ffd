package trust

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Registry is what this node believes: its own organisation and the partners that a person trusted. It is safe for
// concurrent use.
type Registry struct {
	own  string        // fixed after NewRegistry
	skew time.Duration // fixed after NewRegistry

	mu   sync.RWMutex
	orgs map[string]*known
}

// known is an organisation with its revocations taken apart.
type known struct {
	org   *Org
	voids map[PublicKey]Time // the greatest Before of each key
}

// Signer says who signed an envelope.
type Signer struct {
	Org  string
	Role Role
	Key  PublicKey
	At   Time
}

// NewRegistry makes a registry that knows the own organisation. skew is how far clocks may differ.
func NewRegistry(own *Org, skew time.Duration) (*Registry, error) {
	r := &Registry{own: own.Name, skew: skew, orgs: make(map[string]*known)}
	return r, r.put(own)
}

// Own is the name of the own organisation.
func (r *Registry) Own() string { return r.own }

// Trust adds a partner, or takes a newer file of one that is known. A known name with another root is refused: a
// person must untrust the old one first.
func (r *Registry) Trust(o *Org) error { return r.put(o) }

func (r *Registry) put(o *Org) error {
	if err := o.check(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.orgs[o.Name]
	if old != nil && old.org.Root != o.Root {
		return &Error{Kind: ErrIdentity, Place: "organisation " + o.Name, Got: "root " + o.Root.ID(),
			Expected: "root " + old.org.Root.ID(), Remedy: "if it is right, run fednode org untrust " + o.Name + " first"}
	}
	merged := *o
	if old != nil {
		// What was void stays void, even if the newer file forgot it.
		merged.Revocations = mergeRevocations(o.Revocations, old.org.Revocations)
	}
	next := &known{org: &merged, voids: make(map[PublicKey]Time)}
	for _, s := range merged.Revocations {
		if err := next.revoke(s); err != nil {
			return err
		}
	}
	r.orgs[o.Name] = next
	return nil
}

// mergeRevocations returns a and what of b is not in it. A signature is as good as the whole to tell them apart.
func mergeRevocations(a, b []*Signed) []*Signed {
	seen := make(map[string]bool, len(a))
	for _, s := range a {
		seen[string(s.Signature)] = true
	}
	all := slices.Clone(a)
	for _, s := range b {
		if !seen[string(s.Signature)] {
			all = append(all, s)
		}
	}
	return all
}

// revoke records a revocation that openRevocation accepts.
func (k *known) revoke(s *Signed) error {
	rev, err := k.org.openRevocation(s)
	if err != nil {
		return err
	}
	k.voids[rev.Key] = max(k.voids[rev.Key], rev.Before)
	return nil
}

// Untrust forgets a partner. The own organisation cannot be forgotten.
func (r *Registry) Untrust(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name == r.own {
		return &Error{Kind: ErrIdentity, Place: "organisation " + name, Got: "the own organisation", Expected: "a partner"}
	}
	if r.orgs[name] == nil {
		return &Error{Kind: ErrUntrusted, Place: "organisation " + quote(name), Remedy: "fednode org list shows the partners"}
	}
	delete(r.orgs, name)
	return nil
}

// Revoke takes a revocation in, from whoever brought it, and returns what it says. Known ones are no error.
func (r *Registry) Revoke(s *Signed) (Revocation, error) {
	rev, err := openRevocation(s)
	if err != nil {
		return rev, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.orgs[rev.Org]
	if k == nil {
		return rev, untrusted("revocation", rev.Org)
	}
	if slices.ContainsFunc(k.org.Revocations, func(o *Signed) bool { return bytes.Equal(o.Signature, s.Signature) }) {
		return rev, nil
	}
	if len(k.org.Revocations) >= maxRevocations {
		return rev, &Error{Kind: ErrMalformed, Place: "revocations of " + rev.Org, Expected: fmt.Sprintf("at most %d", maxRevocations)}
	}
	if err := k.revoke(s); err != nil {
		return rev, err
	}
	org := *k.org
	org.Revocations = append(slices.Clip(org.Revocations), s)
	k.org = &org
	return rev, nil
}

// Orgs returns the organisations known, the own one included, by name.
func (r *Registry) Orgs() []*Org {
	r.mu.RLock()
	defer r.mu.RUnlock()
	list := make([]*Org, 0, len(r.orgs))
	for _, k := range r.orgs {
		list = append(list, k.org)
	}
	slices.SortFunc(list, func(a, b *Org) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Trusts says whether name is the own organisation or a partner.
func (r *Registry) Trusts(name string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.orgs[name] != nil
}

func untrusted(place, org string) error {
	return &Error{Kind: ErrUntrusted, Place: place, Got: "organisation " + quote(org),
		Remedy: "get its organisation file and run fednode org trust FILE"}
}

// Verify walks the chain of an envelope: the signature, the root's statement about the signer, the root that a person
// confirmed, the role, the times and the revocations. The signer's key must have been valid when it signed; the
// envelope must not come from the future by more than the skew.
func (r *Registry) Verify(s *Signed, context Context, role Role, now time.Time) (Signer, error) {
	if err := s.checkSignature(context); err != nil {
		return Signer{}, err
	}
	inner, err := ParseSigned(s.Statement, 0)
	if err != nil {
		return Signer{}, err
	}
	claim, err := openStatement(inner)
	if err != nil {
		return Signer{}, err
	}
	place := string(context) + " of " + claim.Org
	r.mu.RLock()
	defer r.mu.RUnlock()
	k := r.orgs[claim.Org]
	if k == nil {
		return Signer{}, untrusted(place, claim.Org)
	}
	if _, err := k.org.signer(s); err != nil {
		return Signer{}, fmt.Errorf("%s: %w", place, err)
	}
	if claim.Role != role {
		return Signer{}, roleError(place, claim.Role, role)
	}
	if err := r.checkTimes(place, s, inner, claim, now); err != nil {
		return Signer{}, err
	}
	if s.At < k.voids[s.Key] {
		return Signer{}, revoked(place, s.Key, k.voids[s.Key])
	}
	return Signer{Org: claim.Org, Role: claim.Role, Key: s.Key, At: s.At}, nil
}

func revoked(place string, key PublicKey, before Time) error {
	return &Error{Kind: ErrRevoked, Place: place, Got: "key " + key.ID() + ", void before " + before.String(),
		Remedy: "have it signed again with a key that is in force"}
}

func (r *Registry) checkTimes(place string, s, statement *Signed, claim KeyStatement, now time.Time) error {
	skew, at := Time(r.skew.Microseconds()), TimeOf(now)
	if s.At > at+skew {
		return &Error{Kind: ErrNotYet, Place: place, Got: "signed at " + s.At.String(),
			Expected: "not after " + at.String(), Remedy: "compare the clocks of both machines"}
	}
	if s.At < statement.At-skew || s.At >= claim.Expires {
		return &Error{Kind: ErrExpired, Place: place, Got: "signed at " + s.At.String(),
			Expected: fmt.Sprintf("within the signing key's validity, %s to %s", statement.At, claim.Expires),
			Remedy:   "rotate the signing key and sign again"}
	}
	return nil
}

// VerifyCertificate verifies a node certificate: its chain, that it is in force now, and that its node key was not
// revoked. That the peer holds the key is for the caller to know (the transport's handshake proves it).
func (r *Registry) VerifyCertificate(s *Signed, now time.Time) (Member, error) {
	m, err := peekCertificate(s)
	if err != nil {
		return Member{}, err
	}
	signer, err := r.Verify(s, ContextCertificate, RoleNodes, now)
	if err != nil {
		return Member{}, err
	}
	place := "certificate of " + m.String()
	if signer.Org != m.Org {
		return Member{}, &Error{Kind: ErrIdentity, Place: place, Got: "signed by organisation " + signer.Org, Expected: m.Org}
	}
	if TimeOf(now) >= m.Expires+Time(r.skew.Microseconds()) {
		return Member{}, &Error{Kind: ErrExpired, Place: place, Got: "expiry at " + m.Expires.String(),
			Expected: "one after " + TimeOf(now).String(), Remedy: "renew it with fednode node sign, or compare the clocks"}
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if k := r.orgs[m.Org]; k != nil && m.Issued < k.voids[m.Key] {
		return Member{}, revoked(place, m.Key, k.voids[m.Key])
	}
	return m, nil
}
