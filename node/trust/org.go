package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Limits of an organisation file.
const (
	maxStatements  = 256
	maxRevocations = 4096
	maxAddresses   = 64
	maxAddress     = 256 // bytes
)

// Org is what others need to know of an organisation, the content of an organisation file. Name and Root are what a
// person confirms by the fingerprint; statements and revocations prove themselves; addresses are only hints where to
// dial, since whoever answers there must show a certificate.
type Org struct {
	Name        string    `cbor:"1,keyasint"`
	Root        PublicKey `cbor:"2,keyasint"`
	Statements  []*Signed `cbor:"3,keyasint,omitempty"`
	Revocations []*Signed `cbor:"4,keyasint,omitempty"`
	Addresses   []string  `cbor:"5,keyasint,omitempty"` // multiaddresses that end in /p2p/ID
}

// Fingerprint is the SHA-256 over name and root key.
type Fingerprint [sha256.Size]byte

// Fingerprint identifies the organisation: it does not change when keys rotate or addresses change.
func (o *Org) Fingerprint() Fingerprint {
	h := sha256.New()
	fmt.Fprintf(h, "fednode organisation\x00%d\x00%s", len(o.Name), o.Name)
	h.Write(o.Root[:])
	return Fingerprint(h.Sum(nil))
}

// fingerprintWords gives 96 bits: enough that nobody finds a second key with the same words.
const fingerprintWords = 12

// Words is the fingerprint's first 96 bits as twelve words, to be read out over the telephone.
func (f Fingerprint) Words() string {
	list := strings.Fields(wordList)
	words := make([]string, fingerprintWords)
	for i := range words {
		words[i] = list[f[i]]
	}
	return strings.Join(words, " ")
}

// String is the whole fingerprint in hexadecimal.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// Matches accepts the hexadecimal form or the words, whatever their case and spacing.
func (f Fingerprint) Matches(text string) bool {
	given := strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r == ' ' || r == '-' || r == ':' || r == '\t' || r == '\n'
	}), " ")
	return given == f.Words() || strings.ReplaceAll(given, " ", "") == f.String()
}

// check verifies everything in the file that can be verified from its root.
func (o *Org) check() error {
	place := "organisation file of " + quote(o.Name)
	if err := CheckName("organisation name", o.Name); err != nil {
		return err
	}
	if len(o.Statements) > maxStatements || len(o.Revocations) > maxRevocations || len(o.Addresses) > maxAddresses {
		return &Error{Kind: ErrMalformed, Place: place, Got: fmt.Sprintf("%d statements, %d revocations, %d addresses",
			len(o.Statements), len(o.Revocations), len(o.Addresses)),
			Expected: fmt.Sprintf("at most %d, %d and %d", maxStatements, maxRevocations, maxAddresses)}
	}
	for _, s := range o.Statements {
		if _, err := o.openStatement(s); err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
	}
	for _, s := range o.Revocations {
		if _, err := o.openRevocation(s); err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
	}
	for _, a := range o.Addresses {
		if len(a) > maxAddress || !strings.HasPrefix(a, "/") || !strings.Contains(a, "/p2p/") {
			return &Error{Kind: ErrMalformed, Place: place, Got: "address " + quote(a),
				Expected: "a multiaddress such as /dns4/host/tcp/7481/p2p/ID"}
		}
	}
	return nil
}

// openStatement checks that s is a statement of this organisation's root.
func (o *Org) openStatement(s *Signed) (KeyStatement, error) {
	if s == nil {
		return KeyStatement{}, &Error{Kind: ErrMalformed, Place: "key statement", Got: "nothing"}
	}
	st, err := openStatement(s)
	if err != nil {
		return st, err
	}
	if st.Org != o.Name || s.Key != o.Root {
		return st, &Error{Kind: ErrSignature, Place: "statement about a signing key",
			Got:      fmt.Sprintf("organisation %s, root %s", quote(st.Org), s.Key.ID()),
			Expected: fmt.Sprintf("organisation %s, root %s", quote(o.Name), o.Root.ID()),
			Remedy:   "if the organisation made a new root, import its new file with fednode org trust"}
	}
	return st, nil
}

// openRevocation checks that s was signed by the root, or by a nodes key that the root named.
func (o *Org) openRevocation(s *Signed) (Revocation, error) {
	if s == nil {
		return Revocation{}, &Error{Kind: ErrMalformed, Place: "revocation", Got: "nothing"}
	}
	r, err := openRevocation(s)
	if err != nil {
		return r, err
	}
	place := fmt.Sprintf("revocation %d of %s", r.Number, r.Org)
	if r.Org != o.Name {
		return r, &Error{Kind: ErrIdentity, Place: place, Expected: "organisation " + quote(o.Name)}
	}
	if s.Key == o.Root {
		return r, nil
	}
	st, err := o.signer(s)
	if err != nil {
		return r, fmt.Errorf("%s: %w", place, err)
	}
	if st.Role != RoleNodes {
		return r, roleError(place, st.Role, "root or nodes")
	}
	if o.isSigningKey(r.Key) {
		return r, &Error{Kind: ErrRole, Place: place, Got: "a signing key revoked by a nodes key",
			Expected: "a node key; signing keys are revoked by the root"}
	}
	return r, nil
}

// signer returns the root's statement about the key that signed s.
func (o *Org) signer(s *Signed) (KeyStatement, error) {
	inner, err := ParseSigned(s.Statement, 0)
	if err != nil {
		return KeyStatement{}, err
	}
	st, err := o.openStatement(inner)
	if err != nil {
		return st, err
	}
	if st.Key != s.Key {
		return st, &Error{Kind: ErrSignature, Place: string(s.Context), Got: "a statement about key " + st.Key.ID(),
			Expected: "one about the signer " + s.Key.ID()}
	}
	return st, nil
}

func (o *Org) isSigningKey(k PublicKey) bool {
	for _, s := range o.Statements {
		if st, err := openStatement(s); err == nil && st.Key == k {
			return true
		}
	}
	return k == o.Root
}
