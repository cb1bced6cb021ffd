package proc

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/testnet"
)

// fednode is the built command, for all tests.
func TestMain(m *testing.M) { os.Exit(runTests(m)) }

// commandEnv names the variable that says where the command is.
const commandEnv = "FEDNODE_TEST_COMMAND"

// runTests builds the command, unless one is named, and runs the tests with it.
func runTests(m *testing.M) int {
	if os.Getenv(commandEnv) == "" {
		dir, err := os.MkdirTemp("", "fednode-proc-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		command := filepath.Join(dir, "fednode")
		if out, err := exec.Command("go", "build", "-o", command, "../../cmd/fednode").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
		if err := os.Setenv(commandEnv, command); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

func command() string { return os.Getenv(commandEnv) }

// patient is how long a test waits for what must come: a busy machine may be slow, and only a failing test waits so long.
const patient = 3 * time.Minute

// up starts a network that the test ends.
func up(t *testing.T, s testnet.Spec, change func(*testnet.Options)) *testnet.Net {
	t.Helper()
	o := testnet.Options{Dir: filepath.Join(t.TempDir(), "net"), Command: command()}
	if change != nil {
		change(&o)
	}
	net, err := testnet.Up(t.Context(), s, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	return net
}

// awaitView asks until a view is as it should be; what says what is waited for.
func awaitView(t *testing.T, net *testnet.Net, what string, ok func(v *testnet.View) bool) testnet.View {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		v := net.View(ctx)
		if ok(&v) {
			return v
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			require.Failf(t, "waited in vain", "%s; last: results %d, released %v, failures %v, nodes %+v", what, v.Results, v.Released, v.Failures, v.Nodes)
		}
	}
}

func done(v *testnet.View) bool { return v.Done }

// met reports whether every node answers and is connected to all others.
func met(v *testnet.View) bool {
	for _, n := range v.Nodes {
		if n.Status == nil || n.Peers != len(v.Nodes)-1 {
			return false
		}
	}
	return true
}

// connections writes a file of seeded connections, almost in order, with sources that are busy, that scan, and that do
// both. It returns its path.
func connections(t *testing.T, seed uint64, rows int) string {
	t.Helper()
	const (
		start     = 1_772_323_200_000_000 // µs; the beginning of a minute
		perSecond = 500
		disorder  = 1_000_000 // µs, the slack of the query
	)
	path := filepath.Join(t.TempDir(), "conns.csv")
	f, err := os.Create(path)
	require.NoError(t, err)
	w := bufio.NewWriterSize(f, 1<<18)
	rng := rand.New(rand.NewPCG(seed, 1))
	line := []byte("ts,src,dport\n")
	for i := range rows {
		_, err := w.Write(line)
		require.NoError(t, err)
		r := rng.Uint64()
		src, dport := 1+r%2000, 1+r>>20%4
		if i%20 == 0 {
			src, dport = r>>40%4, 1+r>>20%64 // few, to many ports
		}
		line = strconv.AppendInt(line[:0], start+int64(i)*1_000_000/perSecond+rng.Int64N(disorder), 10)
		line = append(line, ",10.0."...)
		line = strconv.AppendUint(line, src/256, 10)
		line = append(line, '.')
		line = strconv.AppendUint(line, src%256, 10)
		line = append(line, ',')
		line = strconv.AppendUint(line, dport, 10)
		line = append(line, '\n')
	}
	_, err = w.Write(line)
	require.NoError(t, err)
	require.NoError(t, w.Flush())
	require.NoError(t, f.Close())
	return path
}

// queryRun runs a query file in one process and returns the folder of its outputs, named NAME.csv.
func queryRun(t *testing.T, query, data string, outputs []string, set ...string) string {
	t.Helper()
	dir := t.TempDir()
	args := []string{"query", "run", query, "--source", "conns=" + data}
	for _, o := range outputs {
		args = append(args, "--sink", o+"="+filepath.Join(dir, o+".csv"))
	}
	for _, kv := range set {
		args = append(args, "--set", kv)
	}
	out, err := exec.Command(command(), args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}

// sum is the sha256 of a file.
func sum(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// homeFile is a file of results of a network.
func homeFile(net *testnet.Net, name string) string {
	return filepath.Join(net.Dir(), net.Nodes()[0], name)
}
