package main

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fednode/cmd/fednode/internal/topview"
	"fednode/node/api"
)

func whyCommand() *cobra.Command {
	c := &cobra.Command{Use: "why", Short: "Say why something is as it is"}
	c.AddCommand(whyTentativeCommand())
	return c
}

func whyTentativeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "tentative QUERY",
		Short: "Say which missing inputs make results of a query tentative, since when, and what each hop waited",
		Long: `Say which missing inputs make results of a query tentative, since when, and what each hop waited: from the fragments
that run at the node asked, and from what its peers' heartbeats say of the streams that they produce. Where a missing
input comes from a fragment elsewhere, the answer names the node to ask next. The exit code is 0 whether or not results
are tentative; 1 if the node does not know the query.`,
		Example: "  fednode why tentative netmon --dir fednode-north",
		Args:    exactArgs(1),
	}
	clientFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		cl, err := newClient(c)
		if err != nil {
			return err
		}
		defer cl.Close()
		var q api.QueryDetail
		if err := cl.get(c.Context(), "/api/v1/queries/"+url.PathEscape(args[0]), &q); err != nil {
			return err
		}
		var offers []api.Offer
		if err := cl.get(c.Context(), "/api/v1/catalog", &offers); err != nil {
			return err
		}
		a := explainTentative(&q.QueryStatus, offers)
		if jsonWanted(c) {
			return printJSON(c, a)
		}
		a.print(c.OutOrStdout(), time.Now())
		return nil
	}
	return c
}

// tentativeAnswer says which outputs of a query are not final, as far as one node knows.
type tentativeAnswer struct {
	Query     string         `json:"query"`
	Here      bool           `json:"here"` // a fragment of it runs at the node asked
	Tentative bool           `json:"tentative"`
	Hops      []tentativeHop `json:"hops"`
	// Sinks are the outputs that leave here while they are not final.
	Sinks  []tentativeSink  `json:"sinks"`
	RunsAt []api.Assignment `json:"runs_at"`
	// Left are the outputs of best effort that are stable now and have left tentative results as they were.
	Left []leftOutput `json:"left"`
}

// leftOutput is an output that has begun anew.
type leftOutput struct {
	Stream string   `json:"stream"`
	Anew   api.Anew `json:"anew"`
}

// tentativeHop is one output that is not stable, of a fragment that runs here. Those nearest to the client come first.
type tentativeHop struct {
	Fragment      string         `json:"fragment"`
	Stream        string         `json:"stream"`
	State         string         `json:"state"`
	Since         *time.Time     `json:"since"`
	TentativeRows uint64         `json:"tentative_rows"`
	Waited        float64        `json:"waited_s"` // by the last bucket, on its whole way
	Holding       float64        `json:"holding_s"`
	Bound         *float64       `json:"bound_s"`
	Missing       []missingCause `json:"missing"`
	// CannotCatchUp: the corrections do not gain on the input.
	CannotCatchUp bool `json:"cannot_catch_up"`
	// Anew is when results of best effort are stable again, with no phase of others.
	Anew api.Anew `json:"anew"`
}

// tentativeSink is an output that leaves at the node asked.
type tentativeSink struct {
	Output   string     `json:"output"`
	State    string     `json:"state"` // as its producer says
	Since    *time.Time `json:"since"`
	Producer string     `json:"producer"`
}

// missingCause is a missing input with what is known of its producers.
type missingCause struct {
	Stream    string         `json:"stream"`
	Since     api.StreamTime `json:"since"`
	Condition string         `json:"condition"`
	Cause     string         `json:"cause"`
	// Producers are the states that its producers report, "" where nobody says anything; Ask are the nodes to ask next.
	Producers []string `json:"producers"`
	Ask       []string `json:"ask"`
	// Diverged are producers that are not read from because they gave other rows than another one.
	Diverged []string `json:"diverged"`
}

// unsettled are the states in which results are not final.
func unsettled(state string) bool {
	return state == "upstream_failure" || state == "stabilization" || state == "failure"
}

// explainTentative gathers what a node knows.
func explainTentative(q *api.QueryStatus, offers []api.Offer) *tentativeAnswer {
	a := &tentativeAnswer{Query: q.ID, Here: q.Here && len(q.Fragments) > 0, Hops: []tentativeHop{}, Sinks: []tentativeSink{}, RunsAt: q.Assignments, Left: []leftOutput{}}
	for i := range q.Sinks {
		if k := &q.Sinks[i]; unsettled(k.State) {
			a.Tentative = true
			a.Sinks = append(a.Sinks, tentativeSink{Output: k.Output, State: k.State, Since: k.Since, Producer: k.Producer})
		}
	}
	for i := range q.Fragments {
		f := &q.Fragments[i]
		for k := range f.Outputs {
			o := &f.Outputs[k]
			if !unsettled(o.State) {
				if leftText(&o.Anew) != "" {
					a.Left = append(a.Left, leftOutput{Stream: o.Stream, Anew: o.Anew})
				}
				continue
			}
			a.Tentative = true
			hop := tentativeHop{Fragment: f.Name, Stream: o.Stream, State: o.State, Since: o.Since, TentativeRows: o.TentativeRows,
				Waited: o.Delay, Holding: o.Holding, Bound: o.Bound, Missing: []missingCause{}, CannotCatchUp: f.CannotCatchUp, Anew: o.Anew}
			for _, m := range o.Missing {
				hop.Missing = append(hop.Missing, causeOf(q, f, m, offers))
			}
			a.Hops = append(a.Hops, hop)
		}
	}
	slices.Reverse(a.Hops) // fragments come in the order of the flow
	return a
}

