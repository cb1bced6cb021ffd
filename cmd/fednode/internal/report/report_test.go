package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/cmd/fednode/internal/chart"
)

// The page needs nothing from elsewhere, and what it is given cannot become markup.
func TestWrite(t *testing.T) {
	line := func(name string) *chart.Chart {
		return &chart.Chart{Title: "T of " + name, XName: "x", YUnit: "s", Series: []chart.Series{{Name: name, Dots: []chart.Dot{{X: 0, Y: 1}, {X: 1, Y: 2}}}, {Name: "other", Dots: nil}}}
	}
	same := Section{Key: "one", Title: "One <b>", Text: "a & b", Setup: "so", Charts: []*chart.Chart{line("a"), line("a")},
		Tables: []Table{{Title: "All", Columns: []string{"name", "s"}, Left: []int{0}, Rows: [][]string{{"<script>", "1.5"}}, Folded: true}}}
	differ := Section{Key: "two", Title: "Two", Charts: []*chart.Chart{line("a"), line("b")}}
	var b strings.Builder
	require.NoError(t, Write(&b, &Report{Title: "What a contract is worth", Command: "fednode x", Version: "devel", Sections: []Section{same, differ}}))
	text := b.String()
	for _, bad := range []string{"<script", "http://", "https://", "@import", "url(", "<img", "<link", "One <b>"} {
		require.NotContains(t, text, bad)
	}
	for _, want := range []string{"a &amp; b", "&lt;script&gt;", `<td class="n">1.5</td>`, `<td class="w">`, "<details>", `id="one-0-t"`, `id="two-1-t"`, `href="#two"`} {
		require.Contains(t, text, want)
	}
	require.Equal(t, 3, strings.Count(text, `<ul class="legend">`)) // one for both charts of the first section, one each in the second
}
