package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/node/connect/push"
	"fednode/node/export"
	"fednode/node/flow"
)

// Every answer that the document promises is given by some request, and every answer given is as the document says.
func TestEveryDocumentedAnswer(t *testing.T) {
	r := newRig(t, func(c *Config) { c.MaxBody = smallBody })
	for _, c := range requests() {
		r.fake.locked(func() { r.fake.fail = c.fail })
		inbox := &memoryInbox{err: c.push}
		r.fake.locked(func() { r.fake.inbox = inbox })
		r.fake.ready.Store(!c.starting)
		got := r.do(c.call)
		require.Equal(t, c.status, got.status, "%s %s: %s", c.method, c.path, got.body)
		if c.code != "" {
			var e ErrorBody
			require.NoError(t, json.Unmarshal([]byte(got.body), &e))
			require.Equal(t, c.code, e.Error.Code)
		}
	}
	for _, rt := range routes() {
		if rt.access == withToken {
			path := strings.NewReplacer("{stream...}", "north/conns", "{name}", "netmon").Replace(rt.pattern)
			if rt.id == "tailStream" {
				path += "/tail"
			}
			e := r.errorOf(call{method: rt.method, path: path, anonymous: true}, 401)
			require.Equal(t, "unauthorized", e.Code, rt.id)
		}
	}
	for path, methods := range newValidator(t).doc["paths"].(object) {
		for method, op := range methods.(object) {
			for code := range op.(object)["responses"].(object) {
				key := strings.ToUpper(method) + " " + path + " " + code
				// The limits on what is open at once have tests of their own; metrics on loopback need no token.
				if code == "default" || key == "GET /metrics 401" || key == "GET /api/v1/streams/{stream}/tail 429" {
					continue
				}
				require.True(t, r.seen[key], "%s was not seen", key)
			}
		}
	}
}

// smallBody is a limit of bodies that a test reaches soon.
const smallBody = 64 << 10

// request is a call with what it is answered.
type request struct {
	call
	status   int
	code     string
	fail     error // of the backend
	push     error // of the stream's inbox
	starting bool
}

