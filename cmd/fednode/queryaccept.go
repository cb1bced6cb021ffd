package main

import (
	"fmt"
	"net/url"

	"github.com/spf13/cobra"
)

func queryAcceptCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "accept NAME ORG/NODE",
		Short: "Read again from a replica that is DIVERGED, when the other one is gone for good",
		Long: `Read again from a replica that is DIVERGED: it gave other rows than another replica, so that one of the two computes
wrongly, and what reads them stayed with the other one. If that one is gone for good, the input waits: only you can know
which of the two is right. ORG/NODE is the replica as "fednode query show" names it.

What of the query runs at the node asked reads from that replica from now on; repeat the command at each node that shows
DIVERGED. What has been given stands. The other replica, should it come back, is DIVERGED in turn: let it begin without
its state. While the other one is still read, the command refuses: if that is the one that is wrong, stop it first.`,
		Example: "  fednode query accept netmon north/edge-2 --dir fednode-north",
		Args:    exactArgs(2),
	}
	clientFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		cl, err := newClient(c)
		if err != nil {
			return err
		}
		defer cl.Close()
		path := "/api/v1/queries/" + url.PathEscape(args[0]) + "/accept?producer=" + url.QueryEscape(args[1])
		if err := cl.post(c.Context(), path, nil, nil); err != nil {
			return err
		}
		if jsonWanted(c) {
			return printJSON(c, map[string]string{"query": args[0], "accepted": args[1]})
		}
		fmt.Fprintf(c.OutOrStdout(), "query %s reads from %s again\n", args[0], args[1])
		return nil
	}
	return c
}
