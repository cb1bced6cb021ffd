package api

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

func TestToken(t *testing.T) {
	r := newRig(t, func(c *Config) { c.MetricsNeedToken = true })
	status := func(header string) reply {
		return r.do(call{method: "GET", path: "/api/v1/status", anonymous: true, header: map[string]string{"Authorization": header}})
	}
	require.Equal(t, 200, status("Bearer "+testToken).status)
	require.Equal(t, 200, status("bearer "+testToken).status)
	for _, wrong := range []string{"", "Bearer", "Bearer ", "Bearer x", testToken, "Basic " + testToken, "Bearer " + testToken + "x", "Bearer " + testToken[1:]} {
		got := status(wrong)
		require.Equal(t, 401, got.status, wrong)
		require.Equal(t, `Bearer realm="fednode"`, got.header.Get("WWW-Authenticate"))
	}
	require.Equal(t, 401, r.do(call{method: "GET", path: "/metrics", anonymous: true}).status)
	require.Equal(t, 200, r.do(call{method: "GET", path: "/metrics"}).status)
	for _, open := range []string{"/healthz", "/livez", "/readyz"} {
		require.Equal(t, 200, r.do(call{method: "GET", path: open, anonymous: true}).status)
	}
	require.Equal(t, 401, r.do(call{method: "GET", path: "/api/v1/nothing", anonymous: true}).status, "a stranger does not learn what there is")
}

func TestMetricsOnThisMachineNeedNoToken(t *testing.T) {
	r := newRig(t)
	require.Equal(t, 200, r.do(call{method: "GET", path: "/metrics", anonymous: true}).status)
	g := newGuard(&Config{Token: "x"})
	from := httptest.NewRequest("GET", "/metrics", nil)
	from.RemoteAddr = "192.0.2.1:1234"
	require.Error(t, g.caller(from, forMetrics))
	from.RemoteAddr = "[::1]:1234"
	require.NoError(t, g.caller(from, forMetrics))
}

// A web page that lets its own name point to loopback gets nothing, not even with the token.
func TestHostName(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Hosts = []string{"node.example"} })
	for _, host := range []string{"localhost", "LOCALHOST:1", "127.0.0.1:7480", "[::1]:7480", "127.9.9.9", "node.example:80"} {
		require.Equal(t, 200, r.do(call{method: "GET", path: "/healthz", host: host}).status, host)
	}
	for _, host := range []string{"evil.example", "evil.example:7480", "localhost.evil.example", "10.0.0.1", "0.0.0.0"} {
		require.Equal(t, "host", r.errorOf(call{method: "GET", path: "/api/v1/status", host: host}, 421).Code, host)
	}
}

func TestHeaders(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{"/healthz", "/api/v1/status", "/api/v1/nothing"} {
		h := r.do(call{method: "GET", path: path}).header
		require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))
		require.Equal(t, "no-store", h.Get("Cache-Control"))
		require.Contains(t, h.Get("Content-Security-Policy"), "default-src 'none'")
	}
	require.Equal(t, "GET, HEAD", r.do(call{method: "DELETE", path: "/api/v1/status"}).header.Get("Allow"))
}

// A bug in one handler is one failed request, and is in the log.
func TestPanic(t *testing.T) {
	r := newRig(t)
	r.fake.panics = true
	require.Equal(t, "internal", r.errorOf(call{method: "GET", path: "/api/v1/status"}, 500).Code)
	require.Equal(t, 1, r.log.FilterMessage("handler panicked").Len())
	r.fake.locked(func() { r.fake.panics = false })
	require.Equal(t, 200, r.do(call{method: "GET", path: "/api/v1/status"}).status)
}

func TestConfigIsChecked(t *testing.T) {
	_, err := New(Config{Listen: "127.0.0.1:0"}, newFake(), zap.NewNop())
	require.ErrorContains(t, err, "no token")
	for _, address := range []string{"0.0.0.0:0", ":0", "10.0.0.1:0", "[::]:0"} {
		_, err = New(Config{Listen: address, Token: "x"}, newFake(), zap.NewNop())
		require.ErrorContains(t, err, "has no TLS", address)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	_, err = New(Config{Listen: ln.Addr().String(), Token: "x"}, newFake(), zap.NewNop())
	require.ErrorContains(t, err, "[listen] api", "a port in use")
}

// A server that never ran is freed, and its port is free again.
func TestClose(t *testing.T) {
	s, err := New(Config{Listen: "127.0.0.1:0", Token: "x"}, newFake(), zap.NewNop())
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	ln, err := net.Listen("tcp", s.ln.Addr().String())
	require.NoError(t, err)
	require.NoError(t, ln.Close())
}

func TestTLS(t *testing.T) {
	made := httptest.NewUnstartedServer(nil)
	made.StartTLS()
	certificates := made.TLS.Certificates
	pool := made.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	made.Close()
	r := newRig(t, func(c *Config) { c.TLS = &tls.Config{Certificates: certificates} })
	r.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: pool}
	got := r.do(call{method: "GET", path: "/healthz"})
	require.Equal(t, 200, got.status)
	require.NotEmpty(t, got.header.Get("Strict-Transport-Security"))
}

// Over a socket only its owner can call, under any name; one that a dead process left behind is replaced.
func TestSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	left.SetUnlinkOnClose(false)
	require.NoError(t, left.Close())

	s, err := New(Config{Listen: "unix:" + path, Token: testToken}, newFake(), zap.NewNop())
	require.NoError(t, err)
	require.Equal(t, "unix:"+path, s.Addr())
	st, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), st.Mode().Perm())
	_, err = New(Config{Listen: "unix:" + path, Token: testToken}, newFake(), zap.NewNop())
	require.ErrorContains(t, err, "another process serves")

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	client := &http.Client{Transport: transport}
	resp, err := client.Get("http://anything/metrics")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 200, resp.StatusCode)
	resp, err = client.Get("http://anything/api/v1/status")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 401, resp.StatusCode)
	transport.CloseIdleConnections()
	cancel()
	require.NoError(t, <-done)
	require.NoFileExists(t, path)
}
