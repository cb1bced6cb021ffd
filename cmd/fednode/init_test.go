package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/trust"
)

func TestInitMakesANode(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "n")
	var made madeNode
	okJSON(t, &made, "init", "--org", "north", "--node", "edge-7", "--dir", dir)
	require.Equal(t, "north", made.Org)
	require.Equal(t, []string{"org.key"}, made.Offline)
	for _, f := range made.Files {
		st, err := os.Stat(filepath.Join(dir, f))
		require.NoError(t, err)
		if strings.HasSuffix(f, ".key") || strings.HasSuffix(f, ".token") {
			require.EqualValues(t, 0o600, st.Mode().Perm(), f)
		}
	}
	cfg, _, err := readConfig(filepath.Join(dir, configName))
	require.NoError(t, err)
	require.Equal(t, "edge-7", cfg.Node.Name)
	id, err := trust.Dir{Path: dir}.LoadIdentity()
	require.NoError(t, err)
	require.Equal(t, made.Peer, id.Member.Peer.String())
	require.Equal(t, made.Words, id.Org.Fingerprint().Words())
}

func TestInitSaysWhatComesNext(t *testing.T) {
	t.Chdir(t.TempDir())
	out := ok(t, "init", "--org", "north")
	for _, s := range []string{"fednode run --config fednode-north/node.toml", "move it offline", "Fingerprint", "fednode org export --dir fednode-north"} {
		require.Contains(t, out, s)
	}
	require.NotContains(t, out, "\x1b", "no colours where there is no terminal")
}

func TestInitNeverOverwrites(t *testing.T) {
	dir := newNode(t, "north")
	before := snapshot(t, dir)
	refuses(t, exitWrong, []string{"node.toml exists already", "nothing was overwritten", "--dir"}, "init", "--org", "north", "--dir", dir)
	require.Equal(t, before, snapshot(t, dir))

	// Without node.toml the keys are in the way, and the node.toml that was begun is taken away again.
	require.NoError(t, os.Remove(filepath.Join(dir, configName)))
	before = snapshot(t, dir)
	refuses(t, exitWrong, []string{"org.key: exists already", "nothing was overwritten"}, "init", "--org", "north", "--dir", dir)
	refuses(t, exitWrong, []string{"org.key: exists already"}, "org", "init", "--org", "north", "--dir", dir)
	refuses(t, exitWrong, []string{"node.key: exists already"}, "node", "request", "--org", "north", "--node", "n2", "--dir", dir)
	require.Equal(t, before, snapshot(t, dir))
}

func TestInitRefusesNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	refuses(t, exitWrong, []string{"needs --org NAME"}, "init", "--dir", dir)
	refuses(t, exitWrong, []string{`--org: not a valid name: got "no rth"`}, "init", "--org", "no rth", "--dir", dir)
	refuses(t, exitWrong, []string{"--node: not a valid name"}, "init", "--org", "north", "--node", "../x", "--dir", dir)
	require.NoDirExists(t, dir)
}

func TestEnrolFurtherNode(t *testing.T) {
	first, tmp := newNode(t, "north"), t.TempDir()
	second, request, cert := filepath.Join(tmp, "second"), filepath.Join(tmp, "r"), filepath.Join(tmp, "c")
	ok(t, "node", "request", "--org", "north", "--node", "n2", "--dir", second, "--output", request)
	refuses(t, exitWrong, []string{"is there already"}, "node", "request", "--org", "north", "--node", "n2", "--dir", filepath.Join(tmp, "third"), "--output", request)
	require.NoDirExists(t, filepath.Join(tmp, "third"))
	ok(t, "node", "sign", request, "--dir", first, "--output", cert)
	refuses(t, exitWrong, []string{"is there already"}, "node", "sign", request, "--dir", first, "--output", cert)
	refuses(t, exitWrong, []string{"--org-file"}, "node", "join", cert, "--dir", second)
	refuses(t, exitWrong, []string{"other identity"}, "node", "join", cert, "--dir", newNode(t, "east"), "--org-file", filepath.Join(first, "org.pub"))
	var joined map[string]string
	okJSON(t, &joined, "node", "join", cert, "--dir", second, "--org-file", filepath.Join(first, "org.pub"))
	require.Equal(t, "n2", joined["node"])
	require.FileExists(t, filepath.Join(second, configName))
	refuses(t, exitWrong, []string{"got organisation north, expected east"}, "node", "sign", request, "--dir", newNode(t, "east"), "--output", filepath.Join(tmp, "c2"))
}
