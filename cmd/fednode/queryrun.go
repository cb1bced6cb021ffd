package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"fednode/node/connect"
	"fednode/node/local"
	"fednode/query"
)

func queryRunCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a query in this process on bounded input until it ends",
		Long: `Run a query in this process on bounded input until it ends: no daemon, no configuration.

Formats by extension: .csv .tsv .json .jsonl .ndjson .log (Zeek) .arrow, each also .gz or .zst; the path - is standard
input or output as JSON lines. Output goes to PATH.part and is renamed at the end. Records that cannot be read, or come
too late, are set aside and counted; --sink STREAM.errors=PATH and STREAM.late=PATH keep them. If a source did not end
properly (a truncated gz, a file that vanished), the outputs hold what was read and the exit code is 1.`,
		Example: `  fednode query run netmon.toml --source conns=conn.log.gz --sink suspects=-
  fednode query run netmon.toml --set streams.conns.max_out_of_order=5s --json`,
		Args: exactArgs(1),
	}
	f := c.Flags()
	sources := f.StringArray("source", nil, "NAME=PATH: read a stream from a file")
	sinks := f.StringArray("sink", nil, "NAME=PATH: write an output, STREAM.late or STREAM.errors to a file")
	set := f.StringArray("set", nil, "KEY=VALUE: set a key of the query file, by its dotted name")
	batchRows := f.Int("batch-rows", 0, "rows in a batch at most; results do not depend on it")
	memory := f.String("sort-memory", "64MiB", "how much of a disordered stream, and of the state it builds up, is held before rows are sorted on disk")
	c.RunE = func(c *cobra.Command, args []string) error {
		edits, err := runEdits(*sources, *sinks, *set)
		if err != nil {
			return err
		}
		var sides []query.Edit
		edits.Sinks, sides = splitSides(edits.Sinks)
		if *batchRows < 0 || *batchRows > 1<<20 {
			return wrong("--batch-rows %d: expected 1 to %d", *batchRows, 1<<20)
		}
		sortBytes, err := parseSize("sort-memory", *memory)
		if err != nil {
			return err
		}
		q, err := loadQuery(args[0], edits, query.Placement{Local: true})
		if err != nil {
			return err
		}
		heedMemoryLimit()
		opt := local.Options{Connectors: q.connectors, MemoryBytes: sortBytes}
		opt.Env = connect.Env{Dir: filepath.Dir(args[0]), BlockRows: *batchRows, Stdin: c.InOrStdin(), Stdout: c.OutOrStdout()}
		if opt.Sides, err = sideSinks(q.diagram, sides, opt.Env); err != nil {
			return err
		}
		done := func() {}
		if opt.Progress, done = progressBar(); opt.Progress != nil {
			defer done()
		}
		report, err := local.Run(c.Context(), q.plan, opt)
		done()
		if err != nil {
			return err
		}
		return printRun(c, report)
	}
	return c
}

func runEdits(sources, sinks, set []string) (e query.Edits, err error) {
	if e.Sources, err = parseEdits("source", sources, true); err != nil {
		return e, err
	}
	if e.Sinks, err = parseEdits("sink", sinks, true); err != nil {
		return e, err
	}
	e.Set, err = parseEdits("set", set, false)
	return e, err
}

// progressBar returns a function that shows how far a run has come, on a terminal only, and one that removes the line.
func progressBar() (show func(local.Progress), done func()) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return nil, func() {}
	}
	began := time.Now()
	show = func(p local.Progress) {
		rate := float64(p.Rows) / time.Since(began).Seconds()
		fmt.Fprintf(os.Stderr, "\r\x1b[K%s rows, %s rows/s, stream time %v", grouped(p.Rows), grouped(uint64(rate)), p.Time)
	}
	return show, func() { fmt.Fprint(os.Stderr, "\r\x1b[K") }
}

// runJSON is what query run prints with --json.
type runJSON struct {
	Query    string                `json:"query"`
	Streams  map[string]streamJSON `json:"streams"`
	Outputs  map[string]outputJSON `json:"outputs"`
	Nulled   nulledJSON            `json:"nulled"`
	WallS    float64               `json:"wall_s"`
	CPUS     float64               `json:"cpu_s"`
	RowsPerS float64               `json:"rows_per_s"`
}

