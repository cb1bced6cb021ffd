package relay

import (
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFloodFromOutside: thousands of silent connections that no node made do not keep a node's from being made, and most of
// them are closed; what was there before goes on.
func TestFloodFromOutside(t *testing.T) {
	const flood = 3000
	var table Table
	p := newPair(t, &table)
	says(t, p.dialler, p.listener, "before")

	target, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer target.Close()
	stranger := net.IPv4(127, 0, 0, 2)
	s := NewStreams(&table, func(all []Ends) []int {
		from := make([]int, len(all)) // 0
		for i, c := range all {
			if c.From.IP.Equal(stranger) {
				from[i] = Outside
			}
		}
		return from
	})
	defer func() { require.NoError(t, s.Close()) }()
	at, err := s.Open(1)
	require.NoError(t, err)
	s.Aim(1, target.Addr().(*net.TCPAddr))
	silent := make([]*net.TCPConn, flood)
	for i := range silent {
		silent[i], err = net.DialTCP("tcp4", &net.TCPAddr{IP: stranger}, at)
		require.NoError(t, err)
		defer silent[i].Close()
	}
	ours, err := net.DialTCP("tcp4", nil, at)
	require.NoError(t, err)
	defer ours.Close()
	_, err = ours.Write([]byte("ours"))
	require.NoError(t, err)
	takeUntil(t, target, "ours")
	closed := 0
	for _, c := range silent {
		require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Millisecond)))
		if _, err := c.Read(make([]byte, 1)); !os.IsTimeout(err) {
			closed++
		}
	}
	require.GreaterOrEqual(t, closed, flood-mostStrangers)
	says(t, p.dialler, p.listener, "after")
}

// takeUntil takes connections, and keeps them, until one of them says a word.
func takeUntil(t *testing.T, l *net.TCPListener, word string) {
	t.Helper()
	require.NoError(t, l.SetDeadline(time.Now().Add(patient)))
	said := make(chan struct{}, 1)
	var readers sync.WaitGroup
	t.Cleanup(readers.Wait)
	for {
		c, err := l.AcceptTCP()
		if err != nil {
			break // the word was said, or never came
		}
		t.Cleanup(func() { c.Close() })
		readers.Go(func() {
			got := make([]byte, len(word))
			if _, err := io.ReadFull(c, got); err == nil && string(got) == word {
				said <- struct{}{}
				assert.NoError(t, l.SetDeadline(time.Unix(1, 0)))
			}
		})
	}
	require.Len(t, said, 1, "the word was said")
}
