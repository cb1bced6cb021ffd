package pipebench

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Every window's result comes, and the measurement leaves nothing running.
func TestWindowClose(t *testing.T) {
	l, err := WindowClose(t.Context(), t.TempDir(), 5)
	require.NoError(t, err)
	require.Equal(t, 5, l.Windows)
	require.Positive(t, l.Median)
	require.GreaterOrEqual(t, l.Worst, l.Median)
}
