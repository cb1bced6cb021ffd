package trust

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
)

// PublicKey is an Ed25519 public key.
type PublicKey [ed25519.PublicKeySize]byte

// ID names the key in lists and messages: the first 8 bytes of its SHA-256 in hexadecimal.
func (k PublicKey) ID() string {
	h := sha256.Sum256(k[:])
	return hex.EncodeToString(h[:8])
}

// String prints the whole key as 64 hexadecimal digits.
func (k PublicKey) String() string { return hex.EncodeToString(k[:]) }

// PeerID is the libp2p identity of a node key. It fails only for bytes that are no key.
func (k PublicKey) PeerID() (peer.ID, error) {
	pub, err := crypto.UnmarshalEd25519PublicKey(k[:])
	if err != nil {
		return "", fmt.Errorf("trust: key %s: %w", k.ID(), err)
	}
	return peer.IDFromPublicKey(pub)
}

// KeyOfPeer is the inverse of PeerID; it refuses peers of another kind of key.
func KeyOfPeer(id peer.ID) (PublicKey, error) {
	refuse := func(cause error) error {
		return &Error{Kind: ErrIdentity, Place: "peer " + id.String(), Expected: "an Ed25519 identity", Cause: cause}
	}
	pub, err := id.ExtractPublicKey()
	if err != nil {
		return PublicKey{}, refuse(err)
	}
	raw, err := pub.Raw()
	if err != nil || pub.Type() != crypto.Ed25519 || len(raw) != ed25519.PublicKeySize {
		return PublicKey{}, refuse(err)
	}
	return PublicKey(raw), nil
}

// SecretKey is one private key with its purpose. It prints without the secret.
type SecretKey struct {
	Role    Role
	Org     string
	private ed25519.PrivateKey
}

// GenerateKey makes a key from 32 bytes of random.
func GenerateKey(role Role, org string, random io.Reader) (*SecretKey, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return nil, fmt.Errorf("trust: generate %s key: %w", role, err)
	}
	return &SecretKey{Role: role, Org: org, private: ed25519.NewKeyFromSeed(seed)}, nil
}

// Public returns the public half.
func (k *SecretKey) Public() PublicKey { return PublicKey(k.private.Public().(ed25519.PublicKey)) }

// String names the key; the secret is never printed.
func (k *SecretKey) String() string {
	return fmt.Sprintf("%s key %s of %s", k.Role, k.Public().ID(), k.Org)
}

// GoString is String: %#v must not print the secret either.
func (k *SecretKey) GoString() string { return k.String() }

// Libp2p returns the key as a libp2p identity.
func (k *SecretKey) Libp2p() (crypto.PrivKey, error) {
	p, err := crypto.UnmarshalEd25519PrivateKey(k.private)
	if err != nil {
		return nil, fmt.Errorf("trust: %s: %w", k, err)
	}
	return p, nil
}
