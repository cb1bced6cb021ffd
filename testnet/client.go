package testnet

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
	"net/url"
	"strings"
	"time"

	"fednode/node/api"
)

// client talks to the API of one daemon.
type client struct {
	base  string
	token string
	http  *http.Client
}

// Limits of answers.
const (
	maxAnswer   = 16 << 20
	maxLineSize = 1 << 20
	// answerWithin bounds every request but tails.
	answerWithin = 30 * time.Second
)

// newClient returns a client of the API at a URL, or at unix:PATH.
func newClient(base, token string) *client {
	t := &http.Transport{}
	if path, ok := strings.CutPrefix(base, "unix:"); ok {
		base = "http://unix"
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}
	}
	return &client{base: base, token: token, http: &http.Client{Transport: t}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

func (c *client) request(ctx context.Context, method, path, contentType string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("testnet: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return c.http.Do(r)
}

// call decodes the answer of a request into out, unless it is nil.
func (c *client) call(ctx context.Context, method, path, contentType string, body []byte, out any) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	resp, err := c.request(ctx, method, path, contentType, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return refusal(resp.StatusCode, text)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// refusal makes an error of a daemon's answer; of a wrong file it lists every problem.
func refusal(status int, body []byte) error {
	var e api.ErrorBody
	if err := json.Unmarshal(body, &e); err != nil || e.Error.Message == "" {
		return fmt.Errorf("the daemon answered %d: %.200s", status, body)
	}
	msg := e.Error.Message
	if e.Error.Hint != "" {
		msg += "; " + e.Error.Hint
	}
	for _, p := range e.Error.Problems {
		msg += fmt.Sprintf("\n%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
	}
	switch status {
	case http.StatusForbidden, http.StatusUnauthorized:
		return &Error{Kind: ErrRefused, Msg: msg}
	case http.StatusBadRequest:
		return &Error{Kind: ErrSpec, Msg: msg}
	}
	return errors.New(msg)
}

func (c *client) ready(ctx context.Context) bool {
	return c.call(ctx, http.MethodGet, "/readyz", "", nil, nil) == nil
}

func (c *client) status(ctx context.Context) (*api.Status, error) {
	var s api.Status
	return &s, c.call(ctx, http.MethodGet, "/api/v1/status", "", nil, &s)
}

func (c *client) peers(ctx context.Context) (list []api.PeerInfo, err error) {
	return list, c.call(ctx, http.MethodGet, "/api/v1/peers", "", nil, &list)
}

func (c *client) addPeer(ctx context.Context, address string) error {
	body, err := json.Marshal(api.NewPeer{Address: address})
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodPost, "/api/v1/peers", "application/json", body, nil)
}

func (c *client) deploy(ctx context.Context, file, text string) (*api.DeployResult, error) {
	var d api.DeployResult
	return &d, c.call(ctx, http.MethodPost, "/api/v1/queries?file="+url.QueryEscape(file), "application/toml", []byte(text), &d)
}

// Event is what a tail says: a row, or what becomes of rows.
type Event struct {
	// Name is "" for a stable row, else tentative, undo, done, gap or boundary.
	Name string
	// ID of a stable row, from which a tail can go on.
	ID   string
	Data []byte // JSON
}

// tail calls each for every event of a stream from a place on: "beginning", "now" or the id after which. It returns when
// the stream has ended, ctx has, or the connection broke. Rows that are not held any more are passed over: ids tell.
func (c *client) tail(ctx context.Context, stream, from, mode string, each func(Event) error) error {
	resp, err := c.request(ctx, http.MethodGet, "/api/v1/streams/"+stream+"/tail?mode="+mode+"&from="+url.QueryEscape(from), "", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		text, err := io.ReadAll(io.LimitReader(resp.Body, maxLineSize))
		if err != nil {
			return err
		}
		return refusal(resp.StatusCode, text)
	}
	return events(resp.Body, each)
}

// events reads server-sent events. One counts once the empty line after it has come: a connection may break off anywhere.
func events(r io.Reader, each func(Event) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLineSize)
	var e Event
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), ":") {
			continue // it only shows that the connection lives
		}
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			e.Name = value
		case "id":
			e.ID = value
		case "data":
			e.Data = []byte(value)
		case "":
			if e.Name == "end" {
				return nil
			}
			if len(e.Data) > 0 {
				if err := each(e); err != nil {
					return err
				}
			}
			e = Event{}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}
