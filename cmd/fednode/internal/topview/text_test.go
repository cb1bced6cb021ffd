package topview

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/api"
)

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 7: "7", 3.25: "3.2", 12.4: "12", 999: "999", 999.8: "1.0k", 1000: "1.0k", 12_340: "12k", 999_900: "1.0M", 2.5e9: "2.5G", 4e15: "4000T"} {
		require.Equal(t, want, countText(v), v)
	}
	for n, want := range map[int64]string{-5: "0 B", 0: "0 B", 1023: "1023 B", 900: "900 B", 1 << 10: "1.0 KiB", 28 << 20: "28 MiB", 3 << 40: "3.0 TiB"} {
		require.Equal(t, want, bytesText(n), n)
	}
	require.Equal(t, cell{"<0.1", plain}, rateCell(0.01, true))
	require.Equal(t, cell{"-", dim}, rateCell(5, false))
}

func TestSpans(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-1: "0 s", 0: "0 s", 300 * time.Microsecond: "1 ms", 50 * time.Millisecond: "50 ms", 3 * time.Second: "3 s", 3200 * time.Millisecond: "3.2 s",
		59500 * time.Millisecond: "59 s", 61 * time.Second: "1m01s", 75 * time.Minute: "1h15m", 50 * time.Hour: "2d02h",
	} {
		require.Equal(t, want, spanText(d), d)
	}
	for s, want := range map[float64]string{0: "-", -1: "-", 0.00021: "210 µs", 0.0123: "12.3 ms"} {
		require.Equal(t, want, rttText(s), s)
	}
}

func TestLag(t *testing.T) {
	require.Equal(t, cell{"-", dim}, lagCell(api.NoTime, at(0)))
	require.Equal(t, cell{"-", dim}, lagCell(at(0), api.EndTime))
	require.Equal(t, cell{"0 s", plain}, lagCell(at(0), at(time.Second)))
	require.Equal(t, cell{"2 s", plain}, lagCell(at(2*time.Second), at(0)))
	require.Equal(t, "end", placeText(api.EndTime, true))
	require.Equal(t, "12:00:00", placeText(at(0), true))
	require.Equal(t, "2026-03-01 12:00:00", placeText(at(0), false))
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		n, limit int64
		want     cell
	}{
		{0, 100, cell{"░░░░   0%", plain}}, {1, 100, cell{"█░░░   1%", plain}}, {50, 100, cell{"██░░  50%", plain}},
		{60, 100, cell{"██░░  60%", warn}}, {100, 100, cell{"████ 100%", bad}}, {900, 100, cell{"████ 100%", bad}}, {5, 0, cell{"-", dim}}, {-5, 10, cell{"░░░░   0%", plain}},
	} {
		require.Equal(t, c.want, bar(c.n, c.limit, 4))
	}
}

func TestCut(t *testing.T) {
	require.Equal(t, "abc", cut("abc", 3))
	require.Equal(t, "a…", cut("abc", 2))
	require.Equal(t, "…", cut("abc", 1))
	require.Empty(t, cut("abc", 0))
	require.Equal(t, "漢…", cut("漢字", 3))
}

// Everybody gets what is needed where there is enough, else the same.
func TestShare(t *testing.T) {
	require.Equal(t, []int{2, 3, 4}, share([]int{2, 3, 4}, 20))
	require.Equal(t, []int{2, 4, 3}, share([]int{2, 30, 30}, 9))
	require.Equal(t, []int{0, 0}, share([]int{1, 2}, -3))
}

// Trouble is kept when there is no room for all.
func TestChooseKeepsTrouble(t *testing.T) {
	list := []entry{{text: "a"}, {text: "b", trouble: true}, {text: "c"}, {text: "d", trouble: true}}
	p := newPainter(false)
	require.Equal(t, []string{"b", "d", "  … 2 more lines"}, choose(list, 3, 80, p))
	require.Equal(t, []string{"b", "  … 3 more lines, 1 of them about trouble"}, choose(list, 2, 80, p))
	require.Equal(t, []string{"a", "b", "c", "d"}, choose(list, 4, 80, p))
	require.Empty(t, choose(list, 0, 80, p))
}
