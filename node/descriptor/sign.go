package descriptor

import (
	"bytes"
	"fmt"
	"time"

	"fednode/node/trust"
	"fednode/node/wire"
)

// Verified is a descriptor that was signed for its owner, with what was signed.
type Verified struct {
	*Descriptor
	Signer trust.Signer
	Hash   wire.Hash // of the content: equal for two that differ only in when and by which key they were signed
	Signed []byte    // to be handed on as it is

	envelope *trust.Signed
}

// Sign returns a descriptor signed at now with a deploy key of its owner. The lists of d may be in any order; everything
// that Verify checks of the content is checked here.
func Sign(d *Descriptor, key *trust.SigningKey, now time.Time) ([]byte, error) {
	d = d.sorted()
	if err := d.check(); err != nil {
		return nil, err
	}
	if key.Secret.Org != d.Org {
		return nil, d.refuse(ErrOwner, "", key.Secret.String(), "a deploy key of "+d.Org, "")
	}
	if key.Secret.Role != trust.RoleDeploy {
		return nil, d.refuse(trust.ErrRole, "", key.Secret.String(), "a deploy key", "")
	}
	payload, err := d.encode()
	if err != nil {
		return nil, err
	}
	envelope, err := key.Sign(trust.ContextDescriptor, payload, now)
	if err != nil {
		return nil, err
	}
	signed, err := envelope.Marshal()
	if err != nil {
		return nil, err
	}
	return signed, checkSize(signed, d.ID())
}

func checkSize(signed []byte, of string) error {
	if len(signed) <= MaxSigned {
		return nil
	}
	return &trust.Error{Kind: ErrTooLarge, Place: "descriptor of " + quote(of), Got: fmt.Sprintf("%d bytes", len(signed)),
		Expected: fmt.Sprintf("at most %d", MaxSigned), Remedy: "make two queries of it"}
}

// Verify reads a signed descriptor from outside: its size, the chain from its signature to the root of its owner, and
// that what it says fits together, the diagram and its hash, the fragments and who runs them. now is for the times in
// the chain. The error is a *trust.Error of a kind of this package or of trust, or wraps one.
func Verify(signed []byte, registry *trust.Registry, now time.Time) (*Verified, error) {
	v, err := read(signed)
	if err != nil {
		return nil, err
	}
	if v.Signer, err = v.authenticate(registry, now); err != nil {
		return nil, err
	}
	if err := v.check(); err != nil {
		return nil, err
	}
	return v, nil
}

// read takes a signed descriptor apart and believes nothing of it. It costs what its length allows, no more.
func read(signed []byte) (*Verified, error) {
	if err := checkSize(signed, "a peer"); err != nil {
		return nil, err
	}
	envelope, err := trust.ParseSigned(signed, MaxSigned)
	if err != nil {
		return nil, fmt.Errorf("descriptor: %w", err)
	}
	d, err := decode(envelope.Payload)
	if err != nil {
		return nil, err
	}
	return &Verified{Descriptor: d, Hash: hashOf(envelope.Payload), Signed: bytes.Clone(signed), envelope: envelope}, nil
}

// authenticate verifies who signed it, by what the registry believes at now.
func (v *Verified) authenticate(registry *trust.Registry, now time.Time) (trust.Signer, error) {
	signer, err := registry.Verify(v.envelope, trust.ContextDescriptor, trust.RoleDeploy, now)
	if err != nil {
		return trust.Signer{}, fmt.Errorf("descriptor of %s: %w", quote(v.ID()), err)
	}
	if v.Org != signer.Org {
		return trust.Signer{}, v.refuse(ErrOwner, "", "a key of "+signer.Org, "one of "+v.Org, "")
	}
	return signer, nil
}
