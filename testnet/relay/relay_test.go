package relay

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patient is how long a test waits for what must come.
const patient = time.Minute

// pair is a connection from node 0 to node 1 over a relay: its two ends.
type pair struct{ dialler, listener *net.TCPConn }

func newPair(t *testing.T, table *Table) pair {
	t.Helper()
	target, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	t.Cleanup(func() { target.Close() })
	s := NewStreams(table, func(c []Ends) []int { return OwnersOf(c, []int{os.Getpid()}) })
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	at, err := s.Open(1)
	require.NoError(t, err)
	s.Aim(1, target.Addr().(*net.TCPAddr))
	a, err := net.DialTCP("tcp4", nil, at)
	require.NoError(t, err)
	t.Cleanup(func() { a.Close() })
	require.NoError(t, target.SetDeadline(time.Now().Add(patient)))
	b, err := target.AcceptTCP()
	require.NoError(t, err)
	t.Cleanup(func() { b.Close() })
	return pair{a, b}
}

// says sends a text and takes it at the other end.
func says(t *testing.T, from, to *net.TCPConn, text string) {
	t.Helper()
	_, err := from.Write([]byte(text))
	require.NoError(t, err)
	hears(t, to, text)
}

func hears(t *testing.T, c *net.TCPConn, text string) {
	t.Helper()
	got := make([]byte, len(text))
	require.NoError(t, c.SetReadDeadline(time.Now().Add(patient)))
	_, err := io.ReadFull(c, got)
	require.NoError(t, err)
	require.Equal(t, text, string(got))
}

// silent holds a connection to bringing nothing for a moment.
func silent(t *testing.T, c *net.TCPConn) {
	t.Helper()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err := c.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}

// TestStreams: bytes and ends go both ways; a way that is cut is silent, and nothing is lost when it heals.
func TestStreams(t *testing.T) {
	var table Table
	p := newPair(t, &table)
	says(t, p.dialler, p.listener, "there")
	says(t, p.listener, p.dialler, "back")

	table.Set(map[Way]State{{From: 0, To: 1}: {Cut: true}})
	_, err := p.dialler.Write([]byte("held"))
	require.NoError(t, err)
	silent(t, p.listener)
	says(t, p.listener, p.dialler, "the other way is good")
	table.Set(nil)
	hears(t, p.listener, "held")

	require.NoError(t, p.dialler.CloseWrite())
	require.NoError(t, p.listener.SetReadDeadline(time.Now().Add(patient)))
	_, err = p.listener.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	says(t, p.listener, p.dialler, "one end is enough")
}

// TestStreamsDelay: a delay is what each way takes, and a loss is waited for.
func TestStreamsDelay(t *testing.T) {
	const delay = 30 * time.Millisecond
	var table Table
	p := newPair(t, &table)
	table.Set(map[Way]State{{From: 0, To: 1}: {Delay: delay}, {From: 1, To: 0}: {Delay: delay, Jitter: delay}})
	began := time.Now()
	says(t, p.dialler, p.listener, "there")
	says(t, p.listener, p.dialler, "back")
	require.GreaterOrEqual(t, time.Since(began), 2*delay)

	table.Set(map[Way]State{{From: 0, To: 1}: {Loss: 1}})
	began = time.Now()
	says(t, p.dialler, p.listener, "lost again and again")
	require.GreaterOrEqual(t, time.Since(began), firstRetry)
}

// TestStreamsBegunWhileCut: a connection that is begun while its way is cut is made when that heals.
func TestStreamsBegunWhileCut(t *testing.T) {
	var table Table
	table.Set(map[Way]State{{From: 1, To: 0}: {Cut: true}}) // the answers do not come through
	healed := time.AfterFunc(100*time.Millisecond, func() { table.Set(nil) })
	defer healed.Stop()
	began := time.Now()
	p := newPair(t, &table)
	require.GreaterOrEqual(t, time.Since(began), 100*time.Millisecond)
	says(t, p.dialler, p.listener, "made at last")
}

// TestOwnersOf: a connection of ours is found, one of nobody is not.
func TestOwnersOf(t *testing.T) {
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer l.Close()
	at := l.Addr().(*net.TCPAddr)
	c, err := net.DialTCP("tcp4", nil, at)
	require.NoError(t, err)
	defer c.Close()
	ours := Ends{c.LocalAddr().(*net.TCPAddr), at}
	nobody := Ends{ours.From, &net.TCPAddr{IP: at.IP, Port: 1}}
	require.Equal(t, []int{1, Outside}, OwnersOf([]Ends{ours, nobody}, []int{1 << 30, os.Getpid()}))
	require.Equal(t, []int{Outside}, OwnersOf([]Ends{ours}, nil))
}
