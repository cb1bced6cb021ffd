package main

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"fednode/cmd/fednode/internal/topview"
	"fednode/node/api"
)

// topSample is a look at a node with one query of two fragments, so many seconds after another.
func topSample(n int) *topview.Sample {
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	return &topview.Sample{At: began.Add(time.Duration(n) * time.Second), Status: api.Status{
		Node:    api.NodeStatus{Org: "north", Name: "edge", Started: began, Ready: true},
		Sources: []api.SourceStatus{{Stream: "north/conns", Condition: "reading", Rows: 700 * uint64(n)}},
		Queries: []api.QueryStatus{{QueryInfo: api.QueryInfo{ID: "north/netmon", State: "running", Here: true}, Fragments: []api.FragmentStatus{
			{Name: "edge", State: api.FragmentRunning}, {Name: "suspects", State: api.FragmentRunning},
		}}},
	}}
}

// topOn returns a model on a terminal of 80×24 that has seen one sample.
func topOn(t *testing.T) *topModel {
	t.Helper()
	m := newTopModel(topSample(1), time.Second, false)
	m.look = func() (*topview.Sample, error) { return topSample(2), nil }
	require.NotNil(t, m.Init())
	require.Empty(t, m.View().Content, "the size is not known yet")
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	return m
}

// press sends keys and returns the command of the last one.
func press(m *topModel, keys ...tea.Key) tea.Cmd {
	var cmd tea.Cmd
	for _, k := range keys {
		_, cmd = m.Update(tea.KeyPressMsg(k))
	}
	return cmd
}

func letter(r rune) tea.Key { return tea.Key{Code: r, Text: string(r)} }

// A tick brings a look, its answer the next tick, and the screen the rates between the two.
func TestTopModelShowsRates(t *testing.T) {
	m := topOn(t)
	require.Regexp(t, `north/conns +reading +- `, m.View().Content)
	_, ask := m.Update(tickMsg(m.tick))
	require.NotNil(t, ask)
	_, again := m.Update(tickMsg(m.tick))
	require.Nil(t, again, "one look at a time")
	_, next := m.Update(ask())
	require.NotNil(t, next)
	require.Regexp(t, `north/conns +reading +700 `, m.View().Content)
	require.True(t, m.View().AltScreen)
	_, late := m.Update(tickMsg(m.tick - 1))
	require.Nil(t, late, "an old tick starts nothing")
}

func TestTopModelOutage(t *testing.T) {
	m := topOn(t)
	since := m.frame.Current.At
	_, next := m.Update(answerMsg{err: errors.New("connection refused"), at: since.Add(9 * time.Second)})
	require.NotNil(t, next, "it goes on trying")
	require.Contains(t, m.View().Content, "no answer since 09:00:01 (9 s): connection refused")
	m.Update(answerMsg{err: errors.New("connection refused"), at: since.Add(20 * time.Second)})
	require.Contains(t, m.View().Content, "no answer since 09:00:01 (20 s)")
	m.Update(answerMsg{sample: topSample(30), at: since.Add(29 * time.Second)})
	require.NotContains(t, m.View().Content, "no answer")
}

func TestTopModelKeys(t *testing.T) {
	m := topOn(t)
	require.Contains(t, m.View().Content, "▸ north/netmon")
	press(m, tea.Key{Code: tea.KeyDown}, letter('j'))
	require.Regexp(t, `▸ +suspects`, m.View().Content)
	press(m, tea.Key{Code: tea.KeyUp})
	require.Regexp(t, `▸ +edge`, m.View().Content)
	press(m, tea.Key{Code: tea.KeyEnter})
	require.Contains(t, m.View().Content, "fragment edge")
	require.NotContains(t, m.View().Content, "fragment suspects")
	press(m, letter('?'))
	require.Contains(t, m.View().Content, "HELD BACK BY")
	press(m, letter('?'), tea.Key{Code: tea.KeyEscape})
	require.Contains(t, m.View().Content, "fragment edge")
	press(m, tea.Key{Code: tea.KeyEscape}, tea.Key{Code: tea.KeyEscape})
	require.Equal(t, topview.Overview, m.frame.Screen)
	for _, k := range []tea.Key{letter('q'), {Code: 'c', Mod: tea.ModCtrl}} {
		require.Equal(t, tea.QuitMsg{}, press(m, k)())
	}
}

// The details scroll no further than their end, also after the terminal has grown.
func TestTopModelScrolls(t *testing.T) {
	m := topOn(t)
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 6})
	press(m, tea.Key{Code: tea.KeyEnter})
	for range 50 {
		press(m, tea.Key{Code: tea.KeyPgDown})
	}
	require.Positive(t, m.frame.Scroll)
	require.Equal(t, m.frame.MaxScroll(), m.frame.Scroll)
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 60})
	require.Zero(t, m.frame.Scroll)
}

// Pausing keeps the screen, also if an answer is on its way; going on looks at once, and only once.
func TestTopModelPauses(t *testing.T) {
	m := topOn(t)
	_, ask := m.Update(tickMsg(m.tick))
	require.Nil(t, press(m, letter('p')))
	before := m.View().Content
	require.Contains(t, before, "paused")
	require.Nil(t, press(m, letter('p'), letter('p')), "the first look is still under way")
	_, next := m.Update(ask())
	require.Nil(t, next)
	require.Equal(t, before, m.View().Content)
	_, tick := m.Update(tickMsg(m.tick))
	require.Nil(t, tick)
	ask = press(m, letter('p'))
	require.NotNil(t, ask)
	_, next = m.Update(ask())
	require.NotNil(t, next)
	require.Regexp(t, `north/conns +reading +700 `, m.View().Content)
}

// seen is an output that says when a text has been written to it.
type seen struct {
	mu   sync.Mutex
	all  bytes.Buffer
	want string
	done chan struct{}
}

func (s *seen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := bytes.Contains(s.all.Bytes(), []byte(s.want))
	n, err := s.all.Write(b)
	if !had && bytes.Contains(s.all.Bytes(), []byte(s.want)) {
		close(s.done)
	}
	return n, err
}

// The whole program looks again and again, draws, and ends at q.
func TestTopProgram(t *testing.T) {
	var mu sync.Mutex
	n := 1
	m := newTopModel(topSample(n), time.Millisecond, false)
	m.look = func() (*topview.Sample, error) {
		mu.Lock()
		defer mu.Unlock()
		n++
		return topSample(n), nil
	}
	keys, typed := io.Pipe()
	out := &seen{want: "700", done: make(chan struct{})}
	ended := make(chan error, 1)
	go func() {
		ended <- runTopModel(t.Context(), m, tea.WithInput(keys), tea.WithOutput(out), tea.WithWindowSize(80, 24))
	}()
	select {
	case <-out.done:
	case err := <-ended:
		require.FailNow(t, "it ended by itself", "%v", err)
	}
	_, err := typed.Write([]byte("q"))
	require.NoError(t, err)
	require.NoError(t, <-ended)
	mu.Lock()
	defer mu.Unlock()
	require.Greater(t, n, 1)
}
