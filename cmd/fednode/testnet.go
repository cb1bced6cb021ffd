package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
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
	c.AddCommand(testnetUpCommand(), testnetDownCommand(), testnetStatusCommand(), testnetLogsCommand(), testnetFaultCommand(), testnetTestCommand(), testnetSimulateCommand(), testnetEvaluateCommand())
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
		if _, err := os.Stat(net.Dir); err == nil {
			fmt.Fprintf(c.ErrOrStderr(), "Its results and logs stay until it is removed; fednode testnet up --dir %s removes them and starts anew.\n", shellPath(net.Dir))
		}
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
		for _, line := range slices.Concat(screen.nodes(), screen.endpoints(), faultLines(&v)) {
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
