package main

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fednode/node/api"
)

func exportCommand() *cobra.Command {
	c := &cobra.Command{Use: "export", Short: "Show what a running node lets out", Example: "  fednode export list --dir fednode-north"}
	list := &cobra.Command{Use: "list", Short: "List the exports", Example: "  fednode export list --dir fednode-north", Args: exactArgs(0)}
	clientFlags(list)
	list.RunE = func(c *cobra.Command, _ []string) error {
		var all []api.ExportInfo
		if err := ask1(c, "/api/v1/exports", &all); err != nil || jsonWanted(c) {
			return errors.Join(err, printIf(c, err == nil, all))
		}
		t := table{head: []string{"EXPORT", "STREAM", "TO", "COLUMNS", "EXPIRES"}}
		for _, x := range all {
			t.add(plainCells(x.Name, x.Stream, strings.Join(x.To, ", "), columnsText(x.Columns), expiresText(x.Expires))...)
		}
		if len(all) == 0 {
			fmt.Fprintln(c.OutOrStdout(), "nothing leaves this node: it has no [exports]")
			return nil
		}
		t.print(c.OutOrStdout())
		return nil
	}
	show := &cobra.Command{Use: "show NAME", Short: "Show one export in full", Example: "  fednode export show conns --dir fednode-north", Args: exactArgs(1)}
	clientFlags(show)
	show.RunE = func(c *cobra.Command, args []string) error {
		var all []api.ExportInfo
		if err := ask1(c, "/api/v1/exports", &all); err != nil {
			return err
		}
		for _, x := range all {
			if x.Name != args[0] {
				continue
			}
			if jsonWanted(c) {
				return printJSON(c, x)
			}
			printExport(c, &x)
			return nil
		}
		return wrong("no export %s; see fednode export list", args[0])
	}
	c.AddCommand(list, show)
	return c
}

func printExport(c *cobra.Command, x *api.ExportInfo) {
	t := table{}
	add := func(name, value string) {
		if value != "" {
			t.add(cell{text: name, tone: toneBold}, cell{text: value})
		}
	}
	add("export", x.Name)
	add("stream", x.Stream)
	add("to", strings.Join(x.To, ", "))
	add("where", x.Where)
	add("purpose", x.Purpose)
	add("expires", expiresText(x.Expires))
	for _, col := range x.Columns {
		add("column", col.Name+"  "+col.Type+"  "+col.Form)
	}
	t.print(c.OutOrStdout())
}

func columnsText(cols []api.ColumnInfo) string {
	names := make([]string, len(cols))
	for i, col := range cols {
		names[i] = col.Name
		if col.Form != "plain" && col.Form != "" {
			names[i] += " (" + col.Form + ")"
		}
	}
	return strings.Join(names, ", ")
}

func expiresText(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.Format(time.DateOnly)
}

func catalogCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "catalog [ORG]",
		Short:   "Show the streams that partners are known to have",
		Example: "  fednode catalog south --dir fednode-north",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return wrong("%s takes at most 1 argument, got %d", c.CommandPath(), len(args))
			}
			return nil
		},
	}
	clientFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		path := "/api/v1/catalog"
		if len(args) == 1 {
			path += "?org=" + url.QueryEscape(args[0])
		}
		var all []api.Offer
		if err := ask1(c, path, &all); err != nil || jsonWanted(c) {
			return errors.Join(err, printIf(c, err == nil, all))
		}
		t := table{head: []string{"STREAM", "STATE", "COMPLETE UNTIL", "LAST ID"}}
		for _, o := range all {
			t.add(plainCells(o.Stream, o.State, streamTimeText(o.Boundary), grouped(o.LastID))...)
		}
		if len(all) == 0 {
			fmt.Fprintln(c.OutOrStdout(), "no partner has told of a stream that is read here")
			return nil
		}
		t.print(c.OutOrStdout())
		return nil
	}
	return c
}

func queryShowCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "show NAME",
		Short:   "Show a query: per operator rows, state, lag, and the input that holds it back",
		Example: "  fednode query show netmon --dir fednode-north",
		Args:    exactArgs(1),
	}
	clientFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		var q api.QueryDetail
		if err := ask1(c, "/api/v1/queries/"+url.PathEscape(args[0]), &q); err != nil || jsonWanted(c) {
			return errors.Join(err, printIf(c, err == nil, q))
		}
		w := c.OutOrStdout()
		printQuery(w, &q.QueryStatus, time.Now())
		for i := range q.Fragments {
			printOperators(c, q.ID, &q.Fragments[i])
		}
		return nil
	}
	return c
}

func printOperators(c *cobra.Command, query string, f *api.FragmentStatus) {
	w := c.OutOrStdout()
	fmt.Fprintf(w, "\nfragment %s\n", f.Name)
	t := table{head: []string{"  OPERATOR", "KIND", "ROWS IN", "ROWS OUT", "STATE", "COMPLETE UNTIL", "LAG", "HELD BACK BY"}}
	for _, o := range f.Operators {
		t.add(cell{text: "  " + o.Name}, cell{text: o.Kind}, cell{text: grouped(o.RowsIn)}, cell{text: grouped(o.RowsOut)}, cell{text: bytesText(o.StateBytes)},
			cell{text: streamTimeText(o.Boundary)}, cell{text: fmt.Sprintf("%.1fs", o.Lag)}, cell{text: streamIn(query, o.HeldBy), tone: toneWarn})
	}
	t.print(w)
	t = table{head: []string{"  INPUT", "READ FROM", "CONDITION", "ROWS", "WAITING", "COMPLETE UNTIL"}}
	for i := range f.Inputs {
		in := &f.Inputs[i]
		from, state := producerCells(in)
		t.add(cell{text: "  " + streamIn(query, in.Stream)}, from, state, cell{text: grouped(in.Rows)}, cell{text: grouped(uint64(in.Waiting))}, cell{text: streamTimeText(in.Boundary)})
	}
	t.print(w)
	t = table{head: []string{"  OUTPUT", "STATE", "LAST ID", "HELD", "SUBSCRIBERS"}}
	for _, o := range f.Outputs {
		names := make([]string, len(o.Subscribers))
		for i, s := range o.Subscribers {
			names[i] = fmt.Sprintf("%s (acknowledged %d)", s.Name, s.Acknowledged.ID)
			if s.Lapsed != nil {
				names[i] = fmt.Sprintf("%s (lapsed at %d)", s.Name, s.Acknowledged.ID)
			}
		}
		held := bytesText(o.Bytes)
		if o.SpilledBytes > 0 {
			held += " + " + bytesText(o.SpilledBytes) + " on disk"
		}
		t.add(cell{text: "  " + streamIn(query, o.Stream)}, cell{text: o.State}, cell{text: grouped(o.Head.ID)}, cell{text: held}, cell{text: strings.Join(names, ", ")})
	}
	t.print(w)
}

// producerCells show which node an input is read from, and what may be expected of it.
func producerCells(in *api.InputStatus) (from, state cell) {
	from, state = cell{text: in.Producer}, cell{text: in.Condition, tone: toneGood}
	if !in.Connected {
		from = cell{text: "nobody: " + in.Cause, tone: toneBad}
	}
	if in.Condition != "live" {
		state.tone = toneWarn
	}
	if in.Tentative {
		state = cell{text: state.text + ", tentative", tone: toneWarn}
	}
	if len(in.Diverged) > 0 {
		state = cell{text: "DIVERGED: " + strings.Join(in.Diverged, ", ") + " not read", tone: toneBad}
	}
	return from, state
}
