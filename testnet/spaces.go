package testnet

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"

	"fednode/testnet/relay"
)

// spaces runs every node in a network namespace of its own. The namespaces have no names and the nodes the same addresses
// in every network: networks never meet.
type spaces struct {
	table relay.Table
	hub   *relay.Switch
	nodes []*relay.Space
}

// newSpaces says what is missing where this system cannot do it.
func newSpaces() (*spaces, error) {
	const tun = "/dev/net/tun"
	if os.Geteuid() != 0 {
		return nil, errorf(ErrSpec, "mode %s makes network namespaces, which needs root; run it as root, or use mode %s", ModeNetns, ModeProcess)
	}
	if _, err := os.Stat(tun); err != nil {
		return nil, errorf(ErrSpec, "mode %s needs the device %s: %v; load the kernel module tun, give a container the device, or use mode %s", ModeNetns, tun, err, ModeProcess)
	}
	s := &spaces{}
	s.hub = relay.NewSwitch(&s.table)
	return s, nil
}

// longestSocket is the longest path of a Unix socket.
const longestSocket = 107

func (s *spaces) open(node int, dir string) (*ports, error) {
	api := filepath.Join(dir, "api.sock")
	if len(api) > longestSocket {
		return nil, errorf(ErrSpec, "%s is too long for the path of a socket, which may have %d bytes; choose a shorter --dir", api, longestSocket)
	}
	at := netip.AddrFrom4([4]byte{10, 77, 0, byte(1 + node)})
	space, err := relay.NewSpace(netip.PrefixFrom(at, 24))
	if err != nil {
		return nil, fmt.Errorf("testnet: %w; mode %s needs root and a kernel with network namespaces and TUN devices", err, ModeNetns)
	}
	s.nodes = append(s.nodes, space)
	s.hub.Plug(node, at, space.Device)
	return &ports{p2p: fmt.Sprintf("%s:%d", at, p2pPort), api: "unix:" + api}, nil
}

func (s *spaces) begin() { s.hub.Start() }

// spaceStarter starts processes inside of a namespace.
type spaceStarter struct{ space *relay.Space }

func (s spaceStarter) start(c *exec.Cmd) error { return s.space.Do(c.Start) }

func (s *spaces) starter(node int) starter { return spaceStarter{s.nodes[node]} }

func (s *spaces) set(states map[relay.Way]relay.State) { s.table.Set(states) }

func (s *spaces) close() error {
	err := s.hub.Close()
	for _, n := range s.nodes {
		n.Close()
	}
	return errors.Join(err)
}
