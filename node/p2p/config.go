package p2p

import (
	"errors"
	"fmt"
	"slices"
	"time"

	ma "github.com/multiformats/go-multiaddr"
)

// DialMode says which side makes connections.
type DialMode string

// The modes. DialOut is for a node that cannot be reached: it does not listen.
const (
	DialBoth DialMode = "both"
	DialOut  DialMode = "out"
)

// Config is the host's part of node.toml.
type Config struct {
	Listen   []string // multiaddresses, [listen] p2p; TCP and QUIC of one port are two of them
	Announce []string // [listen] announce: what we tell others instead of the listen addresses
	Dial     DialMode // [federation] dial

	Heartbeat time.Duration // [availability] heartbeat
	Miss      int           // [availability] miss: heartbeats in a row that may be missing
	Abandon   time.Duration // silence after which the connection is closed and made anew

	HelloTimeout time.Duration // from the connection to the hello
	DialTimeout  time.Duration
	Redial       Backoff

	Window int    // payload bytes that a data stream may carry before they are acknowledged
	Queue  int    // control messages waiting for one peer, and of one peer for the handler
	Limits Limits // [limits]

	Software string // shown to peers: "fednode 0.2.0"
}

// Backoff is the pause between dials: it grows by a quarter each time, from Min to Max, and each pause is drawn from its upper
// half. A peer that answers to no dial at all is tried again sooner than after Max.
type Backoff struct {
	Min time.Duration
	Max time.Duration
}

// Limits bound what others can make us hold.
type Limits struct {
	Connections     int   // in all
	PerAddress      int   // connections from one IPv4 address or IPv6 /56; loopback is exempt
	NewPerSecond    int   // connections from one address, after a burst of four times as many
	StreamsPerPeer  int   // data streams of one peer
	StreamsPerOrg   int   // data streams of one partner's nodes together
	BytesPerSec     int64 // read from one partner's nodes together; 0 is no limit; own nodes have none
	ControlPerSec   int   // control frames of one peer
	MemoryPerPeer   int64 // of libp2p's buffers
	PeersPerPartner int
}

// Default is the configuration of page 7, listening on loopback.
func Default() Config {
	return Config{
		Listen:       ListenOn("127.0.0.1", 7481),
		Dial:         DialBoth,
		Heartbeat:    100 * time.Millisecond,
		Miss:         3,
		Abandon:      10 * time.Second,
		HelloTimeout: 5 * time.Second,
		DialTimeout:  10 * time.Second,
		Redial:       Backoff{Min: 100 * time.Millisecond, Max: 15 * time.Second},
		Window:       16 << 20,
		Queue:        1024,
		Software:     "fednode",
		Limits: Limits{
			Connections:     1024,
			PerAddress:      64,
			NewPerSecond:    16,
			StreamsPerPeer:  1024,
			StreamsPerOrg:   2048,
			ControlPerSec:   5000,
			MemoryPerPeer:   128 << 20,
			PeersPerPartner: 256,
		},
	}
}

// ListenOn returns the addresses for TCP and QUIC on one port of an IPv4 address. With port 0 the two get different
// ports.
func ListenOn(ip string, port int) []string {
	return []string{fmt.Sprintf("/ip4/%s/tcp/%d", ip, port), fmt.Sprintf("/ip4/%s/udp/%d/quic-v1", ip, port)}
}

// Validate reports every problem, each with its path in node.toml.
func (c Config) Validate() error {
	var errs []error
	bad := func(path, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...)))
	}
	for _, a := range c.Listen {
		if err := checkTransport(a); err != nil {
			bad("listen.p2p", "%v", err)
		}
	}
	for _, a := range c.Announce {
		if _, err := ma.NewMultiaddr(a); err != nil {
			bad("listen.announce", "%q is no multiaddress: %v; write /dns4/host/tcp/7481", a, err)
		}
	}
	if c.Dial != DialBoth && c.Dial != DialOut {
		bad("federation.dial", "got %q, expected both or out", c.Dial)
	}
	if c.Dial == DialBoth && len(c.Listen) == 0 {
		bad("listen.p2p", "is empty; give an address, or set federation.dial to out")
	}
	if c.Heartbeat < 10*time.Millisecond || c.Heartbeat > time.Minute {
		bad("availability.heartbeat", "got %s, expected 10ms to 1m", c.Heartbeat)
	}
	if c.Miss < 1 || c.Miss > 100 {
		bad("availability.miss", "got %d, expected 1 to 100", c.Miss)
	}
	if c.Abandon < c.silence() {
		bad("availability.abandon", "got %s, expected at least heartbeat times miss, %s", c.Abandon, c.silence())
	}
	if c.HelloTimeout <= 0 || c.DialTimeout <= 0 || c.Redial.Min <= 0 || c.Redial.Max < c.Redial.Min {
		bad("federation", "timeouts and pauses must be positive, and the shortest pause at most the longest")
	}
	if c.Window < 64<<10 || c.Window > 1<<30 || c.Queue < 16 {
		bad("limits.buffers", "got a window of %d bytes and %d messages, expected 64 KiB to 1 GiB and at least 16", c.Window, c.Queue)
	}
	return errors.Join(append(errs, c.Limits.validate())...)
}

func (l Limits) validate() error {
	for _, n := range []int{l.Connections, l.PerAddress, l.NewPerSecond, l.StreamsPerPeer, l.StreamsPerOrg, l.ControlPerSec, l.PeersPerPartner} {
		if n < 1 {
			return errors.New("limits: every count must be at least 1")
		}
	}
	if l.BytesPerSec < 0 || l.MemoryPerPeer < 1<<20 {
		return fmt.Errorf("limits: got %d bytes a second and %d bytes a peer, expected none negative and at least 1 MiB", l.BytesPerSec, l.MemoryPerPeer)
	}
	return nil
}

// silence is how long a peer may say nothing before it is down.
func (c Config) silence() time.Duration { return c.Heartbeat * time.Duration(c.Miss) }

// checkTransport accepts /ip4/A/tcp/PORT and /ip4/A/udp/PORT/quic-v1, and the same with ip6.
func checkTransport(address string) error {
	a, err := ma.NewMultiaddr(address)
	if err != nil {
		return fmt.Errorf("%q is no multiaddress: %w; write /ip4/0.0.0.0/tcp/7481", address, err)
	}
	codes := make([]int, 0, 3)
	for _, p := range a.Protocols() {
		codes = append(codes, p.Code)
	}
	ip := len(codes) > 0 && (codes[0] == ma.P_IP4 || codes[0] == ma.P_IP6)
	if !ip || !slices.Equal(codes[1:], []int{ma.P_TCP}) && !slices.Equal(codes[1:], []int{ma.P_UDP, ma.P_QUIC_V1}) {
		return fmt.Errorf("%q is neither TCP nor QUIC; write /ip4/0.0.0.0/tcp/7481 or /ip4/0.0.0.0/udp/7481/quic-v1", address)
	}
	return nil
}
