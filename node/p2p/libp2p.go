package p2p

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/connmgr"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/x/rate"
	ma "github.com/multiformats/go-multiaddr"

	"fednode/node/p2p/admission"
	"fednode/node/trust"
)

// openLibp2p makes the host with exactly the transports, security and services that we want: libp2p's defaults would
// add browser transports, listen on all interfaces, answer pings and register metrics globally.
func openLibp2p(cfg Config, key *trust.SecretKey, door *admission.Door) (host.Host, error) {
	private, err := key.Libp2p()
	if err != nil {
		return nil, err
	}
	resources, err := newResources(cfg.Limits)
	if err != nil {
		return nil, fmt.Errorf("p2p: limits: %w", err)
	}
	keep, err := connmgr.NewConnManager(cfg.Limits.Connections*3/4, cfg.Limits.Connections, connmgr.WithGracePeriod(time.Minute))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("p2p: limits: %w", err), resources.Close())
	}
	announce, err := announced(cfg.Announce)
	if err != nil {
		return nil, errors.Join(err, keep.Close(), resources.Close())
	}
	h, err := libp2p.New(
		libp2p.Identity(private),
		libp2p.NoListenAddrs, // listen does it, after the handlers are in place
		libp2p.Transport(tcp.NewTCPTransport, tcp.DisableReuseport()),
		libp2p.Transport(door.QUICConstructor()),
		libp2p.Security(admission.SecurityID, door.NoiseConstructor()),
		libp2p.Muxer(yamux.ID, yamux.DefaultTransport),
		libp2p.ConnectionGater(door),
		libp2p.ResourceManager(resources),
		libp2p.ConnectionManager(keep),
		libp2p.AddrsFactory(announce),
		libp2p.DialRanker(tcpFirst),
		libp2p.WithDialTimeout(cfg.DialTimeout),
		libp2p.UserAgent(cfg.Software),
		libp2p.Ping(false),
		libp2p.DisableRelay(),
		libp2p.DisableMetrics(),
		libp2p.DisableIdentifyAddressDiscovery(),
		// On a private network few dials succeed at first; the detector would then stop trying QUIC or IPv6 at all.
		libp2p.UDPBlackHoleSuccessCounter(nil),
		libp2p.IPv6BlackHoleSuccessCounter(nil),
	)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("p2p: %w", err), keep.Close(), resources.Close())
	}
	return h, nil
}

// announced returns what replaces the listen addresses in what we tell others.
func announced(list []string) (func([]ma.Multiaddr) []ma.Multiaddr, error) {
	fixed := make([]ma.Multiaddr, len(list))
	for i, text := range list {
		a, err := ma.NewMultiaddr(text)
		if err != nil {
			return nil, fmt.Errorf("p2p: listen.announce: %q: %w", text, err)
		}
		fixed[i] = a
	}
	return func(listening []ma.Multiaddr) []ma.Multiaddr {
		if len(fixed) > 0 {
			return fixed
		}
		return listening
	}, nil
}

// newResources builds libp2p's limits. Its own defaults allow 8 connections from one address and one new one in five
// seconds, which a site of several nodes behind one address would hit.
func newResources(l Limits) (network.ResourceManager, error) {
	conns, streams := rcmgr.LimitVal(l.Connections), rcmgr.LimitVal(l.StreamsPerPeer)
	const sessionStreams = 32 // control, membership, identify
	peer := rcmgr.ResourceLimits{
		Conns: 8, ConnsInbound: 8, ConnsOutbound: 8, FD: 8,
		Streams: 2*streams + sessionStreams, StreamsInbound: streams + sessionStreams, StreamsOutbound: streams + sessionStreams,
		Memory: rcmgr.LimitVal64(l.MemoryPerPeer),
	}
	data := rcmgr.ResourceLimits{Streams: 2 * streams, StreamsInbound: streams, StreamsOutbound: streams, Memory: peer.Memory}
	unbounded := rcmgr.ResourceLimits{Streams: rcmgr.Unlimited, StreamsInbound: rcmgr.Unlimited, StreamsOutbound: rcmgr.Unlimited, Memory: rcmgr.Unlimited64}
	control := rcmgr.ResourceLimits{Streams: 8, StreamsInbound: 4, StreamsOutbound: 4, Memory: rcmgr.LimitVal64(16 << 20)}
	limits := rcmgr.PartialLimitConfig{
		System: rcmgr.ResourceLimits{Conns: conns, ConnsInbound: conns, ConnsOutbound: conns, FD: conns,
			Streams: rcmgr.Unlimited, StreamsInbound: rcmgr.Unlimited, StreamsOutbound: rcmgr.Unlimited},
		PeerDefault:  peer,
		Protocol:     map[protocol.ID]rcmgr.ResourceLimits{DataProtocol: unbounded, ControlProtocol: unbounded},
		ProtocolPeer: map[protocol.ID]rcmgr.ResourceLimits{DataProtocol: data, ControlProtocol: control},
	}
	perIP := rcmgr.WithLimitPerSubnet(
		[]rcmgr.ConnLimitPerSubnet{{PrefixLength: 32, ConnCount: l.PerAddress}},
		[]rcmgr.ConnLimitPerSubnet{{PrefixLength: 56, ConnCount: l.PerAddress}, {PrefixLength: 48, ConnCount: 8 * l.PerAddress}})
	return rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(limits.Build(rcmgr.DefaultLimits.AutoScale())),
		perIP, rcmgr.WithConnRateLimiters(newRates(l)), rcmgr.WithMetricsDisabled())
}

// newRates bounds how fast connections come from one address; loopback is exempt.
func newRates(l Limits) *rate.Limiter {
	one := rate.Limit{RPS: float64(l.NewPerSecond), Burst: 4 * l.NewPerSecond}
	return &rate.Limiter{
		NetworkPrefixLimits: []rate.PrefixLimit{
			{Prefix: netip.MustParsePrefix("127.0.0.0/8")},
			{Prefix: netip.MustParsePrefix("::1/128")},
		},
		SubnetRateLimiter: rate.SubnetLimiter{
			IPv4SubnetLimits: []rate.SubnetLimit{{PrefixLength: 32, Limit: one}},
			IPv6SubnetLimits: []rate.SubnetLimit{{PrefixLength: 56, Limit: one}},
			GracePeriod:      time.Minute,
		},
	}
}

// tcpFirst dials TCP at once and QUIC a little later: in bulk TCP carries two to three times as much.
func tcpFirst(addrs []ma.Multiaddr) []network.AddrDelay {
	const later = 300 * time.Millisecond
	ranked := make([]network.AddrDelay, 0, len(addrs))
	tcp := 0
	for _, a := range addrs {
		if _, err := a.ValueForProtocol(ma.P_TCP); err == nil {
			ranked = append(ranked, network.AddrDelay{Addr: a})
			tcp++
		}
	}
	for _, a := range addrs {
		if _, err := a.ValueForProtocol(ma.P_TCP); err != nil {
			delay := later
			if tcp == 0 {
				delay = 0
			}
			ranked = append(ranked, network.AddrDelay{Addr: a, Delay: delay})
		}
	}
	return ranked
}
