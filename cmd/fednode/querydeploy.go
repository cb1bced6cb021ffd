package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fednode/node/api"
)

func queryDeployCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "deploy FILE",
		Short: "Deploy a query on a running node",
		Long: `Deploy a query on a running node: it plans the query, asks every other host, and starts it once all have agreed. The
same content again changes nothing; other content under the same name needs --replace. A host that refuses names the
clause that is missing there, and the exit code is 3.`,
		Example: "  fednode query deploy netmon.toml --dir fednode-north",
		Args:    exactArgs(1),
	}
	clientFlags(c)
	replace := c.Flags().Bool("replace", false, "replace a query of the same name that has other content")
	c.RunE = func(c *cobra.Command, args []string) error {
		src, err := readLimited(args[0], maxQueryBytes)
		if err != nil {
			return err
		}
		cl, err := newClient(c)
		if err != nil {
			return err
		}
		defer cl.Close()
		v := url.Values{"file": {filepath.Base(args[0])}}
		if *replace {
			v.Set("replace", "true")
		}
		var d api.DeployResult
		q := call{method: http.MethodPost, path: "/api/v1/queries?" + v.Encode(), contentType: "application/toml", body: src}
		if err := cl.decode(c.Context(), q, &d); err != nil {
			return err
		}
		return printDeployment(c, &d)
	}
	return c
}

func printDeployment(c *cobra.Command, d *api.DeployResult) error {
	if jsonWanted(c) {
		return printJSON(c, d)
	}
	out := c.OutOrStdout()
	for _, w := range d.Warnings {
		fmt.Fprintf(c.ErrOrStderr(), "warning: %s:%d:%d: %s: %s\n", w.File, w.Line, w.Column, w.Path, w.Message)
	}
	if !d.Changed {
		fmt.Fprintf(out, "query %s runs already with this content (term %d, epoch %d)\n", d.ID, d.Term, d.Epoch)
		return nil
	}
	fmt.Fprintf(out, "query %s is deployed (term %d, epoch %d)\n", d.ID, d.Term, d.Epoch)
	printAssignments(out, "", d.Assignments)
	return nil
}

// printAssignments shows a line for each fragment with the nodes that run it.
func printAssignments(w io.Writer, indent string, list []api.Assignment) {
	t := table{head: []string{indent + "FRAGMENT", "RUNS AT"}}
	for i, a := range list {
		if slices.ContainsFunc(list[:i], func(b api.Assignment) bool { return b.Fragment == a.Fragment }) {
			continue
		}
		var nodes []string
		for _, b := range list[i:] {
			if b.Fragment == a.Fragment {
				nodes = append(nodes, b.Org+"/"+b.Node)
			}
		}
		t.add(plainCells(indent+a.Fragment, strings.Join(nodes, ", "))...)
	}
	t.print(w)
}

func queryListCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the queries that a running node knows",
		Example: "  fednode query list --dir fednode-north",
		Args:    exactArgs(0),
	}
	clientFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		var list []api.QueryInfo
		if err := ask1(c, "/api/v1/queries", &list); err != nil || jsonWanted(c) {
			return errors.Join(err, printIf(c, err == nil, list))
		}
		t := table{head: []string{"QUERY", "STATE", "TERM", "EPOCH", "HOME", "FRAGMENTS", "HERE"}}
		for _, q := range list {
			t.add(cell{text: q.ID}, stateCell(q), cell{text: fmt.Sprint(q.Term)}, cell{text: fmt.Sprint(q.Epoch)}, cell{text: q.Home}, cell{text: fmt.Sprint(len(q.Assignments))}, cell{text: yesNo(q.Here)})
		}
		if len(list) == 0 {
			fmt.Fprintln(c.OutOrStdout(), "no query is known; deploy one with fednode query deploy FILE")
			return nil
		}
		t.print(c.OutOrStdout())
		return nil
	}
	return c
}

// ask1 asks a daemon for one document.
func ask1(c *cobra.Command, path string, out any) error {
	cl, err := newClient(c)
	if err != nil {
		return err
	}
	defer cl.Close()
	return cl.get(c.Context(), path, out)
}

func printIf(c *cobra.Command, ok bool, v any) error {
	if !ok {
		return nil
	}
	return printJSON(c, v)
}

