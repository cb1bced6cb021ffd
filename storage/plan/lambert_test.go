package plan

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Values of W between −1/e and 0 that are known in closed form or from tables, as 1 + W(−e^(−1−d)).
func TestOnePlusW(t *testing.T) {
	for _, c := range []struct{ z, w float64 }{
		{-math.Ln2 / 2, -math.Ln2}, // W(−ln 2 / 2) = −ln 2
		{-math.Log(4) / 4, -math.Ln2},
		{-0.1, -0.111832559158962964},
		{-0.2, -0.259171101819073745},
		{-0.3, -0.489402227180214962},
		{-math.Exp(-2), -0.158594339563039366},
	} {
		require.InEpsilon(t, 1+c.w, onePlusW(-1-math.Log(-c.z)), 1e-12, "W(%g)", c.z)
	}
	require.Zero(t, onePlusW(0))
	require.InDelta(t, 1, onePlusW(1e9), 0)
	require.True(t, math.IsNaN(onePlusW(-1)))
	require.True(t, math.IsNaN(onePlusW(math.NaN())))
}

// It solves its equation at every size: y + log(1−y) = −d. Near the branch point the series √(2d) − 2d/3 + √(2d)³/36 holds to the last
// digit, where W itself would have lost d.
func TestOnePlusWResidual(t *testing.T) {
	for d := 1e-18; d < 700; d *= 1.7 {
		y := onePlusW(d)
		require.Greater(t, y, 0.0, "d = %g", d)
		if d < 30 {
			require.InEpsilon(t, d, -residual(y), 1e-13*max(1, 1/(1-y)), "d = %g", d)
		}
		if d < 1e-9 {
			require.InEpsilon(t, math.Sqrt(2*d)-2*d/3+math.Pow(2*d, 1.5)/36, y, 1e-13, "d = %g", d)
		}
	}
}
