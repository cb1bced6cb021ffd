package api

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// silence opens connections that say nothing, and closes them when the test ends.
func silence(t *testing.T, r *rig, n int) []net.Conn {
	t.Helper()
	all := make([]net.Conn, n)
	for i := range all {
		c, err := net.Dial("tcp", r.srv.ln.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		all[i] = c
	}
	return all
}

// ended waits until the server has closed a connection.
func ended(t *testing.T, c net.Conn) {
	t.Helper()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(waitLimit)))
	_, err := c.Read(make([]byte, 1))
	require.Error(t, err)
	var late net.Error
	require.False(t, errors.As(err, &late) && late.Timeout(), "the server closes it")
}

// TestCrowd: silent connections, as many as come, keep nobody from being answered, and a tail that is open goes on.
func TestCrowd(t *testing.T) {
	for _, secret := range []bool{false, true} {
		t.Run(map[bool]string{false: "plain", true: "tls"}[secret], func(t *testing.T) {
			const places = 8
			r := newRig(t, func(c *Config) {
				c.MaxConnections = places
				if secret {
					c.TLS = serverTLS(t)
				}
			})
			if secret {
				r.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: rootOf(t, r.srv.cfg.TLS)}
			}
			tail := r.start(context.Background(), call{method: "GET", path: "/api/v1/streams/north/conns/tail?from=beginning"})
			defer tail.Body.Close()
			require.Equal(t, 200, tail.StatusCode)
			silent := silence(t, r, 10*places)
			require.Equal(t, 200, r.do(call{method: "GET", path: "/api/v1/status"}).status)
			for _, c := range silent[:9*places] {
				ended(t, c)
			}
			r.srv.ln.(*crowd).mu.Lock()
			require.LessOrEqual(t, r.srv.ln.(*crowd).open.Len(), places)
			r.srv.ln.(*crowd).mu.Unlock()
			_, err := tail.Body.Read(make([]byte, 1))
			require.NoError(t, err, "the tail goes on")
		})
	}
}

// TestCrowdOfCallers: when all connections serve callers with the token, one more is turned away, and comes in when one of
// them leaves.
func TestCrowdOfCallers(t *testing.T) {
	const places = 3
	r := newRig(t, func(c *Config) { c.MaxConnections = places })
	var tails []*http.Response
	for range places {
		tail := r.start(context.Background(), call{method: "GET", path: "/api/v1/streams/north/conns/tail?from=beginning"})
		require.Equal(t, 200, tail.StatusCode)
		defer tail.Body.Close()
		tails = append(tails, tail)
	}
	ended(t, silence(t, r, 1)[0])
	require.NoError(t, tails[0].Body.Close())
	require.Eventually(t, func() bool {
		req, err := http.NewRequest(http.MethodGet, r.srv.Addr()+"/healthz", strings.NewReader(""))
		require.NoError(t, err)
		resp, err := r.client.Do(req)
		return err == nil && resp.Body.Close() == nil
	}, waitLimit, 10*time.Millisecond)
}

// TestCrowdOfStrangers: who shows no token does not keep a place, however slowly it sends its body.
func TestCrowdOfStrangers(t *testing.T) {
	const places = 4
	r := newRig(t, func(c *Config) { c.MaxConnections = places })
	for _, c := range silence(t, r, 4*places) {
		_, err := c.Write([]byte("POST /api/v1/queries HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nx"))
		require.NoError(t, err)
	}
	require.Equal(t, 200, r.do(call{method: "GET", path: "/api/v1/status"}).status)
}

func serverTLS(t *testing.T) *tls.Config {
	t.Helper()
	made := httptest.NewUnstartedServer(nil)
	made.StartTLS()
	defer made.Close()
	return &tls.Config{Certificates: made.TLS.Certificates}
}

func rootOf(t *testing.T, c *tls.Config) *x509.CertPool {
	t.Helper()
	cert, err := x509.ParseCertificate(c.Certificates[0].Certificate[0])
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return pool
}