type streamJSON struct {
	RowsIn  uint64            `json:"rows_in"`
	Late    uint64            `json:"late"`
	Future  uint64            `json:"future"`
	Errors  uint64            `json:"errors"`
	Reasons map[string]uint64 `json:"error_reasons,omitempty"`
	End     string            `json:"end"`
	Detail  string            `json:"detail,omitempty"`
	// Where what was set aside went, if anywhere.
	LatePath   string `json:"late_path,omitempty"`
	ErrorsPath string `json:"errors_path,omitempty"`
}

type outputJSON struct {
	RowsOut uint64 `json:"rows_out"`
	Path    string `json:"path"`
}

type nulledJSON struct {
	DivByZero uint64 `json:"division_by_zero"`
	Overflow  uint64 `json:"overflow"`
}

// printRun tells what a run did; it fails if a source did not end properly.
func printRun(c *cobra.Command, r *local.Report) error {
	if jsonWanted(c) {
		if err := printJSON(c, runToJSON(r)); err != nil {
			return err
		}
	} else {
		summarise(c.ErrOrStderr(), r)
	}
	for _, s := range r.Streams {
		if n := s.Aside(); n > 0 {
			fmt.Fprintf(c.ErrOrStderr(), "warning: stream %s: %s records set aside: %s late, %s from the future, %s unreadable", s.Name,
				grouped(n), grouped(s.Late), grouped(s.Future), grouped(s.Errors))
			if s.First != "" {
				fmt.Fprintf(c.ErrOrStderr(), "; the first: %s", s.First)
			}
			fmt.Fprintln(c.ErrOrStderr())
		}
	}
	if r.Complete() {
		return nil
	}
	var errs []error
	for _, s := range r.Streams {
		if s.End != connect.EndEOF {
			errs = append(errs, fmt.Errorf("stream %s did not end properly: %s: %s; the outputs hold what was read", s.Name, s.End, s.Detail))
		}
	}
	return &codeError{code: exitFailed, err: errors.Join(errs...)}
}

func runToJSON(r *local.Report) runJSON {
	out := runJSON{Query: r.Query, Streams: make(map[string]streamJSON), Outputs: make(map[string]outputJSON),
		Nulled: nulledJSON{r.DivByZero, r.Overflow}, WallS: r.Wall.Seconds(), CPUS: cpuSeconds()}
	rows := uint64(0)
	for _, s := range r.Streams {
		rows += s.Rows
		out.Streams[s.Name] = streamJSON{RowsIn: s.Rows, Late: s.Late, Future: s.Future, Errors: s.Errors, Reasons: s.Reasons, End: string(s.End), Detail: s.Detail,
			LatePath: s.LatePath, ErrorsPath: s.ErrorsPath}
	}
	for _, o := range r.Outputs {
		out.Outputs[o.Name] = outputJSON{RowsOut: o.Rows, Path: o.Target}
	}
	out.RowsPerS = float64(rows) / max(r.Wall.Seconds(), 1e-9)
	return out
}

// summarise tells people on standard error: standard output may be the result.
func summarise(w io.Writer, r *local.Report) {
	rows := uint64(0)
	for _, s := range r.Streams {
		rows += s.Rows
		fmt.Fprintf(w, "read   %-20s %12s rows\n", s.Name, grouped(s.Rows))
	}
	for _, o := range r.Outputs {
		fmt.Fprintf(w, "wrote  %-20s %12s rows  %s\n", o.Name, grouped(o.Rows), o.Target)
	}
	if r.DivByZero+r.Overflow > 0 {
		fmt.Fprintf(w, "null   %s values: %s divisions by zero, %s overflows\n", grouped(r.DivByZero+r.Overflow), grouped(r.DivByZero), grouped(r.Overflow))
	}
	fmt.Fprintf(w, "in     %.2f s, %s rows/s\n", r.Wall.Seconds(), grouped(uint64(float64(rows)/max(r.Wall.Seconds(), 1e-9))))
}

// cpuSeconds returns the processor time of this process.
func cpuSeconds() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}