func requests() []request {
	get := func(path string) call { return call{method: "GET", path: path} }
	post := func(path, kind, body string) call {
		return call{method: "POST", path: path, body: body, header: map[string]string{"Content-Type": kind}}
	}
	peer := func(body string) call { return post("/api/v1/peers", "application/json", body) }
	deploy := func(query, body string) call { return post("/api/v1/queries"+query, "application/toml", body) }
	rows := func(kind, body string) call { return post("/api/v1/streams/north/conns", kind, body) }
	refused := &RefusedError{Who: "south/one", What: "query netmon", Why: "federation.host does not name north"}
	const tail = "/api/v1/streams/conns/tail?from=beginning"
	return []request{
		{call: get("/healthz"), status: 200},
		{call: get("/livez"), status: 200},
		{call: get("/readyz"), status: 200},
		{call: get("/readyz"), status: 503, starting: true},
		{call: get("/metrics"), status: 200},
		{call: get("/api/v1/openapi.json"), status: 200},
		{call: get("/api/v1/status"), status: 200},
		{call: get("/api/v1/config"), status: 200},
		{call: get("/api/v1/peers"), status: 200},
		{call: get("/api/v1/exports"), status: 200},
		{call: get("/api/v1/catalog"), status: 200},
		{call: get("/api/v1/catalog?org=south"), status: 200},
		{call: get("/api/v1/streams"), status: 200},
		{call: get("/api/v1/queries"), status: 200},
		{call: get("/api/v1/queries/netmon"), status: 200},
		{call: get("/api/v1/queries/north%2Fnetmon"), status: 200},
		{call: get("/api/v1/queries/other"), status: 404, code: "not_found"},

		{call: peer(`{"address":"/ip4/127.0.0.1/tcp/1/p2p/x"}`), status: 204},
		{call: peer(`{"address":""}`), status: 400, code: "invalid"},
		{call: peer(`{"addres":"x"}`), status: 400, code: "invalid"},
		{call: peer(`nonsense`), status: 400, code: "invalid"},
		{call: peer(`{"address":"` + strings.Repeat("x", maxPeerBody) + `"}`), status: 413, code: "too_large"},
		{call: peer(`{"address":"x"}`), status: 400, code: "invalid", fail: fmt.Errorf("%w: x is no address", ErrInvalid)},
		{call: peer(`{"address":"x"}`), status: 403, code: "refused", fail: refused},

		{call: deploy("", "[query]"), status: 201},
		{call: deploy("?file=q.toml&replace=true", "same"), status: 200},
		{call: deploy("?replace=perhaps", "[query]"), status: 400, code: "invalid"},
		{call: deploy("?file="+strings.Repeat("x", 300), "[query]"), status: 400, code: "invalid"},
		{call: deploy("", ""), status: 400, code: "invalid"},
		{call: deploy("", strings.Repeat("#", maxFile+1)), status: 413, code: "too_large"},
		{call: deploy("", "[query]"), status: 403, code: "refused", fail: refused},
		{call: deploy("", "[query]"), status: 403, code: "refused", fail: &export.DeniedError{Stream: "north/conns", Org: "south", Why: "no export"}},
		{call: deploy("", "[query]"), status: 409, code: "exists", fail: fmt.Errorf("query netmon: %w", ErrExists)},
		{call: deploy("", "[query]"), status: 503, code: "unavailable", fail: fmt.Errorf("south/one: %w", ErrUnavailable)},
		{call: deploy("", "[query]"), status: 500, code: "internal", fail: errors.New("disk on fire")},

		{call: post("/api/v1/queries/netmon/stop", "", ""), status: 204},
		{call: post("/api/v1/queries/other/stop", "", ""), status: 404, code: "not_found"},
		{call: post("/api/v1/queries/netmon/stop", "", ""), status: 403, code: "refused", fail: refused},

		{call: post("/api/v1/queries/netmon/accept?producer=north/b", "", ""), status: 204},
		{call: post("/api/v1/queries/netmon/accept", "", ""), status: 400, code: "invalid"},
		{call: post("/api/v1/queries/other/accept?producer=north/b", "", ""), status: 404, code: "not_found"},
		{call: post("/api/v1/queries/netmon/accept?producer=north/b", "", ""), status: 503, code: "unavailable", fail: fmt.Errorf("north/a is read: %w", ErrUnavailable)},

		{call: get(tail), status: 200},
		{call: get("/api/v1/streams/north%2Fconns/tail?rows=1"), status: 200},
		{call: get("/api/v1/streams/north/netmon/tail/tail?rows=1"), status: 200},
		{call: call{method: "GET", path: tail, header: map[string]string{"Accept": "text/html, application/x-ndjson;q=0.9"}}, status: 200},
		{call: get(tail + "&boundaries=2"), status: 400, code: "invalid"},
		{call: get(tail + "&rows=0"), status: 400, code: "invalid"},
		{call: get("/api/v1/streams/conns/tail?from=yesterday"), status: 400, code: "invalid"},
		{call: get("/api/v1/streams/" + strings.Repeat("x", 300) + "/tail"), status: 400, code: "invalid"},
		{call: get("/api/v1/streams/other/tail"), status: 404, code: "not_found"},
		{call: get(tail), status: 403, code: "refused", fail: &flow.RefusedError{Stream: "south/conns", Reason: "no export"}},

		{call: rows("application/x-ndjson", `{"n":1}`+"\n"), status: 200},
		{call: rows("text/csv", "n\n1\n2\n"), status: 200},
		{call: rows("application/x-ndjson", "{\"n\":1}\nbroken\n"), status: 200},
		{call: rows("application/vnd.apache.arrow.stream", "nothing of the kind"), status: 400, code: "invalid"},
		{call: rows("application/x-ndjson", gzipped(`{"n":1}`)[:12]), status: 400, code: "invalid"},
		{call: rows("image/png", "x"), status: 415, code: "unsupported_type"},
		{call: rows("", "x"), status: 415, code: "unsupported_type"},
		{call: rows("application/x-ndjson", strings.Repeat("{\"n\":1}\n", smallBody/8+1)), status: 413, code: "too_large"},
		{call: rows("application/x-ndjson", gzipped(strings.Repeat("{\"n\":1}\n", smallBody/8+1))), status: 413, code: "too_large"},
		{call: call{method: "POST", path: "/api/v1/streams/conns", header: map[string]string{"Idempotency-Key": strings.Repeat("k", 300)}}, status: 400, code: "invalid"},
		{call: post("/api/v1/streams/north//conns", "text/csv", ""), status: 404, code: "not_found"},
		{call: post("/api/v1/streams/north%2F", "text/csv", ""), status: 400, code: "invalid"},
		{call: post("/api/v1/streams/other", "text/csv", ""), status: 404, code: "not_found"},
		{call: rows("text/csv", "n\n1\n"), status: 429, code: "busy", push: fmt.Errorf("push: %w", push.ErrBusy)},
		{call: rows("text/csv", "n\n1\n"), status: 503, code: "unavailable", push: fmt.Errorf("push: %w", push.ErrClosed)},

		{call: get("/"), status: 404, code: "not_found"},
		{call: get("/api/v1/nothing"), status: 404, code: "not_found"},
		{call: get("/api/v1//status"), status: 404, code: "not_found"},
		{call: get("/api/v1/streams/north/conns"), status: 404, code: "not_found"},
		{call: call{method: "DELETE", path: "/api/v1/queries/netmon"}, status: 405, code: "method"},
		{call: call{method: "POST", path: "/api/v1/status"}, status: 405, code: "method"},
	}
}

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// What is asked of the node arrives there as it was said.
func TestRequestsReachTheNode(t *testing.T) {
	r := newRig(t)
	r.do(call{method: "POST", path: "/api/v1/peers", body: `{"address":"/dns/south.example/tcp/7481/p2p/x"}`})
	require.Equal(t, []string{"/dns/south.example/tcp/7481/p2p/x"}, r.fake.added)

	got := r.do(call{method: "POST", path: "/api/v1/queries?file=net.toml&replace=1", body: "[query]\n"})
	d := read[DeployResult](t, got)
	require.True(t, d.Changed)
	require.Equal(t, "/api/v1/queries/netmon", got.header.Get("Location"))
	require.Equal(t, []string{"net.toml true [query]\n"}, r.fake.deployed)

	r.do(call{method: "POST", path: "/api/v1/queries/netmon/stop"})
	require.Equal(t, []string{"netmon"}, r.fake.stopped)

	r.do(call{method: "POST", path: "/api/v1/queries/netmon/accept?producer=north%2Fb"})
	require.Equal(t, []string{"north/b"}, r.fake.accepted)

	status := read[Status](t, r.do(call{method: "GET", path: "/api/v1/status"}))
	want := r.fake.Status()
	require.Equal(t, want.Sources, status.Sources)
	require.Equal(t, want.Queries[0].Fragments[0].Outputs, status.Queries[0].Fragments[0].Outputs)
	require.Equal(t, EndTime, read[[]Offer](t, r.do(call{method: "GET", path: "/api/v1/catalog?org=east"}))[0].Boundary)
}

