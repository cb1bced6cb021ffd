package descriptor

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"

	"github.com/fxamacker/cbor/v2"

	"fednode/node/trust"
	"fednode/node/wire"
	"fednode/query"
)

// Limits on what is decoded.
const (
	// MaxSigned is the longest signed descriptor in bytes: it fits into one control message and one document of a store.
	MaxSigned = 240 << 10

	maxElements = 4096 // of one array
	maxFields   = 32   // of one map
	maxNesting  = 6
)

// formatVersion is the version of the encoding. Another one has other fields, so nothing else of it is looked at.
const formatVersion = 1

// body is a descriptor as it is encoded. Field numbers never change their meaning.
type body struct {
	Version     uint64       `cbor:"1,keyasint"`
	Query       string       `cbor:"2,keyasint"`
	Org         string       `cbor:"3,keyasint"`
	Term        uint64       `cbor:"4,keyasint"`
	Epoch       uint64       `cbor:"5,keyasint"`
	Writer      string       `cbor:"6,keyasint"`
	Semantics   int          `cbor:"7,keyasint"`
	State       State        `cbor:"8,keyasint"`
	Diagram     []byte       `cbor:"9,keyasint"`
	DiagramHash wire.Hash    `cbor:"10,keyasint"`
	Home        home         `cbor:"11,keyasint"`
	Assignments []assignment `cbor:"12,keyasint"`
	Streams     []origin     `cbor:"13,keyasint"`
	Created     trust.Time   `cbor:"14,keyasint"`
}

type home struct {
	_      struct{} `cbor:",toarray"`
	Org    string
	Node   string
	Labels string
}

type assignment struct {
	_        struct{} `cbor:",toarray"`
	Fragment string
	Org      string
	Node     string
	Peer     string
}

type origin struct {
	_      struct{} `cbor:",toarray"`
	Stream string
	Org    string
	Node   string
	Peer   string
}

// encoding is deterministic CBOR; decoding accepts only that form. Neither is ever changed.
var (
	encoding = mustMode(cbor.CoreDetEncOptions().EncMode())
	decoding = mustMode(cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
		IndefLength:       cbor.IndefLengthForbidden,
		TagsMd:            cbor.TagsForbidden,
		UTF8:              cbor.UTF8RejectInvalid,
		MaxArrayElements:  maxElements,
		MaxMapPairs:       maxFields,
		MaxNestedLevels:   maxNesting,
	}.DecMode())
	// peeking reads the version of a format whose other fields may be unknown.
	peeking = mustMode(cbor.DecOptions{
		IndefLength:      cbor.IndefLengthForbidden,
		TagsMd:           cbor.TagsForbidden,
		MaxArrayElements: maxElements,
		MaxMapPairs:      maxFields,
		MaxNestedLevels:  maxNesting,
	}.DecMode())
)

func mustMode[M any](m M, err error) M {
	if err != nil {
		panic("descriptor: CBOR options of our own are wrong: " + err.Error())
	}
	return m
}

// encode returns the one encoding of a descriptor. Lists are in the order that check asks for.
func (d *Descriptor) encode() ([]byte, error) {
	b := body{Version: formatVersion, Query: d.Query, Org: d.Org, Term: d.Term, Epoch: d.Epoch, Writer: d.Writer, Semantics: d.Semantics,
		State: d.State, Diagram: d.Diagram, DiagramHash: d.DiagramHash, Home: home{Org: d.Home.Org, Node: d.Home.Node, Labels: d.Home.Labels},
		Assignments: make([]assignment, len(d.Assignments)), Streams: make([]origin, len(d.Streams)), Created: d.Created}
	for i, a := range d.Assignments {
		b.Assignments[i] = assignment{Fragment: a.Fragment, Org: a.Org, Node: a.Node, Peer: a.Peer}
	}
	for i, s := range d.Streams {
		b.Streams[i] = origin{Stream: s.Stream, Org: s.Org, Node: s.Node, Peer: s.Peer}
	}
	out, err := encoding.Marshal(&b)
	if err != nil {
		return nil, fmt.Errorf("descriptor: encode %s: %w", d.ID(), err)
	}
	return out, nil
}

var errNotCanonical = errors.New("not in the deterministic form")

// decode reads the encoding of a descriptor, and nothing about whether what it says makes sense.
func decode(b []byte) (*Descriptor, error) {
	const place = "descriptor"
	var v struct {
		Version uint64 `cbor:"1,keyasint"`
	}
	if err := peeking.Unmarshal(b, &v); err != nil {
		return nil, &trust.Error{Kind: trust.ErrMalformed, Place: place, Cause: err}
	}
	if v.Version != formatVersion {
		return nil, &trust.Error{Kind: ErrVersion, Place: place, Got: "format " + strconv.FormatUint(v.Version, 10),
			Expected: "format " + strconv.Itoa(formatVersion), Remedy: "bring both nodes to one version of fednode"}
	}
	var in body
	if err := decoding.Unmarshal(b, &in); err != nil {
		return nil, &trust.Error{Kind: trust.ErrMalformed, Place: place, Cause: err}
	}
	d := in.descriptor()
	again, err := d.encode()
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, b) {
		return nil, &trust.Error{Kind: trust.ErrMalformed, Place: place, Cause: errNotCanonical}
	}
	return d, nil
}

func (b *body) descriptor() *Descriptor {
	d := &Descriptor{Query: b.Query, Org: b.Org, Term: b.Term, Epoch: b.Epoch, Writer: b.Writer, Semantics: b.Semantics, State: b.State,
		Diagram: b.Diagram, DiagramHash: b.DiagramHash, Home: query.Place{Org: b.Home.Org, Node: b.Home.Node, Labels: b.Home.Labels},
		Created: b.Created}
	for _, a := range b.Assignments {
		d.Assignments = append(d.Assignments, Assignment{Fragment: a.Fragment, Org: a.Org, Node: a.Node, Peer: a.Peer})
	}
	for _, s := range b.Streams {
		d.Streams = append(d.Streams, StreamOrigin{Stream: s.Stream, Org: s.Org, Node: s.Node, Peer: s.Peer})
	}
	return d
}

// hashOf identifies the content of a descriptor, whenever and with whichever key it was signed.
func hashOf(encoded []byte) wire.Hash { return sha256.Sum256(encoded) }
