package source

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// TestOneWarning: after a burst with times that lie ahead, rows in time are late; the log says so once a start, and the
// counters tell the rest.
func TestOneWarning(t *testing.T) {
	dir := t.TempDir()
	s := &script{blocks: []func() connect.Block{rows(60_000, 61_000), rows(1000), rows(2000, 3000), rows(4000, 5000), rows(later), rows(later+1, later+2)}}
	cfg := sideConfig(dir, s)
	cfg.Rules.MaxOutOfOrder = tuple.Second
	core, log := observer.New(zap.WarnLevel)
	cfg.Log = zap.New(core)
	p, err := Open(cfg)
	require.NoError(t, err)
	stop := running(t, p)
	_, last := collect(t, p, beginning, 0)
	require.EqualValues(t, 2, last.ID)
	status := p.Status()
	require.EqualValues(t, 5, status.Totals.Late)
	require.EqualValues(t, 3, status.Totals.Future)
	stop()
	late := log.FilterMessageSnippet("first late row").All()
	require.Len(t, late, 1)
	require.Equal(t, map[string]any{"stream": "north/numbers", "limit": tuple.Time(60_000_000).String()}, late[0].ContextMap())
	require.Len(t, log.FilterMessageSnippet("first row from the future").All(), 1)
}
