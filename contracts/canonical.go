package contracts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// MaxEncoded bounds the canonical bytes of terms.
const MaxEncoded = 1 << 20

// ID is the hash that names a contract: the SHA-256 of the canonical bytes of its terms, in hexadecimal.
type ID string

// Encode returns the canonical bytes of terms: deterministic CBOR, the same for the same terms.
func Encode(t *Terms) ([]byte, error) {
	if f := t.faults(); len(f) > 0 {
		return nil, fmt.Errorf("contract %q: %w", t.Name, f.err())
	}
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		return nil, fmt.Errorf("contract %q: %w", t.Name, err)
	}
	b, err := mode.Marshal(t)
	if err == nil && len(b) > MaxEncoded {
		err = fmt.Errorf("%d bytes: at most %d are possible", len(b), MaxEncoded)
	}
	if err != nil {
		return nil, fmt.Errorf("contract %q: %w", t.Name, err)
	}
	return b, nil
}

// IDOf returns the hash of canonical bytes.
func IDOf(canonical []byte) ID {
	sum := sha256.Sum256(canonical)
	return ID(hex.EncodeToString(sum[:]))
}

// Decode reads canonical bytes from anywhere. It refuses terms that are wrong, and any other encoding of right ones: a
// hash names one sequence of bytes.
func Decode(b []byte) (*Terms, error) {
	if len(b) > MaxEncoded {
		return nil, fmt.Errorf("the terms of a contract have %d bytes: at most %d are read", len(b), MaxEncoded)
	}
	mode, err := cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden, ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
		MaxNestedLevels: 8, MaxArrayElements: 1024, MaxMapPairs: 1024, UTF8: cbor.UTF8RejectInvalid,
	}.DecMode()
	if err != nil {
		return nil, fmt.Errorf("the terms of a contract: %w", err)
	}
	t := &Terms{}
	if err := mode.Unmarshal(b, t); err != nil {
		return nil, fmt.Errorf("the terms of a contract cannot be read: %w", err)
	}
	again, err := Encode(t)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, b) {
		return nil, errors.New("the terms of a contract are not in their canonical form")
	}
	return t, nil
}

func (f faults) err() error {
	list := make([]error, len(f))
	for i, one := range f {
		list[i] = fmt.Errorf("%s: %s", one.path, one.says)
	}
	return errors.Join(list...)
}
