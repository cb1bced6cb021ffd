package node

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"fednode/node/api"
	"fednode/node/bind"
	"fednode/node/config"
	"fednode/node/connect/connectors"
	"fednode/node/export"
	"fednode/node/trust"
)

func TestMain(m *testing.M) {
	// A probe of another member that is under way when a node stops ends by itself, within a second.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/hashicorp/memberlist.(*Memberlist).probeNode"))
}

// patient is how long a test waits for what must come: a busy machine may be slow, and only a failing test waits so long.
const patient = time.Minute

// fed is a federation of nodes in this process.
type fed struct {
	t     *testing.T
	nodes map[string]*party
}

type party struct {
	t    *testing.T
	name string
	dir  trust.Dir
	toml string
	node *Node
	stop func()
}

// newFed makes organisations that trust each other. files is each node's node.toml without [node] and [listen].
func newFed(t *testing.T, files map[string]string) *fed {
	t.Helper()
	f := &fed{t: t, nodes: make(map[string]*party)}
	base := t.TempDir()
	for name, toml := range files {
		m := &party{t: t, name: name, dir: trust.Dir{Path: filepath.Join(base, name)}}
		_, err := m.dir.Init(trust.Setup{Org: name, Node: name + "-1", Now: time.Now(), Random: rand.Reader})
		require.NoError(t, err)
		m.toml = tomlOf(name, name+"-1", toml)
		f.nodes[name] = m
	}
	for _, a := range f.nodes {
		for _, b := range f.nodes {
			if a != b {
				org, err := b.dir.LoadOrg()
				require.NoError(t, err)
				require.NoError(t, a.dir.TrustPartner(org))
			}
		}
	}
	return f
}

// enrol adds a node to the organisation of a first one.
func (f *fed) enrol(org, name, toml string) *party {
	f.t.Helper()
	first := f.nodes[org]
	m := &party{t: f.t, name: name, dir: trust.Dir{Path: filepath.Join(filepath.Dir(first.dir.Path), name)}}
	text, err := m.dir.InitNode(trust.Setup{Org: org, Node: name, Now: time.Now(), Random: rand.Reader})
	require.NoError(f.t, err)
	request, err := trust.ParseRequest(name, text)
	require.NoError(f.t, err)
	key, err := first.dir.LoadSigningKey(trust.RoleNodes)
	require.NoError(f.t, err)
	signed, err := trust.SignRequest(key, request, time.Now())
	require.NoError(f.t, err)
	certificate, err := trust.FormatCertificate(signed)
	require.NoError(f.t, err)
	about, err := first.dir.ExportOrg(nil)
	require.NoError(f.t, err)
	_, err = m.dir.Join(certificate, about)
	require.NoError(f.t, err)
	partners, err := first.dir.Partners()
	require.NoError(f.t, err)
	for _, o := range partners {
		require.NoError(f.t, m.dir.TrustPartner(o))
	}
	m.toml = tomlOf(org, name, toml)
	f.nodes[name] = m
	return m
}

// tomlOf is the whole node.toml of a node.
func tomlOf(org, name, toml string) string {
	return fmt.Sprintf("[node]\norg = %q\nname = %q\n[listen]\np2p = \"127.0.0.1:0\"\napi = \"127.0.0.1:0\"\n[limits]\ndisk_reserve = \"1MiB\"\n[checkpoint]\ninterval = \"200ms\"\n%s", org, name, toml)
}

