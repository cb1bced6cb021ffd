package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"fednode/testnet"
)

// How often a testnet is looked at and shown.
const (
	lookPause  = 250 * time.Millisecond
	plainPause = 5 * time.Second
)

// testnetShow shows a testnet while it runs: redrawn on a terminal, else as lines; as JSON lines if asked for; nothing in
// the background.
type testnetShow struct {
	json     bool
	detached bool
	live     bool // redrawn
	out      io.Writer
	began    time.Time
	lasted   time.Duration // once watching has ended

	mu     sync.Mutex // the tail brings results meanwhile
	screen testnetScreen
	seen   map[string]map[string]bool // sources by window
	drawn  int                        // lines that the next picture replaces
	said   time.Time                  // of the last progress line
}

func newTestnetShow(c *cobra.Command) *testnetShow {
	s := &testnetShow{json: jsonWanted(c), detached: os.Getenv(testnet.DetachedEnv) != "", out: c.ErrOrStderr(), seen: make(map[string]map[string]bool)}
	if s.json {
		s.out = c.OutOrStdout()
	} else if canRedraw(c.OutOrStdout()) {
		s.out, s.live = c.OutOrStdout(), true
	}
	s.screen.palette = paletteOf(s.out)
	return s
}

// step says what is being done before the network is up.
func (s *testnetShow) step(text string) {
	if !s.json {
		fmt.Fprintf(s.out, "%s %s\n", s.screen.palette.paint(toneDim, "·"), text)
	}
}

// up says that the network is up.
func (s *testnetShow) up(net *testnet.Net, took time.Duration) {
	s.began = time.Now()
	planted := net.Planted()
	s.screen.planted = make(map[string]string)
	for i, src := range planted {
		s.screen.planted[src] = "planted at " + net.Nodes()[min(i, len(net.Nodes())-1)]
		if src == testnet.SplitSource {
			s.screen.planted[src] = "seen only by all together"
		}
	}
	if s.json || s.detached {
		return
	}
	s.step(fmt.Sprintf("up after %.1f s", took.Seconds()))
	s.explain(net)
}

