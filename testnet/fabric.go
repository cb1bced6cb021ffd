package testnet

import (
	"fmt"
	"math/rand/v2"
	"net"

	"fednode/testnet/relay"
)

// fabric is the network between the nodes.
type fabric interface {
	// open prepares a node, before its file is written, and says where it listens.
	open(node int, dir string) (*ports, error)
	// begin lets the nodes reach each other, when all are prepared.
	begin()
	// starter starts processes of a node.
	starter(node int) starter
	// set replaces the states of all ways between nodes.
	set(states map[relay.Way]relay.State)
	// close ends it, after all processes.
	close() error
}

// ports say where a node listens, as in its [listen].
type ports struct{ p2p, announce, api string }

// newFabric returns the network of a mode. pids are the nodes' present processes.
func newFabric(mode string, pids func() []int) (fabric, error) {
	if mode == ModeNetns {
		return newSpaces()
	}
	return newLoopback(pids)
}

// p2pPort is where nodes listen for each other, on an address that is theirs alone.
const p2pPort = 7481

// loopback relays connections between processes on loopback. Each node has an address there of its own, and announces a
// port of the relay.
type loopback struct {
	table   relay.Table
	streams *relay.Streams
	spawner *spawner
	net     [2]byte // second and third byte of the nodes' addresses
}

func newLoopback(pids func() []int) (*loopback, error) {
	l := &loopback{spawner: newSpawner()}
	l.streams = relay.NewStreams(&l.table, func(c []relay.Ends) []int { return relay.OwnersOf(c, pids()) })
	var err error
	if l.net, err = freeAddresses(); err != nil {
		l.spawner.close()
		return nil, err
	}
	return l, nil
}

// freeAddresses looks for 256 addresses of loopback on which nobody listens. Two networks that look at the same moment do
// not meet: there are 16,384 to choose from.
func freeAddresses() (n [2]byte, err error) {
	for range 16 {
		n = [2]byte{byte(64 + rand.IntN(64)), byte(rand.IntN(256))}
		var l *net.TCPListener
		if l, err = net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, n[0], n[1], 1), Port: p2pPort}); err == nil {
			return n, l.Close()
		}
	}
	return n, fmt.Errorf("testnet: no free addresses on loopback: %w", err)
}

func (l *loopback) open(node int, _ string) (*ports, error) {
	at, err := l.streams.Open(node)
	if err != nil {
		return nil, err
	}
	own := &net.TCPAddr{IP: net.IPv4(127, l.net[0], l.net[1], byte(1+node)), Port: p2pPort}
	l.streams.Aim(node, own)
	return &ports{p2p: own.String(), announce: fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", at.Port), api: "127.0.0.1:0"}, nil
}

func (*loopback) begin() {}

func (l *loopback) starter(int) starter { return l.spawner }

func (l *loopback) set(states map[relay.Way]relay.State) { l.table.Set(states) }

func (l *loopback) close() error {
	l.spawner.close()
	return l.streams.Close()
}
