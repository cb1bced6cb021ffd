package trust

import (
	"crypto/ed25519"
	"fmt"
)

// keyFile is the content of a private key's block.
type keyFile struct {
	Role Role   `cbor:"1,keyasint"`
	Org  string `cbor:"2,keyasint"`
	Seed []byte `cbor:"3,keyasint"`
}

func (k *SecretKey) format() ([]byte, error) {
	data, err := encode(keyFile{Role: k.Role, Org: k.Org, Seed: k.private.Seed()})
	if err != nil {
		return nil, err
	}
	comment := fmt.Sprintf("fednode: %s. Secret: never copy it to another machine unencrypted.", k)
	return formatBlocks([]string{comment}, block{pemKey, data}), nil
}

func decodeKey(place string, data []byte, want Role) (*SecretKey, error) {
	var f keyFile
	if err := decode(data, &f); err != nil || len(f.Seed) != ed25519.SeedSize {
		// The cause could quote key bytes, so it is left out.
		return nil, &Error{Kind: ErrMalformed, Place: place, Expected: "a private key",
			Remedy: "the file is damaged; restore it from a copy, or make a new key with fednode key rotate"}
	}
	if f.Role != want {
		return nil, roleError(place, f.Role, want)
	}
	if err := CheckName(place+": organisation", f.Org); err != nil {
		return nil, err
	}
	return &SecretKey{Role: f.Role, Org: f.Org, private: ed25519.NewKeyFromSeed(f.Seed)}, nil
}

// parseKey reads a key file of the role: the key, and for signing roles the root's statement, which is nil otherwise.
func parseKey(place string, text []byte, want Role) (*SecretKey, *Signed, error) {
	kinds := []string{pemKey}
	if want.signing() {
		kinds = append(kinds, pemStatement)
	}
	blocks, err := parseBlocks(place, text, kinds...)
	if err != nil {
		return nil, nil, err
	}
	key, err := decodeKey(place, blocks[0].data, want)
	if err != nil || !want.signing() {
		return key, nil, err
	}
	statement, err := ParseSigned(blocks[1].data, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", place, err)
	}
	st, err := openStatement(statement)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", place, err)
	}
	if st.Key != key.Public() || st.Role != want || st.Org != key.Org {
		return nil, nil, &Error{Kind: ErrIdentity, Place: place, Got: "a statement about key " + st.Key.ID(),
			Expected: "one about " + key.String(), Remedy: "restore the file from a copy"}
	}
	return key, statement, nil
}

func (k *SigningKey) format() ([]byte, error) {
	text, err := k.Secret.format()
	if err != nil {
		return nil, err
	}
	statement, err := k.Statement.Marshal()
	if err != nil {
		return nil, err
	}
	return append(text, formatBlocks(nil, block{pemStatement, statement})...), nil
}

// FormatOrg writes an organisation file, the fingerprint in its comments.
func FormatOrg(o *Org) ([]byte, error) {
	data, err := encode(o)
	if err != nil {
		return nil, err
	}
	f := o.Fingerprint()
	return formatBlocks([]string{
		"fednode organisation file of " + o.Name,
		"fingerprint: " + f.Words(),
		"             " + f.String(),
		"Do not believe these lines: the partner's fednode org trust computes them again and asks.",
	}, block{pemOrg, data}), nil
}

// ParseOrg reads an organisation file and verifies all in it that its own root can prove. Whether the root is the
// right one, only a person who compares the fingerprint knows. place names the file in errors.
func ParseOrg(place string, text []byte) (*Org, error) {
	if len(text) > maxFile {
		return nil, &Error{Kind: ErrMalformed, Place: place, Got: fmt.Sprintf("%d bytes", len(text)), Expected: "at most 4 MiB"}
	}
	blocks, err := parseBlocks(place, text, pemOrg)
	if err != nil {
		return nil, err
	}
	o := new(Org)
	if err := decode(blocks[0].data, o); err != nil {
		return nil, &Error{Kind: ErrMalformed, Place: place, Cause: err, Remedy: "ask the partner for the file again"}
	}
	return o, o.check()
}

// FormatCertificate writes a node certificate file.
func FormatCertificate(s *Signed) ([]byte, error) {
	m, err := peekCertificate(s)
	if err != nil {
		return nil, err
	}
	data, err := s.Marshal()
	if err != nil {
		return nil, err
	}
	return formatBlocks([]string{fmt.Sprintf("fednode certificate of %s, peer %s, until %s", m, m.Peer, m.Expires)},
		block{pemCertificate, data}), nil
}

// ParseCertificate reads a node certificate file: the envelope, and what it claims. It checks form and signature;
// Registry.VerifyCertificate says whether to believe it.
func ParseCertificate(place string, text []byte) (*Signed, Member, error) {
	blocks, err := parseBlocks(place, text, pemCertificate)
	if err != nil {
		return nil, Member{}, err
	}
	s, err := ParseSigned(blocks[0].data, 0)
	if err != nil {
		return nil, Member{}, fmt.Errorf("%s: %w", place, err)
	}
	m, err := peekCertificate(s)
	if err != nil {
		return nil, Member{}, fmt.Errorf("%s: %w", place, err)
	}
	return s, m, nil
}
