package api

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// Backend is the node as the API sees it. Its methods may be called from many goroutines. What they return belongs to
// the caller.
//
// Errors say what the caller did wrong by wrapping ErrNotFound, ErrExists, ErrInvalid, ErrRefused or ErrUnavailable; a
// *spec.Error is a wrong file. Any other error is answered with 500.
type Backend interface {
	// Ready reports whether the node has begun its work and has caught up with what was there before its start.
	Ready() bool
	// Status returns how the node stands. It is asked by every scrape and every refresh of a terminal view, so it must be
	// cheap, and must not wait for a busy part.
	Status() Status
	Peers() []PeerInfo
	// AddPeer keeps a session with a peer from now on. The address is a multiaddress that ends in /p2p/PEER.
	AddPeer(ctx context.Context, address string) error

	// Queries returns all queries known here, by id.
	Queries() []QueryInfo
	// Query returns one query, by its name or, if it is another organisation's, by org/name.
	Query(name string) (*QueryDetail, error)
	// Deploy deploys the query in src; file is its name in messages. It returns when every host has agreed.
	Deploy(ctx context.Context, file string, src []byte, replace bool) (*DeployResult, error)
	StopQuery(ctx context.Context, name string) error
	// AcceptReplica lets what of a query runs here read again from a node, org/node, whose rows differ from those of another
	// one that is gone.
	AcceptReplica(ctx context.Context, name, producer string) error

	// Streams returns the streams produced here, by name.
	Streams() []StreamInfo
	// Tail follows a stream, produced here or by a peer, by its full name.
	Tail(ctx context.Context, stream string, from TailFrom) (Tail, error)
	// PushTarget returns where rows for a stream go that others push to, by its full name.
	PushTarget(stream string) (PushTarget, error)

	// Exports returns what this node lets out.
	Exports() []ExportInfo
	// Catalog returns the streams that partners are known to have; org "" returns those of all.
	Catalog(org string) []Offer
	// Config returns every setting in force, secrets left out.
	Config() []Setting
}

// Tail delivers the frames of a stream. It belongs to one goroutine.
type Tail interface {
	// Next returns the next event, owned, as package client describes them. It fails only when ctx ends.
	Next(ctx context.Context) (*tuple.Frame, error)
	Close()
}

// TailFrom says where a tail begins. The zero value begins with what comes from now on.
type TailFrom struct {
	// Beginning asks for everything that is still held.
	Beginning bool
	// After asks for what follows a tuple; the zero TupleID is none.
	After TupleID
	// Latest asks for tentative results too.
	Latest bool
}

// TupleID names a tuple of a stream. Ids are numbered anew in every generation.
type TupleID struct {
	// Generation 0 is the one in force.
	Generation uint64
	// ID counts from 1.
	ID uint64
}

// String renders the id as GENERATION:ID, or as ID without a generation.
func (t TupleID) String() string { return string(t.append(nil)) }

func (t TupleID) append(dst []byte) []byte {
	if t.Generation != 0 {
		dst = append(strconv.AppendUint(dst, t.Generation, 10), ':')
	}
	return strconv.AppendUint(dst, t.ID, 10)
}

// ParseTupleID reads what String writes.
func ParseTupleID(s string) (TupleID, error) {
	var t TupleID
	generation, id, both := strings.Cut(s, ":")
	if !both {
		generation, id = "0", s
	}
	var err error
	if t.Generation, err = strconv.ParseUint(generation, 10, 64); err == nil {
		t.ID, err = strconv.ParseUint(id, 10, 64)
	}
	if err != nil {
		return TupleID{}, fmt.Errorf("%w: %q is no tuple id; expected ID or GENERATION:ID", ErrInvalid, s)
	}
	return t, nil
}

// PushTarget is a stream that takes pushed rows.
type PushTarget struct {
	// Shape is what bodies are read as.
	Shape *connect.Stream
	Inbox Inbox
}

// Inbox takes the rows of one body and returns when they are durable; *push.Inbox is one.
type Inbox interface {
	Push(ctx context.Context, key string, blocks []*connect.Block) error
}