// watch shows the network until ctx ends, or, if it is to last only so long, all its data are through.
func (s *testnetShow) watch(ctx context.Context, net *testnet.Net, lasting time.Duration) error {
	if s.detached {
		if err := net.TellUp(); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	var tails sync.WaitGroup
	defer func() {
		cancel()
		tails.Wait()
		s.over(lasting)
	}()
	for _, output := range net.Outputs() {
		tails.Go(func() { s.tail(ctx, net, output) })
	}
	if s.live {
		fmt.Fprint(s.out, hideCursor)
	}
	tick := time.NewTicker(lookPause)
	defer tick.Stop()
	for {
		v := net.View(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err := s.show(v, lasting); err != nil {
			return err
		}
		if v.Done && lasting > 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Escape sequences of a terminal.
const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
)

// over leaves the last picture as it was when watching ended.
func (s *testnetShow) over(lasting time.Duration) {
	s.lasted = time.Since(s.began)
	if s.live {
		s.draw(s.picture(lasting, true))
		fmt.Fprint(s.out, showCursor)
	}
}

// tailAgain is how long to wait before a tail that broke off is taken up again.
const tailAgain = time.Second

// tail follows an output from its beginning, also past restarts of the node that has it.
func (s *testnetShow) tail(ctx context.Context, net *testnet.Net, output string) {
	from := "beginning"
	for {
		err := net.Tail(ctx, output, from, func(id string, row []byte) error {
			from = id
			return s.result(output, row)
		})
		if err == nil {
			return // the output has ended
		}
		select {
		case <-time.After(tailAgain):
		case <-ctx.Done():
			return
		}
	}
}

// result takes a row of an output.
func (s *testnetShow) result(output string, row []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.screen.result(output, row)
	if err != nil {
		return err
	}
	if src, window := r.get("src"), r.get("window_start"); src != "" && window != "" {
		if s.seen[window] == nil {
			s.seen[window] = make(map[string]bool)
		}
		s.seen[window][src] = true
	}
	if s.json {
		name, err := json.Marshal(output)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "{\"output\":%s,\"row\":%s}\n", name, row)
		return err
	}
	return nil
}

func (s *testnetShow) show(v testnet.View, lasting time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.screen.observe(v)
	switch {
	case s.json:
		if time.Since(s.said) < time.Second {
			return nil
		}
		s.said = time.Now()
		return json.NewEncoder(s.out).Encode(struct {
			View testnet.View `json:"view"`
		}{v})
	case s.live:
		s.draw(s.picture(lasting, false))
	case time.Since(s.said) >= plainPause:
		s.said = time.Now()
		fmt.Fprintf(s.out, "%s  %s\n", minutes(time.Since(s.began)), s.screen.progress())
	}
	return nil
}

// picture is the whole live view.
func (s *testnetShow) picture(lasting time.Duration, over bool) []string {
	p := s.screen.palette
	clock := minutes(time.Since(s.began))
	if lasting > 0 {
		clock += " of " + minutes(lasting)
	}
	if !over {
		clock += "  " + p.paint(toneDim, "Ctrl-C ends it")
	}
	lines := []string{p.paint(toneBold, "Testnet") + "  " + clock}
	lines = append(lines, s.screen.nodes()...)
	lines = append(lines, "")
	lines = append(lines, s.screen.query()...)
	return append(lines, s.screen.found()...)
}

// draw replaces the last picture.
func (s *testnetShow) draw(lines []string) {
	width, height, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		width, height = 80, 24
	}
	lines = lines[:min(len(lines), height-1)]
	var b strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.drawn)
	}
	for _, line := range lines {
		b.WriteString(fit(line, width) + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	s.drawn = len(lines)
	io.WriteString(s.out, b.String())
}

// explain says once where everything is, and what to do meanwhile.
func (s *testnetShow) explain(net *testnet.Net) {
	p := s.screen.palette
	t := &table{}
	for _, n := range net.Nodes() {
		if url, _, err := net.API(n); err == nil {
			t.add(cell{"  " + n, toneNone}, cell{url, toneNone}, cell{shellPath(net.Dir(), n), toneDim})
		}
	}
	home, other, at := net.Nodes()[0], net.Nodes()[len(net.Nodes())-1], ""
	if !net.Own() {
		at = " --dir " + shellPath(net.Dir())
	}
	lines := append([]string{"", p.paint(toneBold, "Nodes, their API and directory")}, t.lines(p)...)
	lines = append(lines, p.paint(toneBold, "In another terminal"), "  fednode query show "+net.Query()+" --dir "+shellPath(net.Dir(), home))
	if other != home {
		lines = append(lines, "  fednode testnet fault kill "+other+at, "  fednode testnet fault restart "+other+at)
	}
	for _, line := range append(lines, "") {
		fmt.Fprintln(s.out, line)
	}
}

// ended says what was seen.
func (s *testnetShow) ended(net *testnet.Net) {
	if s.detached {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := s.sum(net)
	if s.json {
		if err := json.NewEncoder(s.out).Encode(map[string]any{"summary": sum}); err != nil {
			fmt.Fprintf(os.Stderr, "fednode: %v\n", err)
		}
		return
	}
	for _, line := range sum.lines(&s.screen, net) {
		fmt.Fprintln(s.out, line)
	}
}

// testnetSum is what was seen of a testnet.
type testnetSum struct {
	Seconds float64           `json:"seconds"`
	Rows    map[string]uint64 `json:"rows"` // by node
	Results uint64            `json:"results"`
	Windows int               `json:"windows"` // that have results
	// Planted sources; Found says in how many windows each was. Others are suspects that nobody planted.
	Planted []string       `json:"planted"`
	Found   map[string]int `json:"found"`
	Others  []string       `json:"others"`
}

// forgetNewest leaves the newest window out, of which not every row may have come when watching ended.
func (s *testnetShow) forgetNewest() {
	newest := ""
	for window := range s.seen {
		newest = max(newest, window)
	}
	if !s.screen.now.Done {
		delete(s.seen, newest)
	}
}

func (s *testnetShow) sum(net *testnet.Net) *testnetSum {
	s.forgetNewest()
	sum := &testnetSum{Seconds: s.lasted.Seconds(), Rows: make(map[string]uint64), Results: s.screen.results, Windows: len(s.seen),
		Planted: append([]string{}, net.Planted()...), Found: make(map[string]int), Others: []string{}}
	for _, n := range s.screen.now.Nodes {
		sum.Rows[n.ID] = n.Rows
	}
	for _, window := range s.seen {
		for src := range window {
			sum.Found[src]++
		}
	}
	for src := range sum.Found {
		if !slices.Contains(sum.Planted, src) {
			sum.Others = append(sum.Others, src)
		}
	}
	slices.Sort(sum.Others)
	return sum
}
