package relay

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
)

// Streams relays TCP connections between nodes on loopback. For every node it has a port at which the others reach it.
type Streams struct {
	table     *Table
	whose     func([]Ends) []int
	arrivals  chan arrival
	strangers chan struct{} // holds one for each connection from outside
	done      chan struct{}
	tasks     sync.WaitGroup

	mu    sync.Mutex
	ports []*port
	conns map[net.Conn]bool // that Close has to end
}

// port is where a node is reached.
type port struct {
	node     int
	listener *net.TCPListener
	target   atomic.Pointer[net.TCPAddr] // nil while the node has no address
}

// NewStreams returns a relay that reads the states of its ways from a table. whose says which node made each of some
// connections: Outside if none did. It is asked of those that have come while it was busy together.
func NewStreams(t *Table, whose func([]Ends) []int) *Streams {
	s := &Streams{table: t, whose: whose, arrivals: make(chan arrival, mostArrivals), strangers: make(chan struct{}, mostStrangers),
		done: make(chan struct{}), conns: make(map[net.Conn]bool)}
	s.tasks.Go(s.receive)
	return s
}

// Open makes a port at which a node is reached, on a free number of loopback.
func (s *Streams) Open(node int) (*net.TCPAddr, error) {
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	p := &port{node: node, listener: l}
	s.mu.Lock()
	s.ports = append(s.ports, p)
	s.mu.Unlock()
	s.tasks.Go(func() { s.accept(p) })
	return l.Addr().(*net.TCPAddr), nil
}

// Aim says where a node listens itself.
func (s *Streams) Aim(node int, at *net.TCPAddr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.ports {
		if p.node == node {
			p.target.Store(at)
		}
	}
}

// keep notes a connection, which Close ends; false if it has done so already.
func (s *Streams) keep(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		return false
	}
	s.conns[c] = true
	return true
}

// drop closes a connection. Whether that succeeds makes no difference: nothing more is read or written.
func (s *Streams) drop(c net.Conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	c.Close()
}

// serve relays one connection of a node, or of somebody outside. As long as either way is cut it is not made: the packets
// that make one go both ways.
func (s *Streams) serve(p *port, c *net.TCPConn, from int) {
	defer s.drop(c)
	at := p.target.Load()
	if at == nil {
		return
	}
	there, back := Way{from, p.node}, Way{p.node, from}
	if !s.table.open(there, s.done) || !s.table.open(back, s.done) {
		return
	}
	t, err := net.DialTCP("tcp4", nil, at)
	if err != nil {
		return // refused, as the node itself would have
	}
	defer s.drop(t)
	if !s.keep(t) {
		return
	}
	var ways sync.WaitGroup
	ways.Go(func() { (&pump{s.table, there, s.done}).run(c, t) })
	ways.Go(func() { (&pump{s.table, back, s.done}).run(t, c) })
	ways.Wait()
}

// Close ends all connections and ports.
func (s *Streams) Close() error {
	s.mu.Lock()
	if s.conns == nil {
		s.mu.Unlock()
		return nil
	}
	close(s.done)
	var errs []error
	for _, p := range s.ports {
		errs = append(errs, p.listener.Close())
	}
	for c := range s.conns {
		c.Close()
	}
	s.conns = nil
	s.mu.Unlock()
	s.tasks.Wait()
	return errors.Join(errs...)
}
