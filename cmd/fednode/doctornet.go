package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"fednode/node/trust"
)

// reachTimeout is how long one name or one connection may take.
const reachTimeout = 3 * time.Second

func checkAnnounce(ctx context.Context, p *patient) []finding {
	var out []finding
	for _, text := range p.config.Listen.Announce {
		name := nameOf(text)
		if name == "" {
			continue
		}
		if err := resolve(ctx, name); err != nil {
			out = append(out, failed("add the name to the DNS, or announce an address", "%s: %v", name, err))
			continue
		}
		out = append(out, fine("%s is known", name))
	}
	if len(out) == 0 {
		return one(finding{Verdict: verdictSkip, Detail: "none"})
	}
	return out
}

// nameOf returns the DNS name of a multiaddress, "" if it has none.
func nameOf(text string) string {
	m, err := multiaddr.NewMultiaddr(text)
	if err != nil {
		return ""
	}
	for _, code := range []int{multiaddr.P_DNS, multiaddr.P_DNS4, multiaddr.P_DNS6} {
		if v, err := m.ValueForProtocol(code); err == nil {
			return v
		}
	}
	return ""
}

func resolve(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	_, err := net.DefaultResolver.LookupHost(ctx, name)
	return err
}

// checkReach connects to one address after the other of each partner, until one answers.
func checkReach(ctx context.Context, p *patient) []finding {
	var out []finding
	for _, o := range p.orgs {
		out = append(out, reachOrg(ctx, o))
	}
	return out
}

func reachOrg(ctx context.Context, o *trust.Org) finding {
	if len(o.Addresses) == 0 {
		return finding{Verdict: verdictSkip, Detail: o.Name + " gives no address: it connects to us"}
	}
	var errs []error
	for _, a := range o.Addresses {
		network, address, err := dialTarget(a)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", a, err))
			continue
		}
		if network != "tcp" {
			continue // a UDP port that says nothing may be one that is well
		}
		start := time.Now()
		conn, err := (&net.Dialer{Timeout: reachTimeout}).DialContext(ctx, network, address)
		if err == nil {
			took := time.Since(start)
			if err = conn.Close(); err == nil {
				return fine("%s: %s accepts connections, after %v", o.Name, address, took.Round(100*time.Microsecond))
			}
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return finding{Verdict: verdictSkip, Detail: o.Name + " has no TCP address to try"}
	}
	err := errors.Join(errs...)
	return failed(reachRemedy(err, o.Name), "%s: %s", o.Name, strings.ReplaceAll(err.Error(), "\n", "; "))
}

// dialTarget takes network and host:port out of a multiaddress.
func dialTarget(text string) (network, address string, err error) {
	m, err := multiaddr.NewMultiaddr(text)
	if err != nil {
		return "", "", err
	}
	network, address, err = manet.DialArgs(m)
	if err != nil {
		return "", "", err
	}
	return strings.TrimRight(network, "46"), address, nil
}

func reachRemedy(err error, org string) string {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return "check the DNS of this machine, then ask " + org + " whether its name is still right"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "ask " + org + " whether its node runs and listens on this port"
	}
	return "ask " + org + " and your own network people whether a firewall stops TCP to this port"
}
