package regionbench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every case finds the same on both sides, which Run checks, and measures something.
func TestRun(t *testing.T) {
	for _, c := range Cases() {
		r, err := Run(t.Context(), c, 50, 2)
		require.NoError(t, err)
		require.Equal(t, 50, r.Size)
		require.Positive(t, r.AllocsPerVertex)
		require.GreaterOrEqual(t, r.PlainNs, 0.0)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Run(ctx, Cases()[0], 50, 2)
	require.ErrorIs(t, err, context.Canceled)
}
