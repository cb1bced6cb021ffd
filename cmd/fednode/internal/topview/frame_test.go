package topview

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fednode/node/api"
)

// A frame never leaves its terminal, whatever the size, the situation and the place in it.
func TestRenderFits(t *testing.T) {
	all := situations()
	names := slices.Sorted(maps.Keys(all))
	rapid.Check(t, func(t *rapid.T) {
		f := well()
		all[rapid.SampledFrom(names).Draw(t, "situation")](f)
		f.Width, f.Height = rapid.IntRange(1, 200).Draw(t, "width"), rapid.IntRange(1, 60).Draw(t, "height")
		f.Screen = rapid.SampledFrom([]Screen{Overview, Details, Help}).Draw(t, "screen")
		f.Colour = rapid.Bool().Draw(t, "colour")
		f.Scroll = rapid.IntRange(0, 99).Draw(t, "scroll")
		f.Selected = Move(&f.Current.Status, Key{}, rapid.IntRange(0, 99).Draw(t, "place"))
		lines := strings.Split(f.Render(), "\n")
		if len(lines) > f.Height {
			t.Fatalf("%d lines on a terminal of %d", len(lines), f.Height)
		}
		for _, l := range lines {
			if lipgloss.Width(l) > f.Width {
				t.Fatalf("%d columns on a terminal of %d: %q", lipgloss.Width(l), f.Width, l)
			}
		}
	})
}

func escapes() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;]*m") }

// Colours add to the text and change none of it; without them there is no escape sequence.
func TestColourOnlyAdds(t *testing.T) {
	for name, change := range situations() {
		f := well()
		f.Width, f.Height = 120, 40
		change(f)
		bare := f.Render()
		require.NotContains(t, bare, "\x1b", name)
		f.Colour = true
		coloured := f.Render()
		require.Contains(t, coloured, "\x1b[", name)
		for i, l := range strings.Split(escapes().ReplaceAllString(coloured, ""), "\n") {
			require.Equal(t, strings.Split(bare, "\n")[i], strings.TrimRight(l, " "), name)
		}
	}
}

// The selected row stands out without colours, too, and is on the screen however many others there are.
func TestSelectedIsSeen(t *testing.T) {
	f := well()
	f.Width, f.Height = 80, 24
	many(f)
	for _, k := range keys(&f.Current.Status) {
		f.Selected = k
		want := k.Fragment
		if want == "" {
			want = k.Query
		}
		require.Regexp(t, `(?m)^▸ +`+regexp.QuoteMeta(want)+" ", f.Render())
	}
}

// Text of the daemon cannot steer the terminal or break the layout.
func TestHostileText(t *testing.T) {
	const evil = "a\x1b[2J\r\nb\u202e\u0007🧨漢字\u0301"
	f := well()
	f.Width, f.Height = 200, 60
	s := &f.Current.Status
	s.Node.Org, s.Sources[0].Stream, s.Sources[1].Detail, s.Sources[1].Condition = evil, evil, evil, "disconnected"
	s.Queries[0].ID, s.Queries[0].Failure, s.Queries[0].Home, s.Queries[0].Fragments[0].Failure = evil, evil, evil, evil
	s.Queries[0].Fragments[0].Name, s.Queries[0].Fragments[0].Inputs[0].Cause = evil, evil
	s.Queries[0].Fragments[0].Operators[0].Name, s.Queries[0].Sinks[0].Failure = evil, evil
	f.Current.Peers[0].Org, f.Current.Peers[0].Software, f.Current.Peers[1].Cause, f.Current.Peers[1].Up = evil, evil, evil, false
	f.Outage = &Outage{Since: f.Now, Cause: evil}
	for _, screen := range []Screen{Overview, Details} {
		f.Screen = screen
		out := f.Render()
		require.NotContains(t, out, "\x1b")
		require.NotContains(t, out, "\r")
		require.NotContains(t, out, "\u202e")
		require.Contains(t, out, "a\uFFFD[2J\uFFFD b\uFFFD\uFFFD🧨漢字")
	}
}

// Numbers that cannot be true neither break the frame nor show as nonsense.
func TestExtremeNumbers(t *testing.T) {
	f := well()
	f.Width, f.Height = 120, 40
	src := &f.Current.Status.Sources[0]
	src.High, src.Head.Boundary, src.LogBytes, src.Rows = api.StreamTime(1<<62), api.StreamTime(-1<<62), -1, 1<<63
	f.Current.Peers[0].RTT, f.Current.Peers[0].Silence, f.Current.Peers[0].Queued = 1e300, 1e300, -1
	f.Current.Status.Queries[0].Fragments[0].Operators[0].Lag = -1
	for _, screen := range []Screen{Overview, Details} {
		f.Screen = screen
		for _, l := range strings.Split(f.Render(), "\n") {
			require.LessOrEqual(t, lipgloss.Width(l), 120)
		}
	}
	require.NotEmpty(t, f.Render())
}

// Rates are per second, and there is none across a restart of what counts.
func TestRates(t *testing.T) {
	a, b := node(10), node(14)
	c := counter{sourceRows, "", "", "north/conns"}
	perSec, ok := pastOf(a, b).rate(c, b.Status.Sources[0].Rows)
	require.True(t, ok)
	require.InDelta(t, 12_000, perSec, 1e-6)
	share, ok := pastOf(a, b).cpuShare(b.Status.Node.CPUSeconds)
	require.True(t, ok)
	require.InDelta(t, 37, share, 1e-6)

	_, ok = pastOf(a, b).rate(c, 1) // it counts anew
	require.False(t, ok)
	_, ok = pastOf(a, b).rate(counter{sourceRows, "", "", "north/new"}, 1)
	require.False(t, ok)
	b.Status.Node.Started = b.Status.Node.Started.Add(time.Hour)
	_, ok = pastOf(a, b).rate(c, b.Status.Sources[0].Rows)
	require.False(t, ok)
	_, ok = pastOf(nil, b).cpuShare(1)
	require.False(t, ok)
	_, ok = pastOf(a, a).rate(c, 1<<40) // no time has passed
	require.False(t, ok)
}

func TestSelection(t *testing.T) {
	s := &node(1).Status
	query, fragment, other := Key{Query: "north/netmon"}, Key{"north/netmon", "suspects"}, Key{Query: "south/slow"}
	require.Equal(t, query, Nearest(s, Key{}))
	require.Equal(t, fragment, Move(s, query, 1))
	require.Equal(t, other, Move(s, query, 99))
	require.Equal(t, query, Move(s, other, -99))
	require.Equal(t, query, Nearest(s, Key{"north/netmon", "gone"}))
	require.Equal(t, query, Nearest(s, Key{Query: "north/gone"}))
	require.Equal(t, Key{}, Move(&api.Status{}, query, 1))
}

// The details can be scrolled to their last line, and not past it.
func TestScroll(t *testing.T) {
	f := well()
	f.Width, f.Height, f.Screen = 80, 12, Details
	top := f.Render()
	require.Positive(t, f.MaxScroll())
	require.NotContains(t, top, "SINK")
	f.Scroll = f.MaxScroll()
	bottom := f.Render()
	require.Contains(t, bottom, "suspects       taking")
	f.Scroll = 1000
	require.Equal(t, bottom, f.Render())
	f.Height = 60
	require.Zero(t, f.MaxScroll())
}

// A frame is drawn each second and after each key: it must not be felt, also on a node with much on it.
func BenchmarkRender(b *testing.B) {
	f := well()
	f.Width, f.Height, f.Colour = 120, 40, true
	many(f)
	b.ReportAllocs()
	for b.Loop() {
		f.Render()
	}
}