func stateCell(q api.QueryInfo) cell {
	switch {
	case q.Failure != "":
		return cell{text: "failed: " + clean(q.Failure), tone: toneBad}
	case q.State == "running":
		return cell{text: q.State, tone: toneGood}
	}
	return cell{text: q.State, tone: toneDim}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func queryStopCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "stop NAME",
		Short:   "Stop a query everywhere; hosts that are away learn it when they are up again",
		Example: "  fednode query stop netmon --dir fednode-north",
		Args:    exactArgs(1),
	}
	clientFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		cl, err := newClient(c)
		if err != nil {
			return err
		}
		defer cl.Close()
		if err := cl.post(c.Context(), "/api/v1/queries/"+url.PathEscape(args[0])+"/stop", nil, nil); err != nil {
			return err
		}
		if jsonWanted(c) {
			return printJSON(c, map[string]string{"query": args[0], "state": "stopped"})
		}
		fmt.Fprintf(c.OutOrStdout(), "query %s is stopped\n", args[0])
		return nil
	}
	return c
}

func queryTailCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "tail NAME",
		Short: "Follow a query's output, or any stream, row by row",
		Long: `Follow a query's output, or any stream, row by row. NAME is QUERY (its only output), QUERY/OUTPUT, or the full name of a
stream: ORG/STREAM or ORG/QUERY/OUTPUT. With --json each line is a row: id, stime and the columns in order.

With --mode latest rows come also while an input is missing, made from what is there. They are tentative, marked
with ?, and stable rows replace them once the failure is over: a line with ✓ says up to where that has happened,
one with ✗ which of them are void. With --json each line says first what it is: {"event":"stable",…}, and so on
for tentative, undo, done and gap.`,
		Example: `  fednode query tail netmon --dir fednode-north
  fednode query tail netmon --mode latest
  fednode query tail netmon/suspects --from beginning --json`,
		Args: exactArgs(1),
	}
	clientFlags(c)
	mode := c.Flags().String("mode", "stable", "stable: results that never change; latest: also tentative ones while an input is missing")
	from := c.Flags().String("from", "now", "now, beginning, or the id of the last row known")
	rows := c.Flags().Int("rows", 0, "end after so many rows")
	c.RunE = func(c *cobra.Command, args []string) error {
		if *mode != "stable" && *mode != "latest" {
			return wrong("--mode %s: expected stable or latest", *mode)
		}
		cl, err := newClient(c)
		if err != nil {
			return err
		}
		defer cl.Close()
		stream, err := cl.streamOf(c, args[0])
		if err != nil {
			return err
		}
		v := url.Values{"from": {*from}, "mode": {*mode}}
		if *rows > 0 {
			v.Set("rows", fmt.Sprint(*rows))
		}
		printer := newTailPrinter(c, *mode == "latest")
		err = cl.lines(c.Context(), "/api/v1/streams/"+stream+"/tail?"+v.Encode(), printer.line)
		if c.Context().Err() != nil {
			return nil // Ctrl-C is how a tail ends
		}
		return err
	}
	return c
}

// streamOf turns what was typed into the full name of a stream.
func (c *client) streamOf(cmd *cobra.Command, name string) (string, error) {
	if strings.Count(name, "/") > 1 {
		return name, nil
	}
	var s api.Status
	if err := c.get(cmd.Context(), "/api/v1/status", &s); err != nil {
		return "", err
	}
	if strings.Contains(name, "/") {
		q, _, _ := strings.Cut(name, "/")
		for _, known := range s.Queries {
			if known.Name == q && known.Org == s.Node.Org {
				return s.Node.Org + "/" + name, nil
			}
		}
		return name, nil
	}
	var outputs []string
	for _, q := range s.Queries {
		if q.Name != name {
			continue
		}
		for _, k := range q.Sinks {
			outputs = append(outputs, k.Stream)
		}
		for _, f := range q.Fragments {
			for _, o := range f.Outputs {
				if strings.HasPrefix(o.Stream, q.ID+"/") {
					outputs = append(outputs, o.Stream)
				}
			}
		}
	}
	outputs = distinct(outputs)
	switch len(outputs) {
	case 0:
		return "", wrong("no query %s with an output here; see fednode query list, or give the full name of a stream", name)
	case 1:
		return outputs[0], nil
	}
	return "", wrong("query %s has several outputs: %s; name one", name, strings.Join(outputs, ", "))
}

func distinct(names []string) []string {
	var out []string
	seen := make(map[string]bool)
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}
