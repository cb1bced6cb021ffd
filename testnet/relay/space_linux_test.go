package relay

import (
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSpaces: two namespaces reach each other over a switch, with TCP of the kernel, and lose each other when it is cut.
func TestSpaces(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("not run: network namespaces need root")
		return
	}
	var table Table
	s := NewSwitch(&table)
	spaces := make([]*Space, 2)
	at := []netip.Prefix{netip.MustParsePrefix("10.77.0.1/24"), netip.MustParsePrefix("10.77.0.2/24")}
	for i := range spaces {
		var err error
		spaces[i], err = NewSpace(at[i])
		require.NoError(t, err)
		defer spaces[i].Close()
		s.Plug(i, at[i].Addr(), spaces[i].Device)
	}
	s.Start()
	defer func() { require.NoError(t, s.Close()) }()
	var l net.Listener
	require.NoError(t, spaces[1].Do(func() (err error) {
		l, err = net.Listen("tcp4", "10.77.0.2:7481")
		return err
	}))
	defer l.Close()
	var a net.Conn
	require.NoError(t, spaces[0].Do(func() (err error) {
		a, err = net.DialTimeout("tcp4", "10.77.0.2:7481", patient)
		return err
	}))
	defer a.Close()
	b, err := l.Accept()
	require.NoError(t, err)
	defer b.Close()
	require.Equal(t, "10.77.0.1", b.RemoteAddr().(*net.TCPAddr).IP.String())
	sent := make([]byte, 1<<20)
	go a.Write(sent) // an error shows below
	got := make([]byte, len(sent))
	require.NoError(t, b.SetReadDeadline(time.Now().Add(patient)))
	_, err = io.ReadFull(b, got)
	require.NoError(t, err)

	table.Set(map[Way]State{{From: 0, To: 1}: {Cut: true}})
	_, err = a.Write([]byte{1})
	require.NoError(t, err)
	require.NoError(t, b.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err = b.Read(got)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	table.Set(nil)
	require.NoError(t, b.SetReadDeadline(time.Now().Add(patient)))
	_, err = b.Read(got[:1])
	require.NoError(t, err, "TCP sends it again")
}
