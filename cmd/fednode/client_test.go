package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"fednode/node/api"
)

// alone keeps the user's own contexts and variables out of a test.
func alone(t *testing.T) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("FEDNODE_NODE", "")
	t.Setenv("FEDNODE_TOKEN_FILE", "")
}

// clientFor returns a client as a command with these flags gets it.
func clientFor(t *testing.T, args ...string) (*client, error) {
	t.Helper()
	c := &cobra.Command{Use: "x"}
	clientFlags(c)
	require.NoError(t, c.ParseFlags(args))
	return newClient(c)
}

func mustClient(t *testing.T, args ...string) *client {
	t.Helper()
	c, err := clientFor(t, args...)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func serve(t *testing.T, f http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s.URL
}

func TestClientExchangesJSON(t *testing.T) {
	alone(t)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var in struct{ N int }
		if r.Method == http.MethodPost {
			if r.Header.Get("Content-Type") != "application/json" || !decodeBody(r, &in) {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
		}
		fmt.Fprintf(w, `{"path":%q,"n":%d,"auth":%q}`, r.URL.Path, in.N+1, r.Header.Get("Authorization"))
	})
	c := mustClient(t, "--node", url)
	var out struct {
		Path, Auth string
		N          int
	}
	require.NoError(t, c.get(t.Context(), "/api/v1/status", &out))
	require.Equal(t, "/api/v1/status", out.Path)
	require.Empty(t, out.Auth)
	require.NoError(t, c.post(t.Context(), "/x", map[string]int{"N": 6}, &out))
	require.Equal(t, 7, out.N)
	require.NoError(t, c.get(t.Context(), "/x", nil))
	require.ErrorContains(t, c.get(t.Context(), "/x", &[]int{}), "compare fednode version on both sides")
}

func decodeBody(r *http.Request, out *struct{ N int }) bool {
	_, err := fmt.Fscanf(r.Body, `{"N":%d}`, &out.N)
	return err == nil
}

func TestRefusalsBecomeExitCodes(t *testing.T) {
	alone(t)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.WriteHeader(status)
		if r.URL.RawQuery == "" {
			fmt.Fprint(w, `{"error":{"code":"x","message":"no such query","hint":"look\u001b[2J at the list"}}`)
			return
		}
		fmt.Fprint(w, "<html>\nproxy")
	})
	c := mustClient(t, "--node", url)
	for status, code := range map[int]int{400: exitWrong, 404: exitWrong, 409: exitWrong, 422: exitWrong, 401: exitRefused, 403: exitRefused,
		408: exitGaveUp, 504: exitGaveUp, 429: exitFailed, 500: exitFailed, 503: exitFailed, 302: exitFailed} {
		err := c.get(t.Context(), fmt.Sprintf("/%d", status), nil)
		require.Equal(t, code, exitCode(err), status)
		if status != http.StatusUnauthorized {
			require.EqualError(t, err, "no such query; look\uFFFD[2J at the list")
		}
		err = c.get(t.Context(), fmt.Sprintf("/%d?plain", status), nil)
		require.Equal(t, code, exitCode(err), status)
		require.ErrorContains(t, err, fmt.Sprint(status))
	}
	require.ErrorContains(t, c.get(t.Context(), "/500?plain", nil), "<html>")
	require.ErrorContains(t, c.get(t.Context(), "/401", nil), "FEDNODE_TOKEN_FILE")
	var refused *apiError
	require.ErrorAs(t, c.get(t.Context(), "/404", nil), &refused)
	require.Equal(t, 404, refused.Status)
	require.Equal(t, "x", refused.Code)
}