func causeOf(q *api.QueryStatus, f *api.FragmentStatus, m api.MissingInput, offers []api.Offer) missingCause {
	c := missingCause{Stream: m.Stream, Since: m.Since, Producers: []string{}, Ask: []string{}, Diverged: []string{}}
	for _, in := range f.Inputs {
		if in.Stream == m.Stream {
			c.Condition, c.Cause = in.Condition, in.Cause
			c.Diverged = append(c.Diverged, in.Diverged...)
		}
	}
	for _, o := range offers {
		if o.Stream == m.Stream {
			c.Producers = append(c.Producers, o.State)
		}
	}
	fragment, ours := strings.CutPrefix(m.Stream, q.ID+".")
	fragment, _, _ = strings.Cut(fragment, ".")
	for _, at := range q.Assignments {
		if ours && at.Fragment == fragment {
			c.Ask = append(c.Ask, at.Org+"/"+at.Node)
		}
	}
	return c
}

// print shows the answer to a person.
func (a *tentativeAnswer) print(w io.Writer, now time.Time) {
	pal := paletteOf(w)
	for i := range a.Sinks {
		k := &a.Sinks[i]
		fmt.Fprintf(w, "output %s  %s%s at %s, from which it is read\n", pal.paint(toneBold, clean(k.Output)), pal.paint(toneBad, k.State), sinceText(k.Since, now), clean(k.Producer))
	}
	switch {
	case !a.Here:
		fmt.Fprintf(w, "no fragment of query %s runs at this node; ask one of those below with --dir or --node\n", a.Query)
		printAssignments(w, "", a.RunsAt)
		return
	case !a.Tentative:
		fmt.Fprintf(w, "query %s: no output of a fragment here is tentative\n", a.Query)
	}
	for _, l := range a.Left {
		fmt.Fprintf(w, "%s  %s\n", pal.paint(toneBold, clean(l.Stream)), leftText(&l.Anew))
	}
	for i := range a.Hops {
		h := &a.Hops[i]
		fmt.Fprintf(w, "%s  %s%s, %s tentative rows\n", pal.paint(toneBold, h.Stream), pal.paint(toneBad, h.State), sinceText(h.Since, now), grouped(h.TentativeRows))
		fmt.Fprintf(w, "  fragment %s: the last bucket was %s old%s", h.Fragment, secondsText(h.Waited), boundText(h.Bound))
		if h.Holding > 0 {
			fmt.Fprintf(w, "; one is held, %s late", secondsText(h.Holding))
		}
		fmt.Fprintln(w)
		if h.CannotCatchUp {
			fmt.Fprintf(w, "  %s\n", pal.paint(toneBad, topview.CannotCatchUp))
		}
		for _, m := range h.Missing {
			m.print(w, pal, a.Query)
		}
		h.printAnew(w, pal)
	}
}

// printAnew says of results of best effort when they are stable again, and what has been left before.
func (h *tentativeHop) printAnew(w io.Writer, pal palette) {
	if text := anewText(&h.Anew); text != "" {
		fmt.Fprintf(w, "  best effort: what is tentative is not corrected; %s\n", pal.paint(toneWarn, text))
	}
	if text := leftText(&h.Anew); text != "" {
		fmt.Fprintf(w, "  it %s\n", text)
	}
}

func (m *missingCause) print(w io.Writer, pal palette, query string) {
	fmt.Fprintf(w, "  missing %s from %s on", pal.paint(toneWarn, clean(m.Stream)), streamTimeText(m.Since))
	sep := ": "
	for _, known := range []string{m.Condition, m.Cause} {
		if known != "" {
			fmt.Fprint(w, sep, clean(known))
			sep = ", "
		}
	}
	fmt.Fprintln(w)
	if len(m.Producers) > 0 {
		fmt.Fprintf(w, "    its producers say: %s\n", strings.Join(m.Producers, ", "))
	}
	for _, d := range m.Diverged {
		fmt.Fprintf(w, "    %s is %s: it gave other rows than another replica; if that one is gone for good: %s\n", clean(d), pal.paint(toneBad, "DIVERGED"), acceptCall(query, d))
	}
	if len(m.Ask) > 0 {
		fmt.Fprintf(w, "    it is made at %s; ask there next\n", strings.Join(m.Ask, ", "))
	}
}

func sinceText(since *time.Time, now time.Time) string {
	if since == nil {
		return ""
	}
	return " for " + shortDuration(now.Sub(*since))
}

func boundText(bound *float64) string {
	if bound == nil {
		return ""
	}
	return " (max_delay " + secondsText(*bound) + " beyond the normal)"
}

// secondsText prints seconds.
func secondsText(s float64) string { return fmt.Sprintf("%.1fs", s) }
