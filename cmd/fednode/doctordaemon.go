package main

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"fednode/node/api"
	"fednode/node/trust"
)

// checkDaemon asks whether a daemon of this directory answers already.
func checkDaemon(ctx context.Context, p *patient) []finding {
	at, err := dirEndpoint(p.dir.Path, p.file)
	if err != nil {
		return one(failed("mend [listen] and [api] in "+p.file, "%v", err))
	}
	p.at = at
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	c := dialClient(at)
	defer c.Close()
	err = c.get(ctx, "/livez", nil)
	var refused *apiError
	switch {
	case err == nil:
		p.running = true
		return one(fine("answers at %s", at.name()))
	case errors.As(err, &refused):
		p.running = true
		return one(failed("stop what listens there, or set listen.api to another port", "something answers at %s, but it is no healthy fednode: %v", at.name(), err))
	case exitCode(err) == exitGaveUp:
		p.running = true
		return one(failed("look at its log; restart it if it stays so", "something listens at %s and does not answer within %v", at.name(), reachTimeout))
	}
	return one(finding{Verdict: verdictSkip, Detail: "does not run"})
}

// checkSessions asks the daemon which partners it talks to: up means that both have shown their certificates.
func checkSessions(ctx context.Context, p *patient) []finding {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	c := dialClient(p.at)
	defer c.Close()
	var peers []api.PeerInfo
	if err := c.get(ctx, "/api/v1/peers", &peers); err != nil {
		return one(failed("restart the daemon if it does not belong to this directory; fednode peers shows the same", "%v", err))
	}
	var out []finding
	for _, o := range p.orgs {
		out = append(out, sessionWith(o, peers))
	}
	return out
}

// sessionWith finds the best that is known of a partner's nodes.
func sessionWith(o *trust.Org, peers []api.PeerInfo) finding {
	cause := "no connection yet"
	for _, p := range peers {
		if p.Org != o.Name && !hasPeer(o, p.Peer) {
			continue
		}
		if p.Up {
			return fine("%s/%s is up, round trip %s, %s", o.Name, p.Node, rttText(p.RTT), p.Software)
		}
		if p.Cause != "" {
			cause = p.Cause
		}
	}
	if len(o.Addresses) == 0 {
		return warned("wait for "+o.Name+" to connect, or ask it for a file with addresses", "%s: %s", o.Name, cause)
	}
	return failed("if its address answers below, ask "+o.Name+" whether it trusts us: fednode org list, there", "%s: %s", o.Name, cause)
}

// hasPeer says whether an address of the organisation names the peer.
func hasPeer(o *trust.Org, id string) bool {
	return slices.ContainsFunc(o.Addresses, func(a string) bool { return strings.HasSuffix(a, "/p2p/"+id) })
}

// checkPorts tries to listen where the node would.
func checkPorts(ctx context.Context, p *patient) []finding {
	type port struct{ network, address, key string }
	var ports []port
	if a := p.config.Listen.P2P; a != "" {
		ports = append(ports, port{"tcp", a, "p2p"}, port{"udp", a, "p2p"})
	}
	if a := p.config.Listen.API; !strings.HasPrefix(a, "unix:") {
		ports = append(ports, port{"tcp", a, "api"})
	}
	var out []finding
	for _, q := range ports {
		if err := tryListen(ctx, q.network, q.address); err != nil {
			out = append(out, failed(portRemedy(err, q.key), "%s %s: %v", q.network, q.address, err))
		}
	}
	if len(out) > 0 {
		return out
	}
	return one(fine("can listen on %s and %s", p.config.Listen.P2P, p.config.Listen.API))
}

func tryListen(ctx context.Context, network, address string) error {
	var lc net.ListenConfig
	if network == "udp" {
		c, err := lc.ListenPacket(ctx, network, address)
		if err != nil {
			return err
		}
		return c.Close()
	}
	l, err := lc.Listen(ctx, network, address)
	if err != nil {
		return err
	}
	return l.Close()
}

func portRemedy(err error, key string) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "stop the program that has the port, or set listen." + key + " to another one"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "no interface has this address; set listen." + key + " to one of this machine's, or 0.0.0.0"
	case errors.Is(err, os.ErrPermission):
		return "ports below 1024 need the right to them; set listen." + key + " to a higher one"
	}
	return "set listen." + key + " to an address that this machine can listen on"
}
