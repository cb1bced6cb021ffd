package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"fednode/cmd/fednode/internal/topview"
)

// Bounds of --interval: a status costs the daemon a walk over all its parts.
const (
	minTopInterval = 100 * time.Millisecond
	maxTopInterval = time.Hour
)

// onceWidth is the width of a frame that is not for a terminal.
const onceWidth = 120

func topCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "top",
		Short: "Watch a running node: sources, queries, sinks and peers, live",
		Long: `top shows how a running node stands, anew each second: rows a second, how far boundaries lag, what holds a query
back, how full buffers are, and how other nodes answer. It goes on trying while the node does not answer.

--once prints one screen as text. --json prints the node's status, one JSON document a line.

Keys: up and down select a query or fragment, enter shows its operators, esc goes back, p pauses, ? helps, q quits.`,
		Example: `  fednode top --dir fednode-north
  fednode top --dir fednode-north --once`,
		Args: exactArgs(0),
		RunE: runTop,
	}
	clientFlags(c)
	c.Flags().Duration("interval", time.Second, "time between two looks at the node, 100ms to 1h")
	c.Flags().Bool("once", false, "print one screen and end; its rates are those of one interval")
	return c
}

func runTop(c *cobra.Command, _ []string) error {
	interval, err := c.Flags().GetDuration("interval")
	if err != nil {
		return err
	}
	if interval < minTopInterval || interval > maxTopInterval {
		return wrong("--interval %s: expected %s to %s", interval, minTopInterval, maxTopInterval)
	}
	once, err := c.Flags().GetBool("once")
	if err != nil {
		return err
	}
	if _, ok := terminalWidth(c.OutOrStdout()); !ok && !once && !jsonWanted(c) {
		return wrong("top needs a terminal; use --once for one screen as text, or --json for a status a line")
	}
	w := &watcher{connect: func() (*client, error) { return newClient(c) }}
	defer w.Close()
	first, err := w.sample(c.Context())
	if err != nil {
		return err
	}
	switch {
	case jsonWanted(c):
		err = topJSON(c, w, first, interval, once)
	case once:
		err = topOnce(c, w, first, interval)
	default:
		err = topLive(c, w, first, interval)
	}
	if c.Context().Err() != nil {
		return nil // ending it is how a person leaves it
	}
	return err
}

// terminalWidth returns the width of the terminal that w is; ok is false if it is none.
func terminalWidth(w io.Writer) (cells int, ok bool) {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return 0, false
	}
	cells, _, err := term.GetSize(int(f.Fd()))
	return cells, err == nil && cells > 0
}

// topOnce prints one screen, with rates from two looks.
func topOnce(c *cobra.Command, w *watcher, first *topview.Sample, interval time.Duration) error {
	if err := rest(c.Context(), interval); err != nil {
		return err
	}
	second, err := w.sample(c.Context())
	if err != nil {
		return err
	}
	f := &topview.Frame{
		Previous: first, Current: second, Now: second.At, Interval: interval, Width: onceWidth, Still: true, Colour: paletteOf(c.OutOrStdout()).on,
	}
	if cells, ok := terminalWidth(c.OutOrStdout()); ok {
		f.Width = cells
	}
	_, err = fmt.Fprintln(c.OutOrStdout(), f.Render())
	return err
}

// topJSON prints a status a line. A daemon that is away is mentioned on standard error, once.
func topJSON(c *cobra.Command, w *watcher, s *topview.Sample, interval time.Duration, once bool) error {
	lines := json.NewEncoder(c.OutOrStdout())
	lines.SetEscapeHTML(false)
	away := false
	for {
		if s != nil {
			if err := lines.Encode(&s.Status); err != nil {
				return err
			}
		}
		if once {
			return nil
		}
		if err := rest(c.Context(), interval); err != nil {
			return err
		}
		var err error
		if s, err = w.sample(c.Context()); err != nil && !away {
			fmt.Fprintf(c.ErrOrStderr(), "fednode: %v; going on trying\n", err)
		}
		away = err != nil
	}
}

// rest waits for d, or less if ctx is done before, whose error it then returns.
func rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// watcher looks at a daemon again and again. It is not for concurrent use.
type watcher struct {
	connect func() (*client, error)
	client  *client // nil until the first look, and after one that failed
}

// sampleTimeout bounds one look.
const sampleTimeout = 5 * time.Second

// sample asks for the status and the peers. After an error the next look finds the daemon anew: a restart may have given
// it another address or token.
func (w *watcher) sample(ctx context.Context) (*topview.Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	if w.client == nil {
		cl, err := w.connect()
		if err != nil {
			return nil, err
		}
		w.client = cl
	}
	s := new(topview.Sample)
	err := w.client.get(ctx, "/api/v1/status", &s.Status)
	if err == nil {
		s.At = time.Now()
		err = w.client.get(ctx, "/api/v1/peers", &s.Peers)
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the connection, if there is one.
func (w *watcher) Close() {
	if w.client != nil {
		w.client.Close()
		w.client = nil
	}
}
