package proc

import (
	"context"
	"math/rand/v2"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/stretchr/testify/require"

	"fednode/testnet"
)

// TestProcessStrangers: while data go through, strangers send garbage to every daemon's port for peers, and a libp2p node
// that nobody trusts keeps knocking. Sessions stay as they are, and the results are those of one process.
func TestProcessStrangers(t *testing.T) {
	data, query := connections(t, 5, 1_000_000), filepath.Join("testdata", "netmon.toml")
	want := queryRun(t, query, data, []string{"suspects", "per_source"})
	s := testnet.Default()
	s.Query, s.Data = query, []string{data}
	n := up(t, s, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var strangers sync.WaitGroup
	var thrown, knocked atomic.Int64
	first := awaitView(t, n, "all have met", met)
	for i, node := range first.Nodes {
		address := node.Status.Node.P2P[0]
		strangers.Go(func() { throwGarbage(ctx, address, uint64(i), &thrown) })
		strangers.Go(func() { knock(ctx, address, &knocked) })
	}
	awaitView(t, n, "all data are through, and strangers have come", func(v *testnet.View) bool {
		return v.Done && thrown.Load() >= 50 && knocked.Load() >= 10
	})
	cancel()
	strangers.Wait()
	for _, node := range awaitView(t, n, "all are connected still", met).Nodes {
		require.Equal(t, testnet.StateRunning, node.State)
	}
	for _, o := range []string{"suspects.csv", "per_source.csv"} {
		require.Equal(t, sum(t, filepath.Join(want, o)), sum(t, homeFile(n, o)), o)
	}
	t.Logf("%d connections with garbage, %d of an unknown peer", thrown.Load(), knocked.Load())
}

// throwGarbage sends noise, with and without a beginning that looks right, until ctx ends.
func throwGarbage(ctx context.Context, address string, seed uint64, thrown *atomic.Int64) {
	rng := rand.New(rand.NewPCG(seed, 9))
	at, err := ma.NewMultiaddr(address)
	if err != nil {
		return
	}
	bare, _ := peer.SplitAddr(at)
	tcpAddr, err := manet.ToNetAddr(bare)
	if err != nil {
		return
	}
	for ctx.Err() == nil {
		c, err := net.DialTimeout("tcp", tcpAddr.String(), time.Second)
		if err != nil {
			continue
		}
		noise := make([]byte, rng.IntN(1<<16))
		for i := range noise {
			noise[i] = byte(rng.Uint32())
		}
		if rng.IntN(2) == 0 {
			noise = append([]byte("\x13/multistream/1.0.0\n\x07/noise\n"), noise...)
		}
		if err := c.SetDeadline(time.Now().Add(100 * time.Millisecond)); err == nil {
			_, _ = c.Write(noise) // the other side may have ended it already
		}
		c.Close()
		thrown.Add(1)
	}
}

// knock dials as a peer that nobody knows, and asks for every protocol there might be.
func knock(ctx context.Context, address string, knocked *atomic.Int64) {
	to, err := peer.AddrInfoFromString(address)
	if err != nil {
		return
	}
	for ctx.Err() == nil {
		h, err := libp2p.New(libp2p.NoListenAddrs, libp2p.Transport(tcp.NewTCPTransport), libp2p.Security(noise.ID, noise.New))
		if err != nil {
			return
		}
		dial, cancel := context.WithTimeout(ctx, time.Second)
		if h.Connect(dial, *to) == nil { // the listener's refusal shows only later
			for _, p := range []protocol.ID{"/fednode/control/1", "/fednode/data/1"} {
				if s, err := h.NewStream(dial, to.ID, p); err == nil {
					_, _ = s.Write([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
				}
			}
		}
		cancel()
		h.Close()
		knocked.Add(1)
	}
}
