package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"fednode/node/trust"
)

// exportAddresses turns what was typed into multiaddresses that end in the peer id of the directory's node.
func exportAddresses(d trust.Dir, typed []string) ([]string, error) {
	var out []string
	for _, a := range typed {
		list, err := multiaddrsOf(a)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			if _, id := peer.SplitAddr(m); id != "" {
				out = append(out, m.String())
				continue
			}
			id, err := ownPeer(d)
			if err != nil {
				return nil, err
			}
			out = append(out, fmt.Sprintf("%s/p2p/%s", m, id))
		}
	}
	return out, nil
}

// announced are the addresses that the directory's node.toml tells others, for an export without --address.
func announced(dir string) ([]string, error) {
	path := filepath.Join(dir, configName)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, nil // the organisation's own machine, without a node
	}
	cfg, _, err := readConfig(path)
	if err != nil {
		return nil, err
	}
	return cfg.Listen.Announce, nil
}

// ownPeer is the peer id of the directory's node key.
func ownPeer(d trust.Dir) (peer.ID, error) {
	key, err := d.LoadNodeKey()
	if errors.Is(err, trust.ErrMissing) {
		return "", wrong("%s holds no node key, so an --address must end in /p2p/ID; fednode key list shows the id where the node is", d.Path)
	}
	if err != nil {
		return "", err
	}
	return key.Public().PeerID()
}

// multiaddrsOf reads HOST:PORT, which means TCP and QUIC, or one multiaddress.
func multiaddrsOf(text string) ([]multiaddr.Multiaddr, error) {
	if len(text) > 0 && text[0] == '/' {
		m, err := multiaddr.NewMultiaddr(text)
		if err != nil {
			return nil, wrong("--address %s: %w", text, err)
		}
		return []multiaddr.Multiaddr{m}, nil
	}
	host, port, err := net.SplitHostPort(text)
	number, portErr := strconv.ParseUint(port, 10, 16)
	if err != nil || portErr != nil || number == 0 || host == "" {
		return nil, wrong("--address %s: expected HOST:PORT such as north.example.org:7481, or a multiaddress such as /dns4/north.example.org/tcp/7481", text)
	}
	kind := "dns"
	if ip, err := netip.ParseAddr(host); err == nil {
		kind = "ip6"
		if ip.Is4() {
			kind = "ip4"
		}
	}
	var out []multiaddr.Multiaddr
	for _, tail := range []string{"tcp/%d", "udp/%d/quic-v1"} {
		m, err := multiaddr.NewMultiaddr("/" + kind + "/" + host + "/" + fmt.Sprintf(tail, number))
		if err != nil {
			return nil, wrong("--address %s: %w", text, err)
		}
		out = append(out, m)
	}
	return out, nil
}
