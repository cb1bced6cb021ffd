package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fednode/testnet"
)

func testnetCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "testnet",
		Short: "Run a federation of real daemons on this machine",
		Long: `Run a federation on this machine: several organisations with daemons of their own, as real processes on free ports of
loopback, with keys, certificates, trust and exports. It is for trying things out and for breaking them.`,
	}
	c.AddCommand(testnetUpCommand(), testnetDownCommand(), testnetStatusCommand(), testnetLogsCommand(), testnetFaultCommand(), testnetSimulateCommand())
	return c
}

// testnetDirFlag adds the flag that chooses a testnet.
func testnetDirFlag(c *cobra.Command) *string {
	return c.Flags().String("dir", "", "the testnet's directory; not needed while only one runs that chose its own")
}

// testnetError gives errors of package testnet their exit codes.
func testnetError(err error) error {
	switch {
	case errors.Is(err, testnet.ErrSpec), errors.Is(err, testnet.ErrNone), errors.Is(err, testnet.ErrBusy):
		return &codeError{code: exitWrong, err: err}
	case errors.Is(err, testnet.ErrRefused):
		return &codeError{code: exitRefused, err: err}
	}
	return err
}

// onTestnet has a command do something with the testnet that its flag chooses.
func onTestnet(c *cobra.Command, do func(c *cobra.Command, net *testnet.Control, args []string) error) *cobra.Command {
	dir := testnetDirFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		net, err := testnet.Find(*dir)
		if err == nil {
			err = do(c, net, args)
		}
		return testnetError(err)
	}
	return c
}

func testnetDownCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "down",
		Short:   "End a testnet",
		Example: "  fednode testnet down\n  fednode testnet down --dir /tmp/fed",
		Args:    exactArgs(0),
	}
	return onTestnet(c, func(c *cobra.Command, net *testnet.Control, _ []string) error {
		ctx, cancel := context.WithTimeout(c.Context(), time.Minute)
		defer cancel()
		if err := net.Down(ctx); err != nil {
			return err
		}
		fmt.Fprintf(c.ErrOrStderr(), "The testnet in %s has ended.\n", net.Dir)
		return nil
	})
}

func testnetStatusCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "status",
		Short:   "Show how a testnet stands",
		Example: "  fednode testnet status\n  fednode testnet status --json",
		Args:    exactArgs(0),
	}
	return onTestnet(c, func(c *cobra.Command, net *testnet.Control, _ []string) error {
		v, err := net.View(c.Context())
		if err != nil {
			return err
		}
		if jsonWanted(c) {
			return printJSON(c, v)
		}
		w := c.OutOrStdout()
		screen := &testnetScreen{palette: paletteOf(w)}
		screen.observe(v)
		for _, line := range append(screen.nodes(), screen.endpoints()...) {
			fmt.Fprintln(w, line)
		}
		return nil
	})
}

func testnetLogsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "logs NODE",
		Short:   "Show the log of a testnet's node",
		Example: "  fednode testnet logs south\n  fednode testnet logs south -f",
		Args:    exactArgs(1),
	}
	follow := c.Flags().BoolP("follow", "f", false, "go on with what is written from now on")
	return onTestnet(c, func(c *cobra.Command, net *testnet.Control, args []string) error {
		path, err := net.LogFile(c.Context(), args[0])
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return copyLog(c.Context(), c.OutOrStdout(), f, *follow)
	})
}

// logPause is how often a log that is followed is looked at.
const logPause = 200 * time.Millisecond

func copyLog(ctx context.Context, w io.Writer, f *os.File, follow bool) error {
	tick := time.NewTicker(logPause)
	defer tick.Stop()
	for {
		if _, err := io.Copy(w, f); err != nil || !follow {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func testnetFaultCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "fault FAULT NODE",
		Short: "Break a node of a testnet, or mend it",
		Long: `Break a node of a testnet, or mend it:

  kill NODE      end its process at once, as a crash
  stop NODE      end it in order
  restart NODE   start it again; one that runs is stopped first

Other faults (` + strings.Join(testnet.OtherFaults(), ", ") + `) need a network of their own between the
nodes, which processes on loopback do not have.`,
		Example:   "  fednode testnet fault kill south\n  fednode testnet fault restart south",
		ValidArgs: testnet.Faults(),
	}
	dir := testnetDirFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return wrong("expected a fault and a node; see %s --help", c.CommandPath())
		}
		node := ""
		if len(args) > 1 {
			node = args[1]
		}
		if err := testnet.CheckFault(args[0]); err != nil {
			return testnetError(err)
		}
		if len(args) != 2 {
			return wrong("expected one node after %s; see %s --help", args[0], c.CommandPath())
		}
		net, err := testnet.Find(*dir)
		if err != nil {
			return testnetError(err)
		}
		if err := net.Fault(c.Context(), args[0], node); err != nil {
			return testnetError(err)
		}
		did := map[string]string{testnet.FaultKill: "was killed", testnet.FaultStop: "has stopped", testnet.FaultRestart: "runs again"}
		fmt.Fprintf(c.ErrOrStderr(), "Node %s %s.\n", node, did[args[0]])
		return nil
	}
	return c
}
