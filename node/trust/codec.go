package trust

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/fxamacker/cbor/v2"
)

// Limits on what is decoded.
const (
	maxSigned    = 64 << 10 // an envelope as bytes, but for descriptors
	maxElements  = 4096     // of one array
	maxFields    = 64       // of one map
	maxNesting   = 8
	maxTextShown = 80 // of a foreign string in a message
)

// encoding is the deterministic CBOR of everything signed; decoding accepts only that form. Neither ever changes.
var (
	encoding = mustMode(cbor.CoreDetEncOptions().EncMode())
	decoding = mustMode(cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
		IndefLength:       cbor.IndefLengthForbidden,
		TagsMd:            cbor.TagsForbidden,
		MaxArrayElements:  maxElements,
		MaxMapPairs:       maxFields,
		MaxNestedLevels:   maxNesting,
	}.DecMode())
)

func mustMode[M any](m M, err error) M {
	if err != nil {
		panic("trust: CBOR options of our own are wrong: " + err.Error())
	}
	return m
}

func encode(v any) ([]byte, error) {
	b, err := encoding.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("trust: encode %T: %w", v, err)
	}
	return b, nil
}

var errNotCanonical = errors.New("not in the deterministic form")

// decode reads b, all of it, into v, and refuses any but the deterministic encoding: what is hashed, signed and
// compared elsewhere is then the same bytes for the same meaning.
func decode(b []byte, v any) error {
	if err := decoding.Unmarshal(b, v); err != nil {
		return err
	}
	again, err := encoding.Marshal(v)
	if err != nil {
		return err
	}
	if !bytes.Equal(again, b) {
		return errNotCanonical
	}
	return nil
}

// quote shows a string from outside: escaped and cut.
func quote(s string) string {
	if len(s) > maxTextShown {
		return strconv.Quote(s[:maxTextShown]) + "…"
	}
	return strconv.Quote(s)
}
