package trust

import (
	"fmt"
	"time"
)

// KeyStatement is the root's word that a key has a role until it expires.
type KeyStatement struct {
	Org     string    `cbor:"1,keyasint"`
	Role    Role      `cbor:"2,keyasint"`
	Key     PublicKey `cbor:"3,keyasint"`
	Expires Time      `cbor:"4,keyasint"`
}

// Revocation voids what Key signed before Before, and the certificates issued for Key before it. A root may revoke any
// key of its organisation, a nodes key only node keys.
type Revocation struct {
	Org    string    `cbor:"1,keyasint"`
	Number uint64    `cbor:"2,keyasint"` // from 1, rising; numbers of one organisation have no gap
	Key    PublicKey `cbor:"3,keyasint"`
	Before Time      `cbor:"4,keyasint"`
	Reason string    `cbor:"5,keyasint,omitempty"`
}

// stateKey makes the root's statement about a key.
func stateKey(root *SecretKey, st KeyStatement, now time.Time) (*Signed, error) {
	if root.Role != RoleRoot {
		return nil, roleError(root.String(), root.Role, RoleRoot)
	}
	payload, err := encode(st)
	if err != nil {
		return nil, err
	}
	return sign(root, ContextStatement, payload, now)
}

// openStatement checks the root's signature and the statement's form.
func openStatement(s *Signed) (KeyStatement, error) {
	var st KeyStatement
	if err := s.checkSignature(ContextStatement); err != nil {
		return st, err
	}
	place := "statement about a signing key"
	if err := decode(s.Payload, &st); err != nil {
		return st, &Error{Kind: ErrMalformed, Place: place, Cause: err}
	}
	if err := CheckName("organisation in a key statement", st.Org); err != nil {
		return st, err
	}
	if !st.Role.signing() {
		return st, roleError(place, st.Role, "nodes, deploy or contracts")
	}
	if len(s.Statement) != 0 {
		return st, &Error{Kind: ErrMalformed, Place: place, Got: "a statement inside a statement",
			Expected: "one signed by the root itself"}
	}
	return st, nil
}

func openRevocation(s *Signed) (Revocation, error) {
	var r Revocation
	if err := s.checkSignature(ContextRevocation); err != nil {
		return r, err
	}
	if err := decode(s.Payload, &r); err != nil {
		return r, &Error{Kind: ErrMalformed, Place: "revocation", Cause: err}
	}
	if r.Number == 0 || len(r.Reason) > 200 {
		return r, &Error{Kind: ErrMalformed, Place: fmt.Sprintf("revocation %d of %s", r.Number, quote(r.Org)),
			Expected: "a number from 1 and a reason of at most 200 bytes"}
	}
	return r, CheckName("organisation in a revocation", r.Org)
}

func roleError(place string, got, want Role) error {
	return &Error{Kind: ErrRole, Place: place, Got: quote(string(got)), Expected: string(want)}
}
