package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/api"
)

// lookedAt serves a node that takes in 100 rows between looks; asked counts the looks.
func lookedAt(t *testing.T, asked *atomic.Uint64) string {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		var answer any = []api.PeerInfo{{Peer: "12D3Koo", Org: "south", Node: "one", Up: true}}
		if r.URL.Path == "/api/v1/status" {
			s := &topSample(1).Status
			s.Sources[0].Rows = 100 * asked.Add(1)
			answer = s
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	})
}

// One screen as text has rates, and neither keys nor colours.
func TestTopOnce(t *testing.T) {
	alone(t)
	var asked atomic.Uint64
	out := ok(t, "top", "--once", "--interval", "100ms", "--node", lookedAt(t, &asked))
	require.EqualValues(t, 2, asked.Load())
	require.True(t, strings.HasPrefix(out, "north/edge  ready  "), out)
	require.Regexp(t, `north/conns +reading +\d`, out)
	require.Contains(t, out, "south/one")
	require.NotContains(t, out, "q quit")
	require.NotContains(t, out, "▸")
	require.NotContains(t, out, "\x1b")
}

func TestTopJSONOnce(t *testing.T) {
	alone(t)
	var asked atomic.Uint64
	out := ok(t, "top", "--once", "--json", "--node", lookedAt(t, &asked))
	require.Equal(t, 1, strings.Count(out, "\n"))
	var s api.Status
	require.NoError(t, json.Unmarshal([]byte(out), &s))
	require.Equal(t, "north", s.Node.Org)
	require.EqualValues(t, 100, s.Sources[0].Rows)
}

// cutAfter ends a command after so many lines of its output.
type cutAfter struct {
	bytes.Buffer
	lines int
	stop  context.CancelFunc
}

func (c *cutAfter) Write(b []byte) (int, error) {
	n, err := c.Buffer.Write(b)
	if bytes.Count(c.Bytes(), []byte("\n")) >= c.lines {
		c.stop()
	}
	return n, err
}

// Statuses go on over a gap in the daemon's answers, which is mentioned once; being interrupted is a proper end.
func TestTopJSONGoesOn(t *testing.T) {
	alone(t)
	var asked atomic.Uint64
	inner := lookedAt(t, &asked)
	var requests atomic.Uint64
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n := requests.Add(1); n == 3 || n == 4 { // the second and the third look
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		resp, err := http.Get(inner + r.URL.Path)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		if _, err := io.Copy(w, resp.Body); err != nil {
			t.Error(err)
		}
	})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out := &cutAfter{lines: 2, stop: stop}
	var said bytes.Buffer
	root := newRoot()
	root.SetArgs([]string{"top", "--json", "--interval", "100ms", "--node", url})
	root.SetOut(out)
	root.SetErr(&said)
	require.NoError(t, root.ExecuteContext(ctx))
	require.Equal(t, 2, strings.Count(out.String(), "\n"))
	require.Equal(t, 1, strings.Count(said.String(), "going on trying"), said.String())
}

func TestTopRefuses(t *testing.T) {
	alone(t)
	var asked atomic.Uint64
	url := lookedAt(t, &asked)
	refuses(t, exitWrong, []string{"top needs a terminal", "--once", "--json"}, "top", "--node", url)
	for _, interval := range []string{"10ms", "2h", "-1s"} {
		refuses(t, exitWrong, []string{"expected 100ms to 1h"}, "top", "--once", "--interval", interval, "--node", url)
	}
	require.Zero(t, asked.Load())
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	refuses(t, exitFailed, []string{"no daemon answers at " + away.URL, "start it with fednode run"}, "top", "--once", "--node", away.URL)
	closed := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":{"code":"unauthorized","message":"no token"}}`)
	})
	refuses(t, exitRefused, []string{"no token", "FEDNODE_TOKEN_FILE"}, "top", "--json", "--node", closed)
}
