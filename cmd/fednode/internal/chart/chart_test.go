package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wellFormed fails unless a text is XML.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err, text)
	}
}

func sample() *Chart {
	return &Chart{
		ID: "a", Title: "Cost <of> load", XName: "contracts & co", YUnit: "%",
		Series: []Series{{"fixed", []Dot{{1, 16}, {3, 7.1}, {20, 0.02}}}, {"range", []Dot{{1, 13}, {3, math.NaN()}, {20, 0}}}},
		Bound:  []Dot{{1, 5}, {20, 5}}, BoundName: "least possible",
	}
}

// Every kind of axis draws finite places, and says in words what it shows.
func TestChart(t *testing.T) {
	for name, change := range map[string]func(*Chart){
		"linear": func(*Chart) {}, "log": func(c *Chart) { c.LogX, c.LogY = true, true }, "tight": func(c *Chart) { c.Tight = true },
		"wide": func(c *Chart) { c.Wide, c.Exact = true, true }, "empty": func(c *Chart) { c.Series, c.Bound = nil, nil },
		"one": func(c *Chart) { c.Series, c.Bound = []Series{{"x", []Dot{{0, 0}}}}, nil }, "below": func(c *Chart) { c.Series[0].Dots[0].Y = -3 },
	} {
		c := sample()
		change(c)
		for _, text := range []string{c.SVG(), c.File()} {
			wellFormed(t, text)
			for _, bad := range []string{"NaN\"", "NaN,", "NaN ", "Inf"} {
				require.NotContains(t, text, bad, name)
			}
			require.Contains(t, text, "Cost &lt;of&gt; load", name)
		}
	}
	require.Contains(t, sample().SVG(), "fixed: from 16 % at 1 to 0.02 % at 20.")
	require.Contains(t, sample().SVG(), "least possible")
	require.Contains(t, sample().File(), "prefers-color-scheme: dark")
	require.NotContains(t, strings.ReplaceAll(sample().File(), "http://www.w3.org/2000/svg", ""), "http")
	wellFormed(t, Legend(sample().Names()))
}

// Axes end at round values and hold what is drawn.
func TestScales(t *testing.T) {
	for _, c := range []struct {
		hi   float64
		want []float64
	}{{3.12, []float64{0, 1, 2, 3, 4}}, {0.44, []float64{0, 0.1, 0.2, 0.30000000000000004, 0.4, 0.5}}, {182000, []float64{0, 50000, 100000, 150000, 200000}}, {0, []float64{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}}} {
		s := Linear(c.hi, 5, 100, 0)
		require.Equal(t, c.want, s.Ticks, c.hi)
		require.InDelta(t, 100, s.At(0), 1e-9)
		require.GreaterOrEqual(t, s.At(c.hi), -1e-9)
	}
	s := Logarithmic([]float64{50, 500, 5000}, 0, 100)
	require.InDelta(t, 50, s.At(500), 1e-9)
	tight := Between(0.912, 0.988, 5, 0, 100)
	require.InDelta(t, 0.9, tight.Ticks[0], 1e-9)
	require.InDelta(t, 1, tight.Ticks[len(tight.Ticks)-1], 1e-9)
	until := Until(47, 12, 0, 100)
	require.InDelta(t, 100, until.At(47), 1e-9)
	require.LessOrEqual(t, until.Ticks[len(until.Ticks)-1], 47.0)
	require.Equal(t, "12,500", Label(12500))
	require.Equal(t, "0.25", Label(0.25))
	require.Equal(t, "0.6", Label(0.6000000000000001))
	require.Equal(t, "1,234,568", Short(1234567.8))
	require.Equal(t, "0.00012", Short(0.00012))
}
