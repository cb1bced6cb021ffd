package zone

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLoad(t *testing.T) {
	berlin, err := Load("Europe/Berlin")
	require.NoError(t, err)
	summer := time.Date(2024, 7, 1, 12, 0, 0, 0, time.UTC)
	require.Equal(t, "2024-07-01T14:00:00+02:00", summer.In(berlin).Format(time.RFC3339))
	require.Equal(t, "2024-01-01T13:00:00+01:00", summer.AddDate(0, -6, 0).In(berlin).Format(time.RFC3339))

	utc, err := Load("UTC")
	require.NoError(t, err)
	require.Equal(t, time.UTC, utc)
}

// The system's own database is not asked.
func TestIgnoresSystem(t *testing.T) {
	t.Setenv("ZONEINFO", t.TempDir())
	_, err := Load("Asia/Shanghai")
	require.NoError(t, err)
}

func TestRefused(t *testing.T) {
	for name, want := range map[string]string{
		"Europe/Berln":  "did you mean `Europe/Berlin`?",
		"Local":         "no time zone",
		"Europe/":       "no time zone",
		"../etc/passwd": "no time zone",
	} {
		_, err := Load(name)
		require.ErrorContains(t, err, want)
	}
}
