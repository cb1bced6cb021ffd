package main

import "github.com/spf13/cobra"

func balanceCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "balance",
		Short: "How load is spread over the nodes of one organisation",
		Long: `The nodes of one organisation cooperate: units of work move from those that have much to do to those that have little,
without prices. A migrator says when, and until when.`,
	}
	c.AddCommand(balanceSimulateCommand())
	return c
}