// What is wrong with a file that was sent is shown as if it had been checked here.
func TestRefusalShowsProblems(t *testing.T) {
	alone(t)
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":{"code":"invalid","message":"2 errors","hint":"","problems":[
			{"file":"q.toml","line":3,"column":7,"path":"query.name","message":"no name","hint":"write one"},
			{"file":"q.toml","line":9,"column":1,"path":"","message":"what is this?","hint":""}]}}`)
	})
	err := mustClient(t, "--node", url).get(t.Context(), "/", nil)
	require.EqualError(t, err, "q.toml:3:7: query.name: no name; write one\nq.toml:9:1: what is this?")
	require.Equal(t, exitWrong, exitCode(err))
}

func TestClientWithoutDaemon(t *testing.T) {
	alone(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	for _, node := range []string{"http://" + address, "unix:" + filepath.Join(t.TempDir(), "no.sock")} {
		err = mustClient(t, "--node", node).get(t.Context(), "/", nil)
		require.ErrorContains(t, err, "no daemon answers at "+node+" (from --node): start it with fednode run")
		require.Equal(t, exitFailed, exitCode(err))
	}
}

func TestClientGivesUp(t *testing.T) {
	alone(t)
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := mustClient(t, "--node", url).get(ctx, "/", nil)
	require.ErrorContains(t, err, "did not answer in time")
	require.Equal(t, exitGaveUp, exitCode(err))
}

func TestClientStreams(t *testing.T) {
	alone(t)
	long := strings.Repeat("x", 200_000)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "{\"n\":1}\n\n{\"n\":%q}\n", long)
		if r.URL.Path == "/bad" {
			fmt.Fprint(w, "{nonsense\n")
		}
		fmt.Fprint(w, `{"n":3}`)
	})
	c := mustClient(t, "--node", url)
	var got []string
	each := func(line []byte) error { got = append(got, string(line)); return nil }
	require.NoError(t, c.lines(t.Context(), "/good", each))
	require.Equal(t, []string{`{"n":1}`, `{"n":"` + long + `"}`, `{"n":3}`}, got, "the last line needs no end")
	require.ErrorContains(t, c.lines(t.Context(), "/bad", each), "a line of /bad is not JSON")
	stop := errors.New("enough")
	require.ErrorIs(t, c.lines(t.Context(), "/good", func([]byte) error { return stop }), stop)
}

func TestClientOfADirectory(t *testing.T) {
	alone(t)
	dir := newNode(t, "north")
	require.NoError(t, os.WriteFile(filepath.Join(dir, configName), []byte("[listen]\napi = \"unix:api.sock\"\n[unknown]\nx = 1\n"), 0o644))
	l, err := net.Listen("unix", filepath.Join(dir, "api.sock"))
	require.NoError(t, err)
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%q", r.Header.Get("Authorization"))
	})}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.ErrorIs(t, <-served, http.ErrServerClosed)
	})
	token, err := os.ReadFile(filepath.Join(dir, "api.token"))
	require.NoError(t, err)
	var auth string
	require.NoError(t, mustClient(t, "--dir", dir).get(t.Context(), "/", &auth))
	require.Equal(t, "Bearer "+strings.TrimSpace(string(token)), auth)

	require.NoError(t, os.Chmod(filepath.Join(dir, "api.token"), 0o640))
	_, err = clientFor(t, "--dir", dir)
	require.ErrorContains(t, err, "chmod 600")
	require.Equal(t, exitWrong, exitCode(err))
}

// A daemon with TLS is believed by the certificate file in its directory, and by nothing else.
func TestClientPinsTheCertificate(t *testing.T) {
	alone(t)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "1") }))
	t.Cleanup(s.Close)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "api.crt"), pemCertificate(s), 0o644))
	file := fmt.Sprintf("[listen]\napi = %q\n[api]\ntls_cert = \"api.crt\"\n", s.Listener.Addr())
	require.NoError(t, os.WriteFile(filepath.Join(dir, configName), []byte(file), 0o644))
	var one int
	require.NoError(t, mustClient(t, "--dir", dir).get(t.Context(), "/", &one))
	require.Equal(t, 1, one)
	require.ErrorContains(t, mustClient(t, "--node", s.URL).get(t.Context(), "/", &one), "certificate")
}

// Why a peer is down is longer than a column of a table can be.
func TestPeersSayWhyTheyAreDown(t *testing.T) {
	var b strings.Builder
	printPeers(&b, []api.PeerInfo{
		{Org: "south", Node: "one", Up: true, Protocol: 1, Software: "fednode 0.1"},
		{Org: "east", Node: "one", Cause: "all dials failed\n  * [/ip4/192.0.2.1/tcp/7481] refused"},
	})
	lines := strings.Split(b.String(), "\n")
	require.Contains(t, lines[1], "south/one  up")
	require.Contains(t, lines[1], "1, fednode 0.1")
	require.Regexp(t, `^east/one   down   \S+ +-`, lines[2])
	require.Equal(t, "east/one is down: all dials failed * [/ip4/192.0.2.1/tcp/7481] refused", lines[3])
}
