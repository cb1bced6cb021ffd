package api

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
)

// Config of a Server.
type Config struct {
	// Listen is where it listens: IP:PORT, port 0 takes a free one, or unix:PATH.
	Listen string
	// TLS serves over TLS; an address that is not loopback demands it.
	TLS *tls.Config
	// Token is what callers show. It may not be empty.
	Token string
	// Org is the node's organisation: a stream name without a slash is one of its streams.
	Org string
	// Hosts are further names under which a server on loopback may be called, besides localhost and its addresses.
	Hosts []string
	// MetricsNeedToken demands the token for /metrics also of callers on this machine.
	MetricsNeedToken bool

	// MaxTails bounds the tails open at once, MaxPushes the bodies read at once; 0 means 64 and 8.
	MaxTails  int
	MaxPushes int
	// MaxConnections bounds the connections open at once; 0 means DefaultMaxConnections. When as many are open, the one gives way that has
	// served no caller with the token for longest.
	MaxConnections int
	// MaxBody bounds a pushed body in uncompressed bytes; 0 means 16 MiB.
	MaxBody int64
	// Heartbeat is how often a quiet tail says that it is alive; 0 means 10 s.
	Heartbeat time.Duration
	// Patience is how long a client may take to take or send the next part; 0 means 30 s. Who is slower is cut off.
	Patience time.Duration
	// Durable is how long a push waits until its rows are durable; 0 means 30 s.
	Durable time.Duration
}

// DefaultMaxConnections is the default of Config.MaxConnections.
const DefaultMaxConnections = 512

// The defaults of Config.
const (
	defaultMaxTails  = 64
	defaultMaxPushes = 8
	defaultMaxBody   = 16 << 20
	defaultHeartbeat = 10 * time.Second
	defaultPatience  = 30 * time.Second
)

// unixPrefix marks an address that is the path of a socket.
const unixPrefix = "unix:"

// complete fills in defaults and checks what was given.
func (c *Config) complete() error {
	if c.Token == "" {
		return errors.New("api: no token; callers could not be told from strangers")
	}
	if c.MaxTails == 0 {
		c.MaxTails = defaultMaxTails
	}
	if c.MaxPushes == 0 {
		c.MaxPushes = defaultMaxPushes
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = DefaultMaxConnections
	}
	if c.MaxBody == 0 {
		c.MaxBody = defaultMaxBody
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = defaultHeartbeat
	}
	if c.Patience == 0 {
		c.Patience = defaultPatience
	}
	if c.Durable == 0 {
		c.Durable = defaultPatience
	}
	if c.TLS == nil && !c.loopback() {
		return fmt.Errorf("api: %s can be reached from other machines and has no TLS; set [api] tls_cert and tls_key, or listen on 127.0.0.1 or unix:PATH", c.Listen)
	}
	return nil
}

// unixPath returns the path of the socket to listen on.
func (c *Config) unixPath() (string, bool) { return strings.CutPrefix(c.Listen, unixPrefix) }

// loopback reports whether only this machine can reach the address.
func (c *Config) loopback() bool {
	if _, ok := c.unixPath(); ok {
		return true
	}
	host, _, err := net.SplitHostPort(c.Listen)
	return err == nil && loopbackHost(host)
}

// loopbackHost reports whether a host, without port, means this machine by itself.
func loopbackHost(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}
