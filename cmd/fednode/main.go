// Command fednode is the daemon of a federated data stream management system, and the command line around it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func main() { os.Exit(run()) }

// run builds the command tree and turns the error that ended a command into an exit code.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	root := newRoot()
	err := root.ExecuteContext(ctx)
	if err != nil && !errors.Is(err, errSaid) {
		fmt.Fprintf(os.Stderr, "fednode: %v\n", err)
	}
	return exitCode(err)
}

// errSaid is wrapped by errors that have been shown already.
var errSaid = errors.New("see above")

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "fednode",
		Short: "Run continuous queries over streams of several organisations",
		Long: `fednode runs continuous queries over streams that several organisations own, each on its own machines.

Try it:    fednode testnet up
One query: fednode query run FILE --source NAME=PATH

` + exitHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.PersistentFlags().Bool("json", false, "print one JSON document on standard output, and nothing else there")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return wrong("%w; see %s --help", flagError(err), c.CommandPath())
	})
	root.AddCommand(runCommand(), statusCommand(), topCommand(), peersCommand())
	root.AddCommand(testnetCommand(), queryCommand(), exportCommand(), catalogCommand(), whyCommand())
	root.AddCommand(checkpointCommand())
	root.AddCommand(initCommand(), orgCommand(), nodeCommand(), keyCommand())
	root.AddCommand(configCommand(), doctorCommand(), contextCommand(), mpaCommand(), balanceCommand(), contractCommand())
	root.AddCommand(versionCommand(), benchCommand(), completionCommand())
	root.CompletionOptions.DisableDefaultCmd = true // ours has no shell that we do not test
	refuseUnknown(root)
	return root
}

// flagError says of a value that is no number which flag has it and what was expected, instead of which function of Go
// could not read it.
func flagError(err error) error {
	var value *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &value) || !errors.As(err, &number) {
		return err
	}
	what := "a number"
	switch {
	case number.Func == "ParseBool":
		what = "true or false"
	case errors.Is(number, strconv.ErrRange):
		what = "a smaller number"
	case number.Func == "ParseUint":
		what = "a whole number from 0 on"
	case number.Func != "ParseFloat":
		what = "a whole number"
	}
	return fmt.Errorf("--%s: expected %s, got %q", value.GetFlag().Name, what, number.Num)
}

// jsonWanted reports whether a command is to print JSON.
func jsonWanted(c *cobra.Command) bool {
	v, err := c.Flags().GetBool("json")
	return err == nil && v
}
