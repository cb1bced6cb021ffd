package main

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"fednode/cmd/fednode/internal/topview"
)

// topLive runs the terminal program until the user leaves it.
func topLive(c *cobra.Command, w *watcher, first *topview.Sample, interval time.Duration) error {
	m := newTopModel(first, interval, paletteOf(c.OutOrStdout()).on)
	m.look = func() (*topview.Sample, error) { return w.sample(c.Context()) }
	return runTopModel(c.Context(), m, tea.WithInput(c.InOrStdin()), tea.WithOutput(c.OutOrStdout()))
}

func runTopModel(ctx context.Context, m *topModel, options ...tea.ProgramOption) error {
	// The signal handler is main's: ctx ends with it.
	_, err := tea.NewProgram(m, append(options, tea.WithContext(ctx), tea.WithoutSignalHandler())...).Run()
	return err
}

// topModel is the state of the terminal program. One look at the daemon is under way at most: asking says so, and a tick
// that is not the latest one starts none.
type topModel struct {
	look   func() (*topview.Sample, error) // called on another goroutine
	frame  topview.Frame
	asking bool
	tick   int     // number of the latest tick
	from   []place // where esc goes back to
}

// place is a screen and how far it is scrolled.
type place struct {
	screen topview.Screen
	scroll int
}

// Messages of the program to itself.
type (
	tickMsg   int
	answerMsg struct {
		sample *topview.Sample
		err    error
		at     time.Time // when the answer, or its lack, was known
	}
)

func newTopModel(first *topview.Sample, interval time.Duration, colour bool) *topModel {
	return &topModel{frame: topview.Frame{
		Current: first, Now: first.At, Interval: interval, Colour: colour, Selected: topview.Nearest(&first.Status, topview.Key{}),
	}}
}

// Init waits for the second look.
func (m *topModel) Init() tea.Cmd { return m.nextTick() }

func (m *topModel) nextTick() tea.Cmd {
	m.tick++
	n := m.tick
	return tea.Tick(m.frame.Interval, func(time.Time) tea.Msg { return tickMsg(n) })
}

func (m *topModel) ask() tea.Cmd {
	m.asking = true
	return func() tea.Msg {
		s, err := m.look()
		return answerMsg{s, err, time.Now()}
	}
}

// Update changes the state by one message.
func (m *topModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.frame.Width, m.frame.Height = msg.Width, msg.Height
		m.scrollBy(0)
	case tea.KeyPressMsg:
		return m, m.key(msg.String())
	case tickMsg:
		if int(msg) == m.tick && !m.asking && !m.frame.Paused {
			return m, m.ask()
		}
	case answerMsg:
		return m, m.answer(msg)
	}
	return m, nil
}

// answer takes a look's result in. While paused the screen stays as it is, and the next look waits for the user.
func (m *topModel) answer(a answerMsg) tea.Cmd {
	m.asking = false
	if m.frame.Paused {
		return nil
	}
	m.frame.Now = a.at
	if a.err != nil {
		since := m.frame.Current.At
		m.frame.Outage = &topview.Outage{Since: since, Cause: a.err.Error()}
		return m.nextTick()
	}
	m.frame.Outage = nil
	m.frame.Previous, m.frame.Current = m.frame.Current, a.sample
	m.frame.Selected = topview.Nearest(&a.sample.Status, m.frame.Selected)
	m.scrollBy(0)
	return m.nextTick()
}

// key does what a key asks for.
func (m *topModel) key(k string) tea.Cmd {
	switch k {
	case "q", "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "pgup":
		m.move(-10)
	case "pgdown", "space":
		m.move(10)
	case "enter":
		if m.frame.Screen == topview.Overview {
			m.open(topview.Details)
		}
	case "?":
		if m.frame.Screen != topview.Help {
			m.open(topview.Help)
		}
	case "esc", "backspace":
		m.back()
	case "p":
		return m.pause()
	}
	return nil
}

// pause stops the screen, or lets it go on with a look at once.
func (m *topModel) pause() tea.Cmd {
	m.frame.Paused = !m.frame.Paused
	if m.frame.Paused || m.asking {
		return nil
	}
	return m.ask()
}

// move selects another entry, or scrolls where nothing is to be selected.
func (m *topModel) move(n int) {
	if m.frame.Screen != topview.Overview {
		m.scrollBy(n)
		return
	}
	m.frame.Selected = topview.Move(&m.frame.Current.Status, m.frame.Selected, n)
}

func (m *topModel) scrollBy(n int) {
	m.frame.Scroll = max(0, min(m.frame.Scroll+n, m.frame.MaxScroll()))
}

// open shows another screen, from its top.
func (m *topModel) open(s topview.Screen) {
	m.from = append(m.from, place{m.frame.Screen, m.frame.Scroll})
	m.frame.Screen, m.frame.Scroll = s, 0
}

// back returns to the screen before.
func (m *topModel) back() {
	if n := len(m.from) - 1; n >= 0 {
		m.frame.Screen, m.frame.Scroll = m.from[n].screen, m.from[n].scroll
		m.from = m.from[:n]
		m.scrollBy(0)
	}
}

// View draws the frame.
func (m *topModel) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	if m.frame.Width > 0 && m.frame.Height > 0 { // the terminal has said how large it is
		v.SetContent(m.frame.Render())
	}
	v.WindowTitle = "fednode top"
	return v
}
