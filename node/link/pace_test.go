package link

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"pgregory.net/rapid"

	"fednode/node/export"
	"fednode/query/tuple"
)

// TestPace shows that an export's rate holds over all its subscriptions of one organisation, that frames without rows are
// not held, and that another organisation has a rate of its own.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(&shelf{}, zap.NewNop())
		x := &export.Export{Name: "x"}
		require.Nil(t, l.paceOf(x, "south"), "no limit")
		x.Rate.Rows = 100
		p := l.paceOf(x, "south")
		require.Same(t, p, l.paceOf(x, "south"))
		began := time.Now()
		require.NoError(t, p.wait(t.Context(), rows(1, 100)), "a second's worth at once")
		require.Zero(t, time.Since(began))
		require.NoError(t, p.wait(t.Context(), rows(101, 250)))
		require.Equal(t, 2500*time.Millisecond, time.Since(began).Round(time.Millisecond), "virtual")
		require.NoError(t, p.wait(t.Context(), boundary(9)))
		require.NoError(t, l.paceOf(x, "east").wait(t.Context(), rows(1, 100)))
		require.Equal(t, 2500*time.Millisecond, time.Since(began).Round(time.Millisecond))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.Error(t, p.wait(ctx, rows(351, 100)))
	})
}

// TestPositionText shows that a position survives being written into a refusal, and that other text is an error.
func TestPositionText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := tuple.Position{Generation: rapid.Uint64().Draw(t, "generation"), ID: rapid.Uint64().Draw(t, "id"), Time: tuple.Time(rapid.Int64().Draw(t, "time"))}
		got, err := decodePosition(encodePosition(p))
		if err != nil || got != p {
			t.Fatalf("%v came back as %v: %v", p, got, err)
		}
	})
	for _, text := range []string{"", "1", "1:2", "1:2@", "x:2@3", "1:-2@3", "1:2@3x"} {
		_, err := decodePosition(text)
		require.Error(t, err, text)
	}
}