// A wrong query file is answered with every error and its place.
func TestProblemsOfAFile(t *testing.T) {
	r := newRig(t)
	r.fake.fail = twoProblems(t)
	e := r.errorOf(call{method: "POST", path: "/api/v1/queries", body: "x"}, 400)
	require.Equal(t, "the file has 2 errors", e.Message)
	require.Equal(t, Problem{File: "q.toml", Line: 3, Column: 7, Path: "operators.active.where", Message: "no column cons", Hint: "did you mean `conns`?"}, e.Problems[0])
	require.Equal(t, 9, e.Problems[1].Line)
}

// An error may say itself what to do about it.
type hinted struct{ error }

func (h hinted) Unwrap() error { return h.error }

func (hinted) Hint() string { return "start it" }

func TestHints(t *testing.T) {
	r := newRig(t)
	r.fake.fail = hinted{fmt.Errorf("south/one: %w", ErrUnavailable)}
	require.Equal(t, "start it", r.errorOf(call{method: "POST", path: "/api/v1/queries", body: "x"}, 503).Hint)
}

func TestPushes(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Durable = 20 * time.Millisecond })
	inbox := &memoryInbox{}
	r.fake.inbox = inbox
	got := read[PushResult](t, r.do(call{method: "POST", path: "/api/v1/streams/conns", body: "{\"n\":1}\nbroken\n{\"n\":3}\n",
		header: map[string]string{"Content-Type": "application/x-ndjson", "Idempotency-Key": "one"}}))
	require.Equal(t, 2, got.Rows)
	require.Equal(t, 1, got.Rejected)
	require.Equal(t, int64(2), got.Rejects[0].Line)
	require.Equal(t, connect.Syntax.String(), got.Rejects[0].Reason)
	require.Equal(t, []string{"one"}, inbox.keys)
	require.Equal(t, 2, inbox.rows)

	broken := read[PushResult](t, r.do(call{method: "POST", path: "/api/v1/streams/conns", body: strings.Repeat("broken\n", 100), header: map[string]string{"Content-Type": "application/x-ndjson"}}))
	require.Equal(t, 100, broken.Rejected)
	require.Len(t, broken.Rejects, shownRejects)

	// Rows that are not durable in time may still become so, and the sender is told.
	r.fake.locked(func() { r.fake.inbox = &memoryInbox{hold: true} })
	reply := r.do(call{method: "POST", path: "/api/v1/streams/conns", body: "{\"n\":1}\n", header: map[string]string{"Content-Type": "application/x-ndjson"}})
	require.Equal(t, 503, reply.status)
	require.Equal(t, "5", reply.header.Get("Retry-After"))
	require.Contains(t, reply.body, "Idempotency-Key")

	r.fake.locked(func() { r.fake.inbox = &memoryInbox{err: push.ErrBusy} })
	reply = r.do(call{method: "POST", path: "/api/v1/streams/conns", body: "{\"n\":1}\n", header: map[string]string{"Content-Type": "application/x-ndjson"}})
	require.Equal(t, 429, reply.status)
	require.Equal(t, "1", reply.header.Get("Retry-After"))
}

// Bodies are read a few at a time; who comes when no place is free is told to come again.
func TestBodiesAtOnce(t *testing.T) {
	r := newRig(t, func(c *Config) { c.MaxPushes = 1; c.Durable = time.Minute })
	r.fake.inbox = &memoryInbox{hold: true}
	c := call{method: "POST", path: "/api/v1/streams/conns", body: "{\"n\":1}\n", header: map[string]string{"Content-Type": "application/x-ndjson"}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	req, err := http.NewRequestWithContext(ctx, c.method, r.srv.Addr()+c.path, strings.NewReader(c.body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-ndjson")
	req.Header.Set("Authorization", "Bearer "+testToken)
	go func() {
		_, err := r.client.Do(req)
		ended <- err
	}()
	require.Eventually(t, func() bool { return len(r.srv.pushes) == 1 }, waitLimit, time.Millisecond)
	require.Equal(t, "busy", r.errorOf(c, 429).Code)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Eventually(t, func() bool { return len(r.srv.pushes) == 0 }, waitLimit, time.Millisecond)
}
