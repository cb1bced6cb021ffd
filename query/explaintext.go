package query

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// textWidth is the width that the text form folds long lists at.
const textWidth = 100

// Text draws the explanation for a terminal.
func (e *Explanation) Text() string {
	w := &textWriter{}
	w.line("query %s", e.Query)
	if e.Description != "" {
		w.item("about", e.Description)
	}
	w.item("delay", fmt.Sprintf("max_delay %s (smallest sensible %s), failure %s, stabilization %s, %s", e.MaxDelay, e.MinDelay, e.Failure,
		e.Stabilization, e.Consistency))
	if e.Redo == string(RedoUndo) {
		w.item("redo", "undo: new results wait while a replica redoes")
	}
	if e.Consistency == string(BestEffort) {
		w.item("behind a failure", "results stay tentative until they depend on nothing that it kept away, "+e.BeginsAfter+" of stream time after it at least; no corrections")
	}
	if e.OnFull == string(Converge) {
		w.item("when full", "converge: results older than "+e.CorrectWindow+" are given up")
	}
	w.item("shape", fmt.Sprintf("%s, %s, %s, %s on the longest path, bucket %s, %s", count(len(e.Streams), "stream"),
		count(len(e.Fragments), "fragment"), count(len(e.Outputs), "output"), count(e.Depth, "SUnion"), e.Bucket, e.Convergence))
	w.item("hash", e.Hash)
	for _, s := range e.Streams {
		w.blank()
		w.line("stream %s", s.Name)
		w.item("from", fmt.Sprintf("%s at %s, as %s", s.Connector, s.Place, s.Stream))
		lag := ""
		if s.Lag != "" {
			lag = ", lag " + s.Lag
		}
		w.item("time", fmt.Sprintf("%s, slack %s%s, late rows: %s, idle: %s", s.Time, s.Slack, lag, s.Late, s.Idle))
		w.list("columns", s.Columns)
	}
	for i := range e.Fragments {
		w.fragment(&e.Fragments[i])
	}
	for _, o := range e.Outputs {
		w.blank()
		w.line("output %s", o.Name)
		w.item("to", fmt.Sprintf("%s at %s", o.Connector, o.Place))
		w.item("reads", o.Stream)
		w.list("columns", o.Columns)
		w.item("needs", needsText(o))
	}
	if len(e.Views) > 0 {
		w.blank()
		w.line("who sees what")
		for _, v := range e.Views {
			w.item(orHere(v.Org), v.Stream+": "+strings.Join(v.Columns, ", "))
			if len(v.Unused) > 0 {
				w.item("", "of which nobody there reads "+strings.Join(v.Unused, ", "))
			}
		}
	}
	if len(e.Fragments) > 0 {
		w.blank()
		w.line("load is an estimate: 1 is a filter's work on one row, where every stream gives one row")
	}
	return w.b.String()
}

// needsText says which streams the output cannot do without.
func needsText(o ExplainedOutput) string {
	if len(o.Needs) == len(o.Uses) {
		return strings.Join(o.Needs, ", ")
	}
	if len(o.Needs) == 0 {
		return "any of " + strings.Join(o.Uses, ", ")
	}
	return strings.Join(o.Needs, ", ") + "; goes on with less of " + strings.Join(o.Uses, ", ")
}

func orHere(org string) string {
	if org == "" {
		return "here"
	}
	return org
}

// textWriter writes lines of a label and a text.
type textWriter struct{ b strings.Builder }

func (w *textWriter) blank() { w.b.WriteByte('\n') }

func (w *textWriter) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

// item writes a label and a text, folded between words.
func (w *textWriter) item(label, text string) { w.fold("  ", label, strings.Split(text, " "), " ") }

// list writes a label and a list, folded between its entries.
func (w *textWriter) list(label string, entries []string) {
	parts := make([]string, len(entries))
	for i, e := range entries {
		parts[i] = e
		if i < len(entries)-1 {
			parts[i] += ","
		}
	}
	w.fold("  ", label, parts, " ")
}

// fold writes words behind a label, beginning a new line under the first word when one is full.
func (w *textWriter) fold(indent, label string, words []string, sep string) {
	const labelWidth = 9
	head := indent + fmt.Sprintf("%-*s", labelWidth, label) + " "
	width := utf8.RuneCountInString(head)
	line, at := head, 0
	for _, word := range words {
		n := utf8.RuneCountInString(word)
		if at > 0 && width+at+len(sep)+n > textWidth {
			w.b.WriteString(strings.TrimRight(line, " ") + "\n")
			line, at = indent+strings.Repeat(" ", width-utf8.RuneCountInString(indent)), 0
		}
		if at > 0 {
			line += sep
			at += len(sep)
		}
		line += word
		at += n
	}
	w.b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// fragment draws a fragment: what comes in, its operators from top to bottom, what goes out.
func (w *textWriter) fragment(f *ExplainedFragment) {
	w.blank()
	origin := "default cut"
	if f.Declared {
		origin = "declared"
	}
	w.line("fragment %s at %s (%s, %s, load %g)", f.Name, f.Place, origin, count(f.Replicas, "replica"), f.Load)
	for _, u := range f.Unions {
		w.b.WriteString("  │\n")
		order := "ordered"
		if u.Unordered {
			order = "unordered"
		}
		label := "SUnion"
		if u.Replaces != "" {
			label = "SUnion " + u.Replaces
		}
		w.line("  ▼ %s %d of %d, %s: %s", label, u.Depth, u.Path, order, strings.Join(u.Inputs, ", "))
		w.targets(u.Targets)
	}
	for i := range f.Operators {
		w.operator(&f.Operators[i])
	}
	for _, o := range f.Outputs {
		w.b.WriteString("  │\n")
		w.line("  ▼ SOutput %s: %s", o.Stream, o.From)
	}
}

// operator draws one operator.
func (w *textWriter) operator(o *ExplainedOperator) {
	w.b.WriteString("  │\n")
	w.line("  ■ %s: %s of %s", o.Name, o.Kind, strings.Join(o.Inputs, ", "))
	w.fold("  │   ", "does", strings.Split(o.Detail, " "), " ")
	for _, p := range o.Ports {
		label := "gives"
		if p.Name != "" {
			label = "." + p.Name
		}
		w.fold("  │   ", label, strings.Split(strings.Join(p.Columns, ", "), " "), " ")
		w.targets(p.Targets)
	}
	state := o.describeState()
	if o.Blocking {
		state += "; yields nothing without one of its inputs"
	}
	w.fold("  │   ", "state", strings.Split(state, " "), " ")
	w.fold("  │   ", "load", []string{fmt.Sprintf("%g", o.Load)}, " ")
}

// targets draws where rows go next.
func (w *textWriter) targets(names []string) {
	if len(names) == 0 {
		names = []string{"nobody"}
	}
	w.fold("  │   ", "→", strings.Split(strings.Join(names, ", "), " "), " ")
}

// count prints a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
