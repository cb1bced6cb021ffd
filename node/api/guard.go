package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// access says what a route asks of its callers.
type access uint8

const (
	withToken access = iota
	// forMetrics asks for the token, but for callers on this machine only if so configured.
	forMetrics
	forAll
)

// guard decides who may call.
type guard struct {
	token       [sha256.Size]byte
	checkHost   bool
	hosts       []string
	metricsOpen bool
	tls         bool
}

func newGuard(cfg *Config) guard {
	_, unix := cfg.unixPath()
	return guard{
		token: sha256.Sum256([]byte(cfg.Token)), checkHost: cfg.loopback() && !unix, hosts: cfg.Hosts,
		metricsOpen: !cfg.MetricsNeedToken, tls: cfg.TLS != nil,
	}
}

// host refuses a request that reached a loopback address under a foreign name: a web page that lets its own name point
// here would otherwise be of the same origin.
func (g *guard) host(r *http.Request) error {
	if !g.checkHost {
		return nil
	}
	name := r.Host
	if h, _, err := net.SplitHostPort(name); err == nil {
		name = h
	}
	if loopbackHost(name) || slices.ContainsFunc(g.hosts, func(h string) bool { return strings.EqualFold(h, name) }) {
		return nil
	}
	return &httpError{status: http.StatusMisdirectedRequest, Code: "host", Message: "this node is not called " + quote(r.Host), Hint: "call it by 127.0.0.1 or localhost"}
}

// caller refuses who does not show the token where it is asked for.
func (g *guard) caller(r *http.Request, a access) error {
	switch {
	case a == forAll:
		return nil
	case a == forMetrics && g.metricsOpen && local(r):
		return nil
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		token = ""
	}
	// Hashes are compared, so that not even the length of the token can be measured.
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	if subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1 {
		return nil
	}
	msg := "the token is wrong"
	if token == "" {
		msg = "a token is needed"
	}
	return &httpError{status: http.StatusUnauthorized, Code: "unauthorized", Message: msg, Hint: "send the content of api.token as Authorization: Bearer TOKEN"}
}

// local reports whether the caller is on this machine: over loopback, or through a socket, which has no address.
func local(r *http.Request) bool {
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	return err != nil || a.Addr().Unmap().IsLoopback()
}

// harden sets the headers that keep browsers from doing more with an answer than showing it.
func (g *guard) harden(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if g.tls {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}
