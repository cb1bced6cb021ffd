package topview

import (
	"strings"
	"time"
)

// Screen is what a frame shows.
type Screen uint8

// The screens.
const (
	Overview Screen = iota
	Details         // of the selected query or fragment
	Help
)

// Outage is a daemon that does not answer.
type Outage struct {
	Since time.Time // of the last answer
	Cause string
}

// Frame is everything that a screen depends on.
type Frame struct {
	// Previous and Current are the samples that rates are computed from, Current the later one; nil while there is none.
	Previous, Current *Sample
	// Now is the time of drawing; only the length of an outage is told by it.
	Now    time.Time
	Outage *Outage // nil while the daemon answers
	Paused bool
	// Interval between samples, as the foot says it.
	Interval time.Duration

	// Width and Height of the terminal, in cells. A height of 0 is as many lines as are needed.
	Width, Height int
	// Colour allows colours; without them no meaning is lost.
	Colour bool

	Screen Screen
	// Selected is the query or fragment in question. One that is not there counts as the first.
	Selected Key
	// Scroll is how many lines of the details are above the terminal.
	Scroll int
	// Still leaves out the foot and the marker of the selection, for a frame that nobody steers.
	Still bool
}

// wideFrom is the width from which times show their date and more columns fit.
const wideFrom = 110

// Render draws the frame: lines without a line break at the end of the last, none wider than Width, no more than Height.
func (f *Frame) Render() string {
	p := newPainter(f.Colour)
	lines := f.header(p)
	if f.Outage != nil {
		p = p.stale()
	}
	body := f.Height - len(lines) - f.footLines()
	if f.Height == 0 {
		body = 1 << 20
	}
	switch {
	case body <= 0:
	case f.Screen == Help:
		lines = append(lines, window(f.help(p), f.Scroll, body)...)
	case f.Current == nil:
	case f.Screen == Details:
		lines = append(lines, window(f.details(p), f.Scroll, body)...)
	default:
		lines = append(lines, fit(f.sections(p), f.Width, body, p)...)
	}
	if f.Height > 0 {
		lines = f.withFoot(lines, newPainter(f.Colour))
	}
	return strings.Join(lines, "\n")
}

func (f *Frame) footLines() int {
	if f.Still {
		return 0
	}
	return 1
}

// withFoot puts the foot on the last line of the terminal.
func (f *Frame) withFoot(lines []string, p *painter) []string {
	room := f.Height - f.footLines()
	lines = lines[:min(len(lines), max(0, room))]
	if f.Still {
		return lines
	}
	for len(lines) < room {
		lines = append(lines, "")
	}
	return append(lines, f.foot(p))
}

func (f *Frame) foot(p *painter) string {
	keys := "↑↓ select  enter details  p pause  ? help  q quit"
	switch {
	case f.Screen == Details:
		keys = "↑↓ scroll  esc back  p pause  ? help  q quit"
	case f.Screen == Help:
		keys = "↑↓ scroll  esc back  q quit"
	}
	state := cell{"every " + f.Interval.String(), dim}
	if f.Paused {
		state = cell{"paused", warn}
	}
	return p.flow(f.Width, state, cell{keys, dim})
}

// sections are the parts of the overview.
func (f *Frame) sections(p *painter) []section {
	v := f.view()
	return []section{v.sources().draw(f.Width, p), v.queries().draw(f.Width, p), v.peers().draw(f.Width, p)}
}

// past is what rates are computed from: nothing while the daemon does not answer, whose counters may stand still by now.
func (f *Frame) past() *past {
	if f.Outage != nil {
		return &past{}
	}
	return pastOf(f.Previous, f.Current)
}

// view is the current sample with what its rates need.
type view struct {
	*Frame
	past *past
	wide bool
	at   Key // the selected key, resolved
}

func (f *Frame) view() *view {
	return &view{Frame: f, past: f.past(), wide: f.Width >= wideFrom, at: Nearest(&f.Current.Status, f.Selected)}
}

// MaxScroll is the largest value of Scroll that still moves the screen.
func (f *Frame) MaxScroll() int {
	p := newPainter(false)
	n := 0
	switch {
	case f.Screen == Help:
		n = len(f.help(p))
	case f.Screen == Details && f.Current != nil:
		n = len(f.details(p))
	}
	return max(0, n-(f.Height-len(f.header(p))-f.footLines()))
}

// window is the part of lines that is seen.
func window(lines []string, from, n int) []string {
	from = max(0, min(from, len(lines)-n))
	return lines[from:min(len(lines), from+n)]
}
