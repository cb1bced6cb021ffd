package relay

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"
)

// mtu is the largest packet, as on Ethernet.
const mtu = 1500

// Packets that wait for their time on one way, at most: 6 MB. More are lost, as in a router that is full.
const waitingPackets = 4096

// Device is the relay's end of a node's network device: a read is one IP packet that the node sends, a write one that it
// gets.
type Device interface {
	io.ReadWriteCloser
}

// Switch forwards IPv4 packets between devices.
type Switch struct {
	table *Table
	done  chan struct{}
	tasks sync.WaitGroup

	mu    sync.Mutex
	ports []*socket
	ended bool
}

// socket is where a node's device is plugged in.
type socket struct {
	node   int
	addr   netip.Addr
	device Device
	delays map[int]*line // by the node that sends; owned by that node's reader
}

// NewSwitch returns a switch without devices that reads the states of its ways from a table.
func NewSwitch(t *Table) *Switch { return &Switch{table: t, done: make(chan struct{})} }

// Plug connects a node's device, of which the switch closes its end. Packets reach it from when all are plugged in.
func (s *Switch) Plug(node int, addr netip.Addr, d Device) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ports = append(s.ports, &socket{node: node, addr: addr, device: d, delays: make(map[int]*line)})
}

// Start begins to forward. Nothing is plugged in later.
func (s *Switch) Start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	byAddr := make(map[netip.Addr]*socket, len(s.ports))
	for _, p := range s.ports {
		byAddr[p.addr] = p
		for _, from := range s.ports {
			l := &line{to: p.device, packets: make(chan packet, waitingPackets), done: s.done}
			p.delays[from.node] = l
			s.tasks.Go(l.run)
		}
	}
	for _, p := range s.ports {
		s.tasks.Go(func() { s.forward(p, byAddr) })
	}
}

// forward reads what a node sends until its device is closed.
func (s *Switch) forward(from *socket, byAddr map[netip.Addr]*socket) {
	buf := make([]byte, mtu)
	for {
		n, err := from.device.Read(buf)
		if err != nil {
			return
		}
		if to := byAddr[destination(buf[:n])]; to != nil && to != from {
			s.pass(from, to, buf[:n])
		}
	}
}

// destination reads where an IPv4 packet goes; the zero address if it is none.
func destination(p []byte) netip.Addr {
	if len(p) < 20 || p[0]>>4 != 4 || int(binary.BigEndian.Uint16(p[2:])) > len(p) {
		return netip.Addr{}
	}
	return netip.AddrFrom4([4]byte(p[16:20]))
}

// pass does to a packet what is on its way. A packet that has to wait, or comes behind one that does, goes over the way's
// line, so that packets stay in order.
func (s *Switch) pass(from, to *socket, p []byte) {
	state := s.table.Get(Way{from.node, to.node})
	if state.Cut || state.Loss > 0 && rand.Float64() < state.Loss {
		return
	}
	l := to.delays[from.node]
	if d := state.wait(); d > 0 || l.busy() {
		l.put(p, time.Now().Add(d))
		return
	}
	deliver(to.device, p)
}

// deliver writes a packet. One that the node does not take is lost.
func deliver(d Device, p []byte) { _, _ = d.Write(p) }

// Close closes all devices and returns when nothing is forwarded any more.
func (s *Switch) Close() error {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return nil
	}
	s.ended = true
	close(s.done)
	var errs []error
	for _, p := range s.ports {
		errs = append(errs, p.device.Close())
	}
	s.mu.Unlock()
	s.tasks.Wait()
	return errors.Join(errs...)
}
