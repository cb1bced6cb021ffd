package main

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func pemCertificate(s *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// The flags come first, then FEDNODE_NODE, the context, the default.
func TestWhichDaemon(t *testing.T) {
	alone(t)
	at := func(args ...string) string {
		c := mustClient(t, args...)
		return c.at.name() + " from " + c.at.From
	}
	require.Equal(t, "http://127.0.0.1:7480 from the default", at())
	dir := newNode(t, "north")
	ok(t, "context", "add", "mine", "--dir", dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, configName), []byte("[listen]\napi = \"0.0.0.0:9001\"\n"), 0o644))
	require.Equal(t, "http://127.0.0.1:9001 from context mine", at(), "the first context is used at once")
	ok(t, "context", "add", "lab", "--node", "https://lab.example.org:7480/")
	ok(t, "context", "use", "lab")
	require.Equal(t, "https://lab.example.org:7480 from context lab", at())
	t.Setenv("FEDNODE_NODE", "http://127.0.0.1:2")
	require.Equal(t, "http://127.0.0.1:2 from FEDNODE_NODE", at())
	require.Equal(t, "http://127.0.0.1:9001 from --dir", at("--dir", dir))
	require.Equal(t, "http://127.0.0.1:3 from --node", at("--node", "http://127.0.0.1:3"))
	_, err := clientFor(t, "--node", "http://127.0.0.1:3", "--dir", dir)
	require.ErrorContains(t, err, "not both")
}

// A running daemon has written down its port; a socket is where the file says, whatever the daemon's own directory was.
func TestWhereADaemonRuns(t *testing.T) {
	alone(t)
	dir := newNode(t, "north")
	file, run := filepath.Join(dir, configName), filepath.Join(dir, "state", "run")
	require.NoError(t, os.MkdirAll(run, 0o700))
	for _, c := range []struct{ api, running, want string }{
		{"127.0.0.1:0", `{"api":"http://127.0.0.1:9002"}`, "http://127.0.0.1:9002"},
		{"127.0.0.1:0", `{"api":"http://[::]:9002"}`, "http://[::1]:9002"},
		{"127.0.0.1:9003", `not JSON`, "http://127.0.0.1:9003"},
		{"unix:api.sock", `{"api":"unix:north/api.sock"}`, "unix:" + filepath.Join(dir, "api.sock")},
	} {
		require.NoError(t, os.WriteFile(file, []byte("[node]\ndata_dir = \"state\"\n[listen]\napi = \""+c.api+"\"\n"), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(run, "addresses.json"), []byte(c.running), 0o644))
		require.Equal(t, c.want, mustClient(t, "--dir", dir).at.name())
	}
}

func TestContexts(t *testing.T) {
	alone(t)
	require.Empty(t, ok(t, "context", "list"))
	ok(t, "context", "add", "a", "--node", "http://127.0.0.1:1")
	ok(t, "context", "add", "b", "--node", "unix:/run/b.sock")
	require.Equal(t, "   NAME  DAEMON\n*  a     http://127.0.0.1:1\n   b     unix:/run/b.sock\n", ok(t, "context", "list"))
	ok(t, "context", "remove", "a")
	var got struct {
		Current  string
		Contexts map[string]contextInfo
	}
	okJSON(t, &got, "context", "list")
	require.Empty(t, got.Current)
	require.Equal(t, map[string]contextInfo{"b": {Node: "unix:/run/b.sock"}}, got.Contexts)

	refuses(t, exitWrong, []string{"exists already"}, "context", "add", "b", "--dir", ".")
	refuses(t, exitWrong, []string{"no context a", "fednode context list"}, "context", "use", "a")
	refuses(t, exitWrong, []string{"no context a"}, "context", "remove", "a")
	refuses(t, exitWrong, []string{"either --node URL or --dir D"}, "context", "add", "c")
	refuses(t, exitWrong, []string{"--token-file goes with --node"}, "context", "add", "c", "--dir", ".", "--token-file", "x")
	refuses(t, exitWrong, []string{"not a valid name"}, "context", "add", "c d", "--dir", ".")
	for _, bad := range []string{"127.0.0.1:7480", "ftp://x", "http://", "http://u:p@x", "http://x/api", "http://x?q=1", "unix:"} {
		refuses(t, exitWrong, []string{bad + ": expected a URL"}, "context", "add", "c", "--node", bad)
	}
}

func TestDamagedContexts(t *testing.T) {
	alone(t)
	ok(t, "context", "add", "a", "--node", "http://127.0.0.1:1")
	path := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "fednode", "contexts.toml")
	for _, text := range []string{"current = 7", "[contexts", "[contexts.a]\nurl = \"x\""} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		refuses(t, exitWrong, []string{path, "repair it, or delete it"}, "context", "list")
	}
	require.NoError(t, os.WriteFile(path, []byte("current = \"gone\""), 0o600))
	_, err := clientFor(t)
	require.ErrorContains(t, err, "no context gone")
}

func TestTokens(t *testing.T) {
	alone(t)
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte("0123456789abcdef\n"), 0o600))
	t.Setenv("FEDNODE_TOKEN_FILE", file)
	require.Equal(t, "0123456789abcdef", mustClient(t).at.Token)
	require.Equal(t, "0123456789abcdef", mustClient(t, "--node", "https://lab.example.org").at.Token)
	_, err := clientFor(t, "--node", "http://lab.example.org")
	require.ErrorContains(t, err, "unencrypted")
	require.NoError(t, os.WriteFile(file, []byte("short\n"), 0o600))
	_, err = clientFor(t)
	require.ErrorContains(t, err, "16 to 256 characters")
	t.Setenv("FEDNODE_TOKEN_FILE", file+".not")
	_, err = clientFor(t)
	require.ErrorContains(t, err, "missing")
}