// start runs a member.
func (m *party) start() {
	m.t.Helper()
	cfg, problems := config.Read(filepath.Join(m.dir.Path, "node.toml"), []byte(m.toml), config.Options{
		Env: os.LookupEnv, Connectors: bind.New(connectors.Kinds()), Keys: func(name string) (*export.Key, error) { return &export.Key{Name: name}, nil },
	})
	require.NoError(m.t, problems.Err())
	log := zap.NewNop()
	if testing.Verbose() {
		log = zaptest.NewLogger(m.t, zaptest.Level(zap.InfoLevel)).Named(m.name)
	}
	n, err := New(Options{Config: cfg, Trust: m.dir, Log: log, Version: "test"})
	require.NoError(m.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	m.node = n
	m.stop = func() {
		cancel()
		m.stop = func() {}
		select {
		case err := <-done:
			require.NoError(m.t, err)
		case <-time.After(patient):
			require.Fail(m.t, "the node does not stop", "%s:\n%s", m.name, goroutines())
		}
	}
	m.t.Cleanup(func() { m.stop() })
}

// goroutines prints what everything waits for.
func goroutines() []byte {
	buf := make([]byte, 4<<20)
	return buf[:runtime.Stack(buf, true)]
}

// connect lets every node know where the others are, and waits until all sessions stand.
func (f *fed) connect() {
	f.t.Helper()
	for _, a := range f.nodes {
		for _, b := range f.nodes {
			if a == b {
				continue
			}
			addrs, err := b.node.Addresses(f.t.Context())
			require.NoError(f.t, err)
			require.NoError(f.t, a.node.AddPeer(addrs[0]))
		}
	}
	for _, a := range f.nodes {
		f.eventually(func() bool { return a.node.streams.peersUp() == len(f.nodes)-1 }, "all peers of "+a.name+" are up")
	}
}

// eventually waits for a condition, looking again whenever a short while has passed.
func (f *fed) eventually(ok func() bool, what string) {
	f.t.Helper()
	require.Eventually(f.t, ok, patient, 5*time.Millisecond, what)
}

const connColumns = `
[streams.conns.columns]
ts = { type = "timestamp", unit = "ms" }
src = "string"
dport = "int64"
`

// connsOf is an organisation's node.toml with a file of connections that the others may read.
func connsOf(path string) string {
	return fmt.Sprintf(`
[streams.conns]
connector = "file"
path = %q
time = "ts"
%s
[exports.conns]
stream = "conns"
to = ["north", "south", "east"]
columns = { ts = "keep", src = "keep", dport = "keep" }
`, path, connColumns)
}

// writeConns writes connections of one organisation: some sources are busy, some scan.
func writeConns(t *testing.T, path string, seed int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("ts,src,dport\n")
	for i := range 6000 {
		src := fmt.Sprintf("10.0.%d.%d", seed, i%50)
		if i%3 == 0 {
			src = "192.0.2.7" // busy and scanning at every organisation
		}
		fmt.Fprintf(&b, "%d,%s,%d\n", 1_700_000_000_000+i*20, src, 1+(i*seed)%40)
	}
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
}

const netmon = `
[query]
name = "netmon"
max_delay = "inf"
%s
[operators.all]
kind = "union"
inputs = ["north", "south", "east"]
[operators.per_source]
kind = "aggregate"
input = "all"
window = { tumbling = "60s" }
group_by = ["src"]
aggregates = { conns = "count()", ports = "count_distinct(dport)" }
[operators.active]
kind = "filter"
input = "per_source"
where = "conns > 100"
[operators.scanning]
kind = "filter"
input = "per_source"
where = "ports > 10"
[operators.suspects]
kind = "join"
left = "active"
right = "scanning"
on = ["src"]
window = "same"
columns = { conns = "left.conns", ports = "right.ports" }
[outputs.suspects]
input = "suspects"
connector = "file"
path = %q
%s
`

func netmonQuery(path, more string) string {
	var streams strings.Builder
	for _, org := range []string{"north", "south", "east"} {
		fmt.Fprintf(&streams, "[streams.%s]\nconnector = \"node\"\nstream = \"%s/conns\"\ntime = \"ts\"\ncolumns = { ts = \"timestamp\", src = \"string\", dport = \"int64\" }\n", org, org)
	}
	return fmt.Sprintf(netmon, streams.String(), path, more)
}

// threeOrgs makes the federation of the network-monitoring query, and starts it.
func threeOrgs(t *testing.T, more map[string]string) *fed {
	t.Helper()
	files := make(map[string]string)
	for i, org := range []string{"north", "south", "east"} {
		path := filepath.Join(t.TempDir(), org+".csv")
		writeConns(t, path, i+1)
		files[org] = connsOf(path) + more[org]
	}
	f := newFed(t, files)
	for _, m := range f.nodes {
		m.start()
	}
	f.connect()
	return f
}

// lines returns the whole lines of a file, none if it is not there yet: what no newline ends is being written.
func lines(path string) []string {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	all := strings.Split(string(b), "\n")
	return all[:len(all)-1]
}

// wantSuspects is what the query finds: the source that is busy and scans, once a window.
var wantSuspects = []string{
	"window_start,window_end,src,conns,ports",
	"2023-11-14T22:13:00Z,2023-11-14T22:14:00Z,192.0.2.7,2001,40",
	"2023-11-14T22:14:00Z,2023-11-14T22:15:00Z,192.0.2.7,3000,40",
	"2023-11-14T22:15:00Z,2023-11-14T22:16:00Z,192.0.2.7,999,40",
}

// TestFederatedQuery runs a query over three organisations: each exports its stream, everything else runs at the first.
func TestFederatedQuery(t *testing.T) {
	f := threeOrgs(t, nil)
	out := filepath.Join(t.TempDir(), "suspects.csv")
	d, err := f.nodes["north"].node.Deploy(t.Context(), "netmon.toml", []byte(netmonQuery(out, "")), false)
	require.NoError(t, err)
	require.True(t, d.Changed)
	f.eventually(func() bool { return len(lines(out)) >= len(wantSuspects) }, "results arrive")
	require.Equal(t, wantSuspects, lines(out))

	again, err := f.nodes["north"].node.Deploy(t.Context(), "netmon.toml", []byte(netmonQuery(out, "")), false)
	require.NoError(t, err)
	require.False(t, again.Changed, "the same content again is a no-op")
	_, err = f.nodes["north"].node.Deploy(t.Context(), "netmon.toml", []byte(netmonQuery(strings.Replace(out, ".csv", "2.csv", 1), "")), false)
	require.ErrorIs(t, err, ErrExists)
}

// edges places a filter beside each partner's source.
const edges = `
[operators.south_ports]
kind = "filter"
input = "south"
where = "dport > 0"
[fragments.edge]
operators = ["south_ports"]
place = { org = "south" }
`

func edgeQuery(out string) string {
	return strings.Replace(netmonQuery(out, edges), `inputs = ["north", "south", "east"]`, `inputs = ["north", "south_ports", "east"]`, 1)
}

// TestHostedFragment runs a fragment at a partner, which has to allow it.
func TestHostedFragment(t *testing.T) {
	f := threeOrgs(t, map[string]string{"south": "[[federation.host]]\norg = \"north\"\noperators = [\"filter\"]\n"})
	out := filepath.Join(t.TempDir(), "suspects.csv")
	d, err := f.nodes["north"].node.Deploy(t.Context(), "netmon.toml", []byte(edgeQuery(out)), false)
	require.NoError(t, err)
	require.Contains(t, d.Assignments, api.Assignment{Fragment: "edge", Org: "south", Node: "south-1"})
	f.eventually(func() bool { return len(lines(out)) >= len(wantSuspects) }, "results arrive")
	require.Equal(t, wantSuspects, lines(out))
}

// TestHostingRefused shows that nothing is hosted for others by default, and that the refusal names the missing clause.
func TestHostingRefused(t *testing.T) {
	f := threeOrgs(t, nil)
	_, err := f.nodes["north"].node.Deploy(t.Context(), "netmon.toml", []byte(edgeQuery(filepath.Join(t.TempDir(), "out.csv"))), false)
	var refused *api.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Contains(t, refused.Error(), "federation.host")
}

// TestRestarts stops and starts every node in turn while the query runs; the results are those of an undisturbed run.
func TestRestarts(t *testing.T) {
	f := threeOrgs(t, map[string]string{"south": "[[federation.host]]\norg = \"north\"\n"})
	out := filepath.Join(t.TempDir(), "suspects.csv")
	_, err := f.nodes["north"].node.Deploy(t.Context(), "netmon.toml", []byte(edgeQuery(out)), false)
	require.NoError(t, err)
	for _, org := range []string{"south", "east", "north", "south"} {
		f.nodes[org].stop()
		f.nodes[org].start()
	}
	f.eventually(func() bool { return len(lines(out)) >= len(wantSuspects) }, "results arrive")
	require.Equal(t, wantSuspects, lines(out))
}

// TestReplace shows that a query replaced by another version goes on with the state of what did not change, and that a
// stopped one leaves nothing behind.
func TestReplace(t *testing.T) {
	f := threeOrgs(t, nil)
	north := f.nodes["north"].node
	dir := t.TempDir()
	first, second := filepath.Join(dir, "suspects.csv"), filepath.Join(dir, "again.csv")
	_, err := north.Deploy(t.Context(), "netmon.toml", []byte(netmonQuery(first, "")), false)
	require.NoError(t, err)
	f.eventually(func() bool { return len(lines(first)) >= len(wantSuspects) }, "results arrive")
	d, err := north.Deploy(t.Context(), "netmon.toml", []byte(netmonQuery(second, "")), true)
	require.NoError(t, err)
	require.EqualValues(t, 2, d.Epoch)
	b := north.Backend(nil, func() []string { return nil })
	f.eventually(func() bool {
		q, err := b.Query("netmon")
		return err == nil && q.Here && q.Epoch == 2
	}, "the second version runs")
	require.NoError(t, north.StopQuery("netmon"))
	f.eventually(func() bool {
		q, err := b.Query("netmon")
		return err == nil && !q.Here && q.State == "stopped"
	}, "the query is stopped")
	require.ErrorIs(t, north.StopQuery("nothing"), api.ErrNotFound)
}

// TestUntrust shows that a partner that is no longer trusted is disconnected, and that one that is trusted again comes
// back, both without a restart.
func TestUntrust(t *testing.T) {
	f := threeOrgs(t, nil)
	north, south := f.nodes["north"], f.nodes["south"]
	require.NoError(t, north.dir.UntrustPartner("south"))
	f.eventually(func() bool { return north.node.streams.peersUp() == 1 && south.node.streams.peersUp() == 1 }, "south is disconnected")
	org, err := south.dir.LoadOrg()
	require.NoError(t, err)
	require.NoError(t, north.dir.TrustPartner(org))
	f.eventually(func() bool { return north.node.streams.peersUp() == 2 }, "south is back")
}
