package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"fednode/testnet"
)

// upFlags are the flags of testnet up.
type upFlags struct {
	spec, query, dir string
	nodes            int
	data             []string
	lasting          time.Duration
	detach           bool
}

func testnetUpCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "up",
		Short: "Start a testnet and watch it",
		Long: `Start a testnet and watch it. With no more said: three organisations, each with a stream of generated connections, and
the network-monitoring query over all of them, whose results arrive at the first: sources that open more than 100
connections in a minute, to more than 10 different ports.

With --data the rows of files are dealt out to the nodes instead. The files need the columns ts, src and dport, or to be
Zeek's conn.log; others are read as the stream of a --query says.

It ends at Ctrl-C, after --for, or with --detach at "fednode testnet down". All its processes end with it.`,
		Example: `  fednode testnet up
  fednode testnet up --for 30s
  fednode testnet up --data conn.log.gz --dir /tmp/fed --detach`,
	}
	var u upFlags
	f := c.Flags()
	f.StringVar(&u.spec, "spec", "", "file that describes the testnet")
	f.IntVar(&u.nodes, "nodes", 0, "nodes of all organisations together, dealt out in turn (default one for each)")
	f.StringVar(&u.query, "query", "", "query file with one stream where data enters (default network monitoring)")
	f.StringArrayVar(&u.data, "data", nil, "file whose rows are dealt out to the nodes; several may follow")
	f.StringVar(&u.dir, "dir", "", "directory, from which an earlier testnet's files are removed (default a temporary one)")
	f.DurationVar(&u.lasting, "for", 0, "end after so long, or as soon as all data are through")
	f.BoolVar(&u.detach, "detach", false, "return once it is up and let it run until testnet down")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 && len(u.data) == 0 {
			return wrong("%s: unexpected argument; see %s --help", args[0], c.CommandPath())
		}
		u.data = append(u.data, args...)
		s, err := u.network()
		if err != nil {
			return testnetError(err)
		}
		if u.detach {
			return testnetError(u.startDetached(c))
		}
		return testnetError(u.run(c, s))
	}
	return c
}

// network is what the spec file says, changed by the flags.
func (u *upFlags) network() (testnet.Spec, error) {
	s := testnet.Default()
	if u.spec != "" {
		var err error
		if s, err = testnet.ReadSpec(u.spec); err != nil {
			return s, err
		}
	}
	switch {
	case u.nodes < 0:
		return s, wrong("--nodes %d: expected 1 or more", u.nodes)
	case u.lasting < 0:
		return s, wrong("--for %s: expected a duration such as 30s", u.lasting)
	case u.detach && u.lasting > 0:
		return s, wrong("give --detach or --for, not both")
	}
	if u.nodes > 0 {
		s.Nodes, s.Sizes = u.nodes, nil
	}
	if u.query != "" {
		s.Query = u.query
	}
	if len(u.data) > 0 {
		s.Data = u.data
	}
	return s, s.Validate()
}

// run starts the network, shows what happens, and ends it.
func (u *upFlags) run(c *cobra.Command, s testnet.Spec) (err error) {
	began := time.Now()
	show := newTestnetShow(c)
	net, err := testnet.Up(c.Context(), s, testnet.Options{Dir: u.dir, Say: show.step})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, net.Close()) }()
	show.up(net, time.Since(began))
	ctx, cancel := context.WithCancel(c.Context())
	if u.lasting > 0 {
		ctx, cancel = context.WithTimeout(c.Context(), u.lasting)
	}
	defer cancel()
	if err := show.watch(ctx, net, u.lasting); err != nil {
		return err
	}
	closed := net.Close()
	show.ended(net) // also if a node had to be killed: what was seen stands
	return closed
}

// startDetached starts the same command in the background and returns once the network is up.
func (u *upFlags) startDetached(c *cobra.Command) error {
	args := []string{"testnet", "up", "--for", "0s"}
	for _, p := range [][2]string{{"--spec", u.spec}, {"--query", u.query}, {"--dir", u.dir}} {
		if p[1] != "" {
			args = append(args, p[0], p[1])
		}
	}
	if u.nodes > 0 {
		args = append(args, "--nodes", fmt.Sprint(u.nodes))
	}
	for _, d := range u.data {
		args = append(args, "--data", d)
	}
	dir, err := testnet.StartDetached(c.Context(), u.dir, args)
	if err != nil {
		return err
	}
	at := " --dir " + shellPath(dir)
	if u.dir == "" {
		at = ""
	}
	w := c.ErrOrStderr()
	fmt.Fprintf(w, "The testnet is up in %s. Next:\n", dir)
	v, err := viewOf(c, dir)
	if err != nil {
		return err
	}
	node := v.Nodes[len(v.Nodes)-1].ID
	for _, next := range []string{"status", "logs " + node + " -f", "fault kill " + node, "fault restart " + node, "down"} {
		fmt.Fprintf(w, "  fednode testnet %s%s\n", next, at)
	}
	home := shellPath(v.Nodes[0].Dir)
	for _, next := range []string{"query show " + v.Query, "query tail " + v.Query + "/" + v.Outputs[0] + " --mode latest", "top"} {
		fmt.Fprintf(w, "  fednode %s --dir %s\n", next, home)
	}
	return nil
}

// viewOf asks how the testnet in a directory stands.
func viewOf(c *cobra.Command, dir string) (v testnet.View, err error) {
	net, err := testnet.Find(dir)
	if err != nil {
		return v, err
	}
	if v, err = net.View(c.Context()); err == nil && (len(v.Nodes) == 0 || len(v.Outputs) == 0) {
		err = fmt.Errorf("the testnet in %s has no nodes, or no query", dir)
	}
	return v, err
}

// canRedraw reports whether a file is a terminal on which lines can be written anew.
func canRedraw(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
}
