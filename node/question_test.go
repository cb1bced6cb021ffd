package node

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/wire"
)

// question returns the number of the request that waits for an answer.
func (q *queries) question(t *testing.T) (number uint64) {
	t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	require.Len(t, q.asked, 1)
	for number = range q.asked {
	}
	return number
}

// TestAskedInVain: a deployment does not wait for a host whose session ends before it has answered, for it may have been
// started again and know of no question. What it answers late, what others answer for it, and what was asked before this
// node started counts for nothing.
func TestAskedInVain(t *testing.T) {
	f := threeOrgs(t, map[string]string{"south": "[[federation.host]]\norg = \"north\"\n"})
	north, south := f.nodes["north"].node, f.nodes["south"].node
	out := filepath.Join(t.TempDir(), "suspects.csv")
	deploy := func(ctx context.Context) error {
		_, err := north.Deploy(ctx, "netmon.toml", []byte(edgeQuery(out)), false)
		return err
	}
	ended := make(chan error, 1)
	asked := func() bool {
		north.queries.mu.Lock()
		defer north.queries.mu.Unlock()
		return len(north.queries.asked) == 1
	}

	south.queries.mu.Lock() // it cannot look whether it may host
	go func() { ended <- deploy(t.Context()) }()
	f.eventually(asked, "south is asked")
	number := north.queries.question(t)
	require.Greater(t, number, uint64(north.started.UnixNano()), "no number of an earlier process")
	north.queries.hostReplied(f.nodes["east"].node.host.ID(), &wire.HostReply{Request: number, Accepted: true})
	for _, other := range []uint64{1, number - 1, number + 1} {
		north.queries.hostReplied(south.host.ID(), &wire.HostReply{Request: other, Accepted: true})
	}
	require.True(t, asked(), "nobody else answers for south, and it answers this question only")
	require.NoError(t, north.host.Libp2p().Network().ClosePeer(south.host.ID()))
	require.ErrorIs(t, <-ended, errAskedInVain)
	require.False(t, asked())
	south.queries.mu.Unlock()

	f.eventually(func() bool { return north.streams.peersUp() == 2 && south.streams.peersUp() == 2 }, "south is up again")
	require.NoError(t, deploy(t.Context()))
	f.eventually(func() bool { return len(lines(out)) >= len(wantSuspects) }, "results arrive")
	require.Equal(t, wantSuspects, lines(out))
}
