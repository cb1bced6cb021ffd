package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"fednode/node/bind"
	"fednode/node/connect/connectors"
	"fednode/query"
	"fednode/query/spec"
)

func queryCommand() *cobra.Command {
	c := &cobra.Command{Use: "query", Short: "Check, explain, run and deploy queries"}
	c.AddCommand(queryValidateCommand(), queryExplainCommand(), queryRunCommand())
	c.AddCommand(queryDeployCommand(), queryListCommand(), queryShowCommand(), queryStopCommand(), queryTailCommand(), queryAcceptCommand())
	return c
}

// maxQueryBytes bounds a query file.
const maxQueryBytes = 1 << 20

// readLimited reads a file of at most limit bytes; "-" is standard input.
func readLimited(path string, limit int64) ([]byte, error) {
	f := os.Stdin
	if path != "-" {
		var err error
		if f, err = os.Open(path); err != nil {
			return nil, wrong("%w", err)
		}
		defer f.Close()
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, wrong("%w", err)
	}
	if int64(len(b)) > limit {
		return nil, wrong("%s: more than %d bytes; that is no query or configuration", path, limit)
	}
	return b, nil
}

// loaded is a query file that has been read and found right.
type loaded struct {
	diagram    *query.Diagram
	connectors *bind.Connectors
	plan       *query.Plan
}

// loadQuery reads a query file, shows warnings on standard error, and fails with every error of the file.
func loadQuery(path string, edits query.Edits, at query.Placement) (*loaded, error) {
	src, err := readLimited(path, maxQueryBytes)
	if err != nil {
		return nil, err
	}
	b := bind.New(connectors.Kinds())
	d, problems := query.Parse(path, src, query.Options{Env: os.LookupEnv, Connectors: b, Edit: edits.Apply, Placement: at})
	for _, w := range problems.Warnings {
		fmt.Fprintf(os.Stderr, "warning: %s\n", w.Error())
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	b.Finish(d)
	return &loaded{diagram: d, connectors: b, plan: query.NewPlan(d, at, problems)}, nil
}

func queryValidateCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "validate FILE…",
		Short:   "Check query files; every error at once, with its place",
		Example: "  fednode query validate netmon.toml",
		Args:    minimumArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			var errs []error
			for _, f := range files {
				if _, err := loadQuery(f, query.Edits{}, query.Placement{}); err != nil {
					errs = append(errs, err)
					continue
				}
				if !jsonWanted(c) {
					fmt.Fprintf(c.OutOrStdout(), "%s: valid\n", f)
				}
			}
			if jsonWanted(c) {
				return printValidation(c, files, errs)
			}
			return errors.Join(errs...)
		},
	}
}

// printValidation prints every error as JSON, and still fails if there is one.
func printValidation(c *cobra.Command, files []string, errs []error) error {
	type problem struct {
		File   string `json:"file"`
		Line   int    `json:"line"`
		Column int    `json:"column"`
		Path   string `json:"path"`
		Msg    string `json:"message"`
		Hint   string `json:"hint,omitempty"`
	}
	out := struct {
		Files  []string  `json:"files"`
		Valid  bool      `json:"valid"`
		Errors []problem `json:"errors"`
	}{files, len(errs) == 0, []problem{}}
	for _, err := range errs {
		var e *spec.Error
		if !errors.As(err, &e) {
			out.Errors = append(out.Errors, problem{Msg: err.Error()})
			continue
		}
		for _, p := range e.Problems {
			out.Errors = append(out.Errors, problem{p.Pos.File, p.Pos.Line, p.Pos.Column, p.Path, p.Msg, p.Hint})
		}
	}
	if err := printJSON(c, out); err != nil {
		return err
	}
	if len(errs) > 0 {
		return &codeError{code: exitWrong, err: errSaid}
	}
	return nil
}

func queryExplainCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "explain FILE",
		Short:   "Show the diagram, fragments, state bounds and who sees which columns",
		Example: "  fednode query explain netmon.toml --format dot | dot -Tsvg > netmon.svg",
		Args:    exactArgs(1),
	}
	format := c.Flags().String("format", "text", "text, dot, mermaid or json")
	org := c.Flags().String("org", "", "the organisation that the query is planned for")
	c.RunE = func(c *cobra.Command, args []string) error {
		q, err := loadQuery(args[0], query.Edits{}, query.Placement{Home: query.Place{Org: *org}})
		if err != nil {
			return err
		}
		x := query.Explain(q.plan)
		if jsonWanted(c) {
			*format = "json"
		}
		switch *format {
		case "text":
			fmt.Fprint(c.OutOrStdout(), x.Text())
		case "dot":
			fmt.Fprint(c.OutOrStdout(), x.Dot())
		case "mermaid":
			fmt.Fprint(c.OutOrStdout(), x.Mermaid())
		case "json":
			return printJSON(c, x)
		default:
			return wrong("--format %s: expected text, dot, mermaid or json", *format)
		}
		return nil
	}
	return c
}

// parseEdits reads NAME=VALUE flags.
func parseEdits(flag string, values []string, paths bool) ([]query.Edit, error) {
	var out []query.Edit
	for _, v := range values {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return nil, wrong("--%s %s: expected NAME=VALUE", flag, v)
		}
		if paths && value != "-" { // paths on the command line are relative to where it is typed, not to the file
			abs, err := filepath.Abs(value)
			if err != nil {
				return nil, wrong("--%s %s: %w", flag, v, err)
			}
			value = abs
		}
		out = append(out, query.Edit{Name: name, Value: value})
	}
	return out, nil
}
