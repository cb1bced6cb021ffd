package main

import "github.com/spf13/cobra"

func mpaCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "mpa",
		Short: "How load moves along contracts",
		Long: `Load moves between organisations along contracts: each side gives load if that saves it more than it pays, and takes
load if that costs it less than it is paid.`,
	}
	c.AddCommand(mpaSimulateCommand())
	return c
}
