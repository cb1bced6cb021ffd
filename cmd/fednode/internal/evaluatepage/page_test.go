package evaluatepage

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/testnet/evaluate"
)

func document() *evaluate.Document {
	cell := func(series string, x float64, label string) *evaluate.Cell {
		c := &evaluate.Cell{Series: series, X: x, Label: label, Bound: 3_000_000}
		c.Incremental, c.Tentative, c.Runs = evaluate.Micros(x*1e5), int(x*100), 1
		return c
	}
	numbers := &evaluate.Panel{Title: "By length <1>", Cells: []*evaluate.Cell{cell("a & b", 2, ""), cell("a & b", 60, ""), cell("c", 2, ""), cell("c", 60, "")}}
	words := &evaluate.Panel{Title: "By name", Cells: []*evaluate.Cell{cell("d", 0, "killed"), cell("d", 0, "silent")}}
	words.Cells[0].Published = "1.83 s"
	words.Cells[1].Unequal = 1
	words.Cells[1].Timeline = []evaluate.Point{{At: 8e6, Reached: 79e5}, {At: 9e6, Reached: 79e5}, {At: 91e5, Reached: 9e6, Tentative: true}}
	held := evaluate.Rate{Setup: "a chain", Nodes: 2, Replicas: 1, Asked: 5000, Held: true, Daemons: []evaluate.Daemon{{Name: "north <1>", PerRow: 1.25}}}
	over := evaluate.Rate{Setup: "two replicas", Nodes: 2, Replicas: 2, Asked: 15000}
	return &evaluate.Document{
		Command: "fednode testnet evaluate", Version: "devel", Made: "2026-11-29T23:00:00Z", Machine: "one", Seeds: 1,
		Experiments: []*evaluate.Experiment{{Key: "lengths", Title: "Lengths", Question: "How?", Setup: "So.", Axis: "failure, s",
			Charts: []evaluate.Measure{evaluate.MeasureDelay, evaluate.MeasureTentative}, Panels: []*evaluate.Panel{numbers, words},
			Rates: []evaluate.Rate{held, over}, Peaks: []*evaluate.Peak{{Best: &held, Next: &over}, {Next: &over}}}},
		Targets: []evaluate.Target{{Figure: "delay", Target: "≤ 1 s", Measured: "2 s", Experiment: "lengths"}, {Figure: "holes", Target: "never", Measured: "0", Met: true}},
		Absent:  []string{"something"},
	}
}

// The page needs nothing from elsewhere, and is well formed; every plot has a title and a text.
func TestPage(t *testing.T) {
	var b strings.Builder
	require.NoError(t, Write(&b, document()))
	text := b.String()
	for _, bad := range []string{"<script", "http://", "https://", "@import", "url(", "<img", "<link"} {
		require.NotContains(t, text, bad)
	}
	for _, want := range []string{"a &amp; b", "By length &lt;1&gt;", "✗ missed", "✓ met", "1 of 2 met", "1.83 s", "<td>no</td>", `<td class="n">6,000</td>`, `<td class="n">15,000</td>`, "north &lt;1&gt;", "1.25", "Highest rate held", "prefers-color-scheme: dark", "something"} {
		require.Contains(t, text, want)
	}
	plots := regexp.MustCompile(`<svg [^>]*role="img" aria-labelledby="([^ ]+) ([^"]+)"`).FindAllStringSubmatch(text, -1)
	require.Len(t, plots, 4) // two charts, a timeline and the rates
	for _, p := range plots {
		require.Contains(t, text, `<title id="`+p[1]+`"`)
		require.Contains(t, text, `<desc id="`+p[2]+`"`)
	}
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(text, -1) {
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, svg)
		}
		require.NotContains(t, svg, "NaN")
		require.NotContains(t, svg, "Inf")
	}
}
