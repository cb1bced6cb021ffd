package config

import (
	"time"

	"fednode/node/bind"
	"fednode/node/connect"
	"fednode/node/export"
	"fednode/query"
	"fednode/query/spec"
)

// Config is a node's configuration.
type Config struct {
	// File is where it was read from; Dir its directory, which relative paths are relative to.
	File string
	Dir  string

	Node       Node
	Listen     Listen
	Federation Federation
	Hosts      []Host
	Streams    []*query.Stream
	Connectors *bind.Connectors // of Streams
	Exports    []*export.Export
	// Databases are those that queries may write to, by name.
	Databases    map[string]connect.Database
	Availability Availability
	Checkpoint   Checkpoint
	Limits       Limits
	Log          Log
}

// Node says who the node is.
type Node struct {
	Org  string
	Name string
	// DataDir holds logs and state.
	DataDir string
	Labels  map[string]string
}

// Listen says where the node can be reached.
type Listen struct {
	// P2P is host:port of TCP and QUIC; "" does not listen.
	P2P string
	// Announce are multiaddresses that others are told instead.
	Announce []string
	// API is host:port of the HTTP API, or unix:PATH.
	API string
	// TLSCert and TLSKey serve the API over TLS; an address that is not loopback demands them.
	TLSCert, TLSKey string
}

// Federation says whom the node talks to.
type Federation struct {
	// DialOut: this side makes all connections.
	DialOut bool
	// Peers are multiaddresses with peer id of nodes to keep a session with, besides those in partners' files.
	Peers []string
	// ClockSkew is how far partners' clocks may differ, for what is signed.
	ClockSkew time.Duration
}

// Host says what runs here for one partner before there are contracts.
type Host struct {
	Org string
	// Operators are the kinds that may run; empty allows all.
	Operators    []string
	MaxFragments int
	// MaxMemory bounds the state of one fragment in bytes.
	MaxMemory int64
}

// Availability sets how failures are found.
type Availability struct {
	Heartbeat time.Duration
	Miss      int
	// ClockSkew is how far the clocks of sources may differ without that being a failure.
	ClockSkew time.Duration
	// Grace is what one hop may take, its jitter included.
	Grace time.Duration
	// Checksums lets boundaries of what fragments give carry checksums, by which consumers notice replicas that differ.
	Checksums bool
}

// Checkpoint sets recovery points.
type Checkpoint struct {
	Interval time.Duration
}

// Limits bound what the node holds.
type Limits struct {
	// Memory is the soft limit of the whole process in bytes; 0 sets none.
	Memory int64
	// SourceLog stops a source while its log holds more.
	SourceLog int64
	// OutputBuffer stops a fragment's input while an output holds more unacknowledged bytes in memory. What exceeds half of it
	// goes to disk, at most OutputSpill bytes.
	OutputBuffer int64
	OutputSpill  int64
	// InputBuffer stops a fragment when more waits in memory for the boundaries of its inputs.
	InputBuffer int64
	// Reserve is free disk space below which intake stops.
	Reserve int64
	// Partner bounds what one partner may take of us.
	Partner Partner
}

// Partner bounds one partner.
type Partner struct {
	Streams     int
	BytesPerSec int64
	// Buffer and Age: past either a subscription lapses and nobody waits for it.
	Buffer int64
	Age    time.Duration
}

// Log sets the node's own log.
type Log struct {
	Level string // debug, info, warn, error
	JSON  bool
}

// Options is what Read needs besides the file.
type Options struct {
	// Env gives the variables that the file refers to.
	Env spec.Env
	// Connectors are the kinds of connectors.
	Connectors *bind.Connectors
	// Keys gives the secrets of exports by name: OwnKey or "contract:ID". Without it no column can be hashed.
	Keys func(name string) (*export.Key, error)
}

// OwnKey names the secret of exports that nobody else has.
const OwnKey = "own"
