package relay

import (
	"bytes"
	"io"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// wire is a device in memory: what the node has sent, and what it has got.
type wire struct {
	sent, got chan []byte
	closed    chan struct{}
}

func newWire() *wire {
	return &wire{sent: make(chan []byte, 100), got: make(chan []byte, 100), closed: make(chan struct{})}
}

func (w *wire) Read(p []byte) (int, error) {
	select {
	case b := <-w.sent:
		return copy(p, b), nil
	case <-w.closed:
		return 0, io.EOF
	}
}

func (w *wire) Write(p []byte) (int, error) {
	w.got <- bytes.Clone(p)
	return len(p), nil
}

func (w *wire) Close() error { close(w.closed); return nil }

// sends returns when a packet has been passed: the switch has read another one, to nobody, behind it.
func (w *wire) sends(t *testing.T, p []byte) {
	t.Helper()
	w.sent <- p
	w.sent <- packetTo(netip.MustParseAddr("10.0.0.9"), 0)
	require.Eventually(t, func() bool { return len(w.sent) == 0 }, patient, time.Millisecond)
}

// packetTo makes a packet whose last byte is its number.
func packetTo(a netip.Addr, number byte) []byte {
	p := make([]byte, 21)
	p[0], p[3], p[20] = 0x45, 21, number
	b := a.As4()
	copy(p[16:], b[:])
	return p
}

func (w *wire) hears(t *testing.T, number byte) {
	t.Helper()
	select {
	case p := <-w.got:
		require.Equal(t, number, p[20])
	case <-time.After(patient):
		require.Fail(t, "no packet came")
	}
}

// TestSwitch: packets go where they are addressed to and nowhere else; what is cut or lost does not come, what is delayed
// comes later and stays in order.
func TestSwitch(t *testing.T) {
	var table Table
	s := NewSwitch(&table)
	a, b := newWire(), newWire()
	atA, atB := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	s.Plug(0, atA, a)
	s.Plug(1, atB, b)
	s.Start()
	a.sent <- packetTo(netip.MustParseAddr("10.0.0.9"), 0) // nobody
	a.sent <- []byte{0x60, 1, 2}                           // no IPv4
	a.sent <- packetTo(atA, 0)                             // itself
	a.sent <- packetTo(atB, 1)
	b.hears(t, 1)

	table.Set(map[Way]State{{From: 0, To: 1}: {Cut: true}})
	b.sent <- packetTo(atA, 2)
	a.hears(t, 2)
	a.sends(t, packetTo(atB, 3))
	table.Set(map[Way]State{{From: 0, To: 1}: {Loss: 1}})
	a.sends(t, packetTo(atB, 4))

	const delay = 40 * time.Millisecond
	table.Set(map[Way]State{{From: 0, To: 1}: {Delay: delay}})
	began := time.Now()
	a.sends(t, packetTo(atB, 6))
	table.Set(nil)
	a.sent <- packetTo(atB, 8) // behind the one that waits
	b.hears(t, 6)
	require.GreaterOrEqual(t, time.Since(began), delay)
	b.hears(t, 8)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "a second time")
}
