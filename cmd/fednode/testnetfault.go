package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fednode/testnet"
)

func testnetFaultCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "fault FAULT [NODE...] [VALUE]",
		Short: "Break a node of a testnet or the network between nodes, or mend it",
		Long: `Break a node of a testnet or the network between nodes, or mend it:

` + faultHelp() + `
Where an organisation has several nodes its name stands for all of them. What lasts ends after --for, by the fault that
is shown, or by heal. What is cut is silent, not refused.`,
		Example: `  fednode testnet fault kill south
  fednode testnet fault restart south
  fednode testnet fault partition south --for 30s
  fednode testnet fault loss south north 20%
  fednode testnet fault heal`,
		ValidArgs: testnet.FaultKinds(),
	}
	dir := testnetDirFlag(c)
	last := c.Flags().Duration("for", 0, "end it by itself after so long")
	c.RunE = func(c *cobra.Command, args []string) error {
		if *last < 0 {
			return wrong("--for %s: expected a duration such as 30s", *last)
		}
		if *last > 0 {
			args = append(args, "for", last.String())
		}
		f, err := testnet.ParseFault(args)
		if err != nil {
			return testnetError(err)
		}
		net, err := testnet.Find(*dir)
		if err != nil {
			return testnetError(err)
		}
		did, err := net.Apply(c.Context(), f)
		if err != nil {
			return testnetError(err)
		}
		if jsonWanted(c) {
			return printJSON(c, did)
		}
		w := c.ErrOrStderr()
		fmt.Fprintln(w, did.What)
		if did.Undo != "" {
			at := ""
			if *dir != "" {
				at = " --dir " + shellPath(*dir)
			}
			fmt.Fprintf(w, "To undo it: fednode testnet fault %s%s\n", did.Undo, at)
		}
		return nil
	}
	return c
}

// faultHelp has a line for each fault.
func faultHelp() string {
	var b strings.Builder
	for _, u := range testnet.FaultUsage() {
		fmt.Fprintf(&b, "  %-32s %s\n", u[0], u[1])
	}
	return b.String()
}

// faultLines tell the faults in force.
func faultLines(v *testnet.View) []string {
	if len(v.Faults) == 0 {
		return nil
	}
	lines := []string{"", "Faults in force"}
	for _, f := range v.Faults {
		line := fmt.Sprintf("  %s, since %s", f.Fault, v.At.Sub(f.Since).Round(time.Second))
		if f.Until != nil {
			line += fmt.Sprintf(", for %s more", max(0, f.Until.Sub(v.At)).Round(time.Second))
		}
		lines = append(lines, line+"; undo: "+f.Undo)
	}
	return lines
}
