package trust

import (
	"crypto/ed25519"
	"fmt"
	"time"
)

// Context says what a signature is for. Two kinds of payload never share one.
type Context string

// The contexts of this package, and of query descriptors.
const (
	ContextStatement   Context = "fednode/key-statement/1"
	ContextCertificate Context = "fednode/node-certificate/1"
	ContextRevocation  Context = "fednode/revocation/1"
	ContextRequest     Context = "fednode/node-request/1"
	ContextDescriptor  Context = "fednode/query-descriptor/1"
)

// Signed is an envelope: bytes, who signed them for what and when, and the root's statement about that key. Verify it
// with Registry.Verify before using the payload; the fields by themselves prove nothing.
type Signed struct {
	_         struct{} `cbor:",toarray"`
	Context   Context
	Payload   []byte
	At        Time // when it was signed, by the signer's clock
	Key       PublicKey
	Signature []byte
	Statement []byte // a Signed KeyStatement about Key, encoded; empty if the root itself signed
}

// preimage is what the signature covers. The leading string keeps these bytes apart from whatever else an Ed25519 key
// may sign (libp2p signs its handshakes with the node key).
type preimage struct {
	_       struct{} `cbor:",toarray"`
	Domain  string
	Context Context
	At      Time
	Key     PublicKey
	Payload []byte
}

const signatureDomain = "fednode signed envelope"

func (s *Signed) preimage() ([]byte, error) {
	return encode(preimage{Domain: signatureDomain, Context: s.Context, At: s.At, Key: s.Key, Payload: s.Payload})
}

// sign makes an envelope without a statement.
func sign(key *SecretKey, context Context, payload []byte, now time.Time) (*Signed, error) {
	s := &Signed{Context: context, Payload: payload, At: TimeOf(now), Key: key.Public()}
	text, err := s.preimage()
	if err != nil {
		return nil, err
	}
	s.Signature = ed25519.Sign(key.private, text)
	return s, nil
}

// checkSignature checks context and signature, and nothing about who the key is.
func (s *Signed) checkSignature(context Context) error {
	if s.Context != context {
		return &Error{Kind: ErrContext, Place: "signed by " + s.Key.ID(), Got: quote(string(s.Context)),
			Expected: quote(string(context))}
	}
	text, err := s.preimage()
	if err != nil {
		return err
	}
	if len(s.Signature) != ed25519.SignatureSize || !ed25519.Verify(s.Key[:], text, s.Signature) {
		return &Error{Kind: ErrSignature, Place: string(context) + " by key " + s.Key.ID(),
			Remedy: "it was changed on its way or is damaged; ask for it again"}
	}
	return nil
}

// Marshal returns the deterministic encoding.
func (s *Signed) Marshal() ([]byte, error) { return encode(s) }

// ParseSigned decodes an envelope of at most limit bytes (0: 64 KiB) and verifies nothing.
func ParseSigned(b []byte, limit int) (*Signed, error) {
	if limit == 0 {
		limit = maxSigned
	}
	if len(b) > limit {
		return nil, &Error{Kind: ErrMalformed, Place: "signed envelope", Got: fmt.Sprintf("%d bytes", len(b)),
			Expected: fmt.Sprintf("at most %d", limit)}
	}
	s := new(Signed)
	if err := decode(b, s); err != nil {
		return nil, &Error{Kind: ErrMalformed, Place: "signed envelope", Cause: err}
	}
	return s, nil
}

// SigningKey is a key of a signing role together with the root's statement about it.
type SigningKey struct {
	Secret    *SecretKey
	Statement *Signed
}

// Sign makes an envelope that anybody who knows the organisation's root can verify.
func (k *SigningKey) Sign(context Context, payload []byte, now time.Time) (*Signed, error) {
	statement, err := k.Statement.Marshal()
	if err != nil {
		return nil, err
	}
	s, err := sign(k.Secret, context, payload, now)
	if err != nil {
		return nil, err
	}
	s.Statement = statement
	return s, nil
}

func (k *SigningKey) signValue(context Context, v any, now time.Time) (*Signed, error) {
	payload, err := encode(v)
	if err != nil {
		return nil, err
	}
	return k.Sign(context, payload, now)
}
