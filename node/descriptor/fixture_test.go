package descriptor

import (
	"crypto/sha256"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/bind"
	"fednode/node/connect/connectors"
	"fednode/node/trust"
	"fednode/query"
)

var day0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// queryFile is a query as its owner wrote it, north at node n1: connectors of its own, a stream of south's that is
// filtered there, a declared fragment, and everything brought together at home.
const queryFile = `
[query]
name = "netmon"
description = "who is active and scans"
max_delay = "3s"

[streams.conns]
connector = "file"
path = "/data/conn.log"
format = "zeek"
time = "ts"
max_out_of_order = "5m"
[streams.conns.columns]
ts    = "timestamp"
src   = { type = "ip",    field = "id.orig_h" }
dport = { type = "int64", field = "id.resp_p" }

[streams.south]
connector = "node"
stream = "south/conns"
[streams.south.columns]
ts = "timestamp"
src = "ip"
dport = "int64"

[operators.low]
kind = "filter"
input = "south"
where = "dport < 1024"

[operators.all]
kind = "union"
inputs = ["conns", "low"]

[operators.per_source]
kind = "aggregate"
input = "all"
window = { tumbling = "60s" }
group_by = ["src"]
aggregates = { conns = "count()", ports = "count_distinct(dport)" }

[operators.suspects]
kind = "filter"
input = "per_source"
where = "conns > 100 and ports > 10"

[outputs.suspects]
connector = "file"
path = "/out/suspects.csv"
input = "suspects"

[outputs.counts]
connector = "node"
input = "per_source"

[fragments.count]
operators = ["all", "per_source"]
replicas = 2
`

var atHome = query.Place{Org: "north", Node: "n1"}

// original is the diagram as the owner reads it, connectors and all.
func original(t testing.TB, text string) *query.Diagram {
	t.Helper()
	d, p := query.Parse("netmon.toml", []byte(text), query.Options{Connectors: bind.New(connectors.Kinds()),
		Placement: query.Placement{Home: atHome}})
	require.NoError(t, p.Err())
	return d
}

// peerID is the n-th of a fixed list of peer ids.
func peerID(t testing.TB, n byte) string {
	t.Helper()
	key, err := trust.GenerateKey(trust.RoleNode, "any", rand.NewChaCha8([32]byte{n}))
	require.NoError(t, err)
	id, err := key.Public().PeerID()
	require.NoError(t, err)
	return id.String()
}

// sample is the descriptor of queryFile at term 1, epoch 3.
func sample(t testing.TB) *Descriptor {
	t.Helper()
	diagram := original(t, queryFile).Canonical("north")
	return &Descriptor{Query: "netmon", Org: "north", Term: 1, Epoch: 3, Writer: peerID(t, 1), Semantics: query.Semantics, State: Running,
		Diagram: diagram, DiagramHash: sha256.Sum256(diagram), Home: atHome,
		Assignments: []Assignment{
			{"low", "south", "s1", peerID(t, 2)},
			{"count", "north", "n1", peerID(t, 1)},
			{"count", "north", "n2", peerID(t, 3)},
			{"suspects", "north", "n1", peerID(t, 1)},
		},
		Streams: []StreamOrigin{
			{"south/conns", "south", "s1", peerID(t, 2)},
			{"north/netmon.conns", "north", "n1", peerID(t, 1)},
		},
		Created: trust.TimeOf(day0)}
}

// party is an organisation with its keys, made from fixed randomness.
type party struct {
	dir    trust.Dir
	org    *trust.Org
	deploy *trust.SigningKey
}

func newParty(t testing.TB, name string) *party {
	t.Helper()
	var seed [32]byte
	copy(seed[:], name)
	p := &party{dir: trust.Dir{Path: filepath.Join(t.TempDir(), name)}}
	id, err := p.dir.Init(trust.Setup{Org: name, Node: "n1", Now: day0, Random: rand.NewChaCha8(seed)})
	require.NoError(t, err)
	p.org, p.deploy = id.Org, id.Deploy
	return p
}

// key returns the party's signing key of a role.
func (p *party) key(t testing.TB, role trust.Role) *trust.SigningKey {
	t.Helper()
	k, err := p.dir.LoadSigningKey(role)
	require.NoError(t, err)
	return k
}

// registry is what a node of own believes that trusts the partners.
func registry(t testing.TB, own *party, partners ...*party) *trust.Registry {
	t.Helper()
	r, err := trust.NewRegistry(own.org, trust.DefaultSkew)
	require.NoError(t, err)
	for _, p := range partners {
		require.NoError(t, r.Trust(p.org))
	}
	return r
}

// forge signs whatever d says, unchecked, as an owner with bad intentions could.
func forge(t testing.TB, d *Descriptor, key *trust.SigningKey) []byte {
	t.Helper()
	payload, err := d.encode()
	require.NoError(t, err)
	return envelope(t, payload, key, trust.ContextDescriptor, day0)
}

func envelope(t testing.TB, payload []byte, key *trust.SigningKey, context trust.Context, at time.Time) []byte {
	t.Helper()
	s, err := key.Sign(context, payload, at)
	require.NoError(t, err)
	b, err := s.Marshal()
	require.NoError(t, err)
	return b
}

// requireRefusal wants an error of a kind that says what a person needs.
func requireRefusal(t testing.TB, err, kind error) {
	t.Helper()
	require.ErrorIs(t, err, kind)
	var e *trust.Error
	require.ErrorAs(t, err, &e)
	require.NotEmpty(t, e.Place)
	require.True(t, e.Got != "" || e.Expected != "" || e.Remedy != "" || e.Cause != nil, "says nothing: %v", err)
}
