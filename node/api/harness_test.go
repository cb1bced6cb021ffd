package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

const testToken = "a-token-of-tests"

// waitLimit is how long a test waits for what must come: a busy machine may be slow, and only a failing test waits so long.
const waitLimit = time.Minute

// rig is a running server with its backend. Every answer that a test gets through it is held against the document.
type rig struct {
	t      *testing.T
	fake   *fake
	srv    *Server
	log    *observer.ObservedLogs
	client *http.Client
	seen   map[string]bool // "METHOD path status", as documented
}

func newRig(t *testing.T, change ...func(*Config)) *rig {
	cfg := Config{Listen: "127.0.0.1:0", Token: testToken, Org: "north"}
	for _, f := range change {
		f(&cfg)
	}
	core, log := observer.New(zap.DebugLevel)
	r := &rig{t: t, fake: newFake(), log: log, seen: make(map[string]bool)}
	srv, err := New(cfg, r.fake, zap.New(core))
	require.NoError(t, err)
	r.srv = srv
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	transport := &http.Transport{}
	r.client = &http.Client{Timeout: 2 * waitLimit, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		cancel()
		require.NoError(t, <-done)
		require.Zero(t, r.fake.openTails(), "every tail was closed")
	})
	return r
}

// call is a request.
type call struct {
	method, path string
	body         string
	header       map[string]string
	anonymous    bool
	host         string
}

// reply is its answer, read to the end.
type reply struct {
	status int
	header http.Header
	body   string
}

func (r *rig) start(ctx context.Context, c call) *http.Response {
	req, err := http.NewRequestWithContext(ctx, c.method, r.srv.Addr()+c.path, strings.NewReader(c.body))
	require.NoError(r.t, err)
	if !c.anonymous {
		req.Header.Set("Authorization", "Bearer "+testToken)
	}
	for k, v := range c.header {
		req.Header.Set(k, v)
	}
	if c.host != "" {
		req.Host = c.host
	}
	resp, err := r.client.Do(req)
	require.NoError(r.t, err)
	return resp
}

func (r *rig) do(c call) reply {
	resp := r.start(context.Background(), c)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	out := reply{status: resp.StatusCode, header: resp.Header, body: string(body)}
	r.conforms(c, out)
	return out
}

// errorOf returns the error of an answer that must be one.
func (r *rig) errorOf(c call, status int) ErrorInfo {
	got := r.do(c)
	require.Equal(r.t, status, got.status, got.body)
	var e ErrorBody
	require.NoError(r.t, json.Unmarshal([]byte(got.body), &e), got.body)
	require.NotEmpty(r.t, e.Error.Message)
	return e.Error
}

func read[T any](t *testing.T, got reply) T {
	require.Less(t, got.status, 300, got.body)
	var v T
	d := json.NewDecoder(strings.NewReader(got.body))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&v), got.body)
	return v
}

// conforms checks that an answer is as the document says, if it has the path and the method.
func (r *rig) conforms(c call, got reply) {
	v := newValidator(r.t)
	path, _, _ := strings.Cut(c.path, "?")
	template, op := v.operation(strings.ToLower(c.method), path)
	if op == nil {
		require.GreaterOrEqual(r.t, got.status, 400, "%s %s is not documented", c.method, c.path)
		return
	}
	answers := op["responses"].(object)
	code := fmt.Sprint(got.status)
	r.seen[strings.ToUpper(c.method)+" "+template+" "+code] = true
	a, ok := answers[code].(object)
	if !ok {
		require.GreaterOrEqual(r.t, got.status, 400, "%s %s: status %s is not documented", c.method, c.path, code)
		a = answers["default"].(object)
	}
	a = v.resolve(a)
	content, _ := a["content"].(object)
	if content == nil {
		require.Empty(r.t, got.body)
		return
	}
	kind, _, err := mime.ParseMediaType(got.header.Get("Content-Type"))
	require.NoError(r.t, err)
	form, ok := content[kind].(object)
	require.True(r.t, ok, "%s %s: %s is not documented", c.method, c.path, kind)
	if kind == "application/json" {
		d := json.NewDecoder(strings.NewReader(got.body))
		d.UseNumber()
		var body any
		require.NoError(r.t, d.Decode(&body))
		v.check(kind, form["schema"].(object), body)
	}
}

// validator reads the served document as a client does: it knows nothing of the Go types.
type validator struct {
	t   *testing.T
	doc object
}

func newValidator(t *testing.T) *validator {
	v := &validator{t: t}
	require.NoError(t, json.Unmarshal(document, &v.doc))
	return v
}

// operation finds the operation of a path; of several templates that match, the one with the most literal text.
func (v *validator) operation(method, path string) (template string, op object) {
	for t, methods := range v.doc["paths"].(object) {
		o, ok := methods.(object)[method].(object)
		if ok && matches(t, path) && len(t) > len(template) {
			template, op = t, o
		}
	}
	return template, op
}

// matches reports whether a path fits a template; the parameter stream may have slashes.
func matches(template, path string) bool {
	before, after, found := strings.Cut(template, "{stream}")
	if found {
		rest, ok := strings.CutPrefix(path, before)
		return ok && rest != "" && strings.HasSuffix(rest, after)
	}
	a, b := strings.Split(template, "/"), strings.Split(path, "/")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !strings.HasPrefix(a[i], "{") {
			return false
		}
	}
	return true
}

func (v *validator) resolve(o object) object {
	ref, ok := o["$ref"].(string)
	if !ok {
		return o
	}
	var at any = v.doc
	for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		at = at.(object)[part]
	}
	require.NotNil(v.t, at, ref)
	return at.(object)
}

// check holds a value against a schema. A property that is not documented is an error here.
func (v *validator) check(where string, schema object, value any) {
	schema = v.resolve(schema)
	require.True(v.t, v.typed(schema["type"], value), "%s: %v is not %v", where, value, schema["type"])
	switch value := value.(type) {
	case []any:
		for i, e := range value {
			v.check(fmt.Sprintf("%s[%d]", where, i), schema["items"].(object), e)
		}
	case object:
		v.checkObject(where, schema, value)
	case json.Number:
		if least, ok := schema["minimum"].(float64); ok {
			n, err := value.Float64()
			require.NoError(v.t, err)
			require.GreaterOrEqual(v.t, n, least, where)
		}
	case string:
		if schema["format"] == "date-time" {
			_, err := time.Parse(time.RFC3339Nano, value)
			require.NoError(v.t, err, where)
		}
	}
}

func (v *validator) checkObject(where string, schema, value object) {
	properties, closed := schema["properties"].(object)
	for _, name := range list(schema["required"]) {
		require.Contains(v.t, value, name, "%s.%v", where, name)
	}
	for name, e := range value {
		p, ok := properties[name].(object)
		if !ok {
			p, ok = schema["additionalProperties"].(object)
		}
		require.True(v.t, ok || !closed, "%s.%s is not documented", where, name)
		if ok {
			v.check(where+"."+name, p, e)
		}
	}
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func (v *validator) typed(want, value any) bool {
	switch want := want.(type) {
	case []any:
		for _, w := range want {
			if v.typed(w, value) {
				return true
			}
		}
		return false
	case string:
		return want == typeOf(value) || want == "number" && typeOf(value) == "integer"
	}
	return want == nil
}

func typeOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case json.Number:
		if n, err := value.Float64(); err == nil && n == math.Trunc(n) && !bytes.ContainsAny([]byte(value), ".eE") {
			return "integer"
		}
		return "number"
	}
	return "object"
}
