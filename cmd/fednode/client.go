package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"

	"github.com/spf13/cobra"
)

// Limits on what a daemon may answer.
const (
	maxAnswerBytes = 64 << 20
	maxLineBytes   = 16 << 20
	maxErrorBytes  = 64 << 10
)

// client talks to one daemon's API.
type client struct {
	at   *endpoint
	http *http.Client
}

// newClient returns a client of the daemon that the flags of clientFlags, the environment or the context choose. It
// connects at the first request.
func newClient(c *cobra.Command) (*client, error) {
	at, err := resolveEndpoint(c)
	if err != nil {
		return nil, err
	}
	return dialClient(at), nil
}

func dialClient(at *endpoint) *client {
	t := &http.Transport{TLSClientConfig: at.TLS, ForceAttemptHTTP2: true}
	if at.Socket != "" {
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", at.Socket)
		}
	}
	return &client{at: at, http: &http.Client{Transport: t, CheckRedirect: noRedirect}}
}

// noRedirect keeps the token where it belongs.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Close ends idle connections.
func (c *client) Close() { c.http.CloseIdleConnections() }

// get decodes the JSON answer of a GET into out; nil throws it away. path begins with a slash.
func (c *client) get(ctx context.Context, path string, out any) error {
	return c.exchange(ctx, http.MethodGet, path, nil, out)
}

// post sends in as JSON (nil sends nothing) and decodes the answer into out.
func (c *client) post(ctx context.Context, path string, in, out any) error {
	return c.exchange(ctx, http.MethodPost, path, in, out)
}

func (c *client) exchange(ctx context.Context, method, path string, in, out any) error {
	q := call{method: method, path: path, accept: "application/json"}
	if in != nil {
		var err error
		if q.body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
		q.contentType = "application/json"
	}
	return c.decode(ctx, q, out)
}

// decode makes a request and decodes its JSON answer into out.
func (c *client) decode(ctx context.Context, q call, out any) error {
	resp, err := c.send(ctx, q)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	if err != nil {
		return c.explain(err)
	}
	if len(text) > maxAnswerBytes {
		return fmt.Errorf("%s: the answer to %s is longer than %d bytes", c.at.name(), q.path, maxAnswerBytes)
	}
	if out == nil || len(text) == 0 {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s: the answer to %s is not what was expected: %w; compare fednode version on both sides", c.at.name(), q.path, err)
	}
	return nil
}

// lines calls each for every line of an endless answer (NDJSON), until it ends, ctx is done or each fails. The line is
// valid only during the call.
func (c *client) lines(ctx context.Context, path string, each func(line []byte) error) error {
	resp, err := c.send(ctx, call{method: http.MethodGet, path: path, accept: "application/x-ndjson"})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	scan := bufio.NewScanner(resp.Body)
	scan.Buffer(make([]byte, 0, 64<<10), maxLineBytes)
	for scan.Scan() {
		line := bytes.TrimSpace(scan.Bytes())
		if len(line) == 0 {
			continue
		}
		if !json.Valid(line) {
			return fmt.Errorf("%s: a line of %s is not JSON", c.at.name(), path)
		}
		if err := each(line); err != nil {
			return err
		}
	}
	return c.explain(scan.Err())
}

// call is one request. Empty content types are not sent.
type call struct {
	method      string
	path        string // begins with a slash
	contentType string
	accept      string
	body        []byte
}

// send returns an answer of success; any other has become an error.
func (c *client) send(ctx context.Context, q call) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, q.method, c.at.URL.String()+q.path, bytes.NewReader(q.body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", q.method, q.path, err)
	}
	for key, value := range map[string]string{"Content-Type": q.contentType, "Accept": q.accept} {
		if value != "" {
			req.Header.Set(key, value)
		}
	}
	if c.at.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.at.Token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.explain(err)
	}
	if resp.StatusCode/100 != 2 {
		defer resp.Body.Close()
		return nil, c.refusal(resp)
	}
	return resp, nil
}

// name is where the daemon is, for messages.
func (e *endpoint) name() string {
	if e.Socket != "" {
		return "unix:" + e.Socket
	}
	return e.URL.String()
}

// explain turns what went wrong on the way into what to do.
func (c *client) explain(err error) error {
	var unreached *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return &codeError{code: exitGaveUp, err: fmt.Errorf("%s (from %s) did not answer in time", c.at.name(), c.at.From)}
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOENT), errors.As(err, &unreached) && unreached.Op == "dial":
		return fmt.Errorf("no daemon answers at %s (from %s): start it with fednode run, or choose another with --node or --dir", c.at.name(), c.at.From)
	}
	return fmt.Errorf("%s: %w", c.at.name(), err)
}
