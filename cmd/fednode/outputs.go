package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"fednode/node/api"
)

// printOutputs shows whether the results of fragments are final, and if not what they lack.
func printOutputs(w io.Writer, query string, fragments []api.FragmentStatus, now time.Time) {
	t := table{head: []string{"  STREAM", "STATE", "FOR", "DELAY", "BOUND", "TENTATIVE", "CORRECTED IN", "MISSING"}}
	for i := range fragments {
		for k := range fragments[i].Outputs {
			o := &fragments[i].Outputs[k]
			t.add(cell{text: "  " + streamIn(query, o.Stream)}, outputStateCell(o), cell{text: strings.TrimPrefix(sinceText(o.Since, now), " for ")}, delayCell(o), boundCell(o),
				countCell(o.TentativeRows), redoCell(o), cell{text: missingText(query, o), tone: toneWarn})
		}
	}
	if len(t.rows) > 0 {
		t.print(w)
	}
}

func outputStateCell(o *api.OutputStatus) cell {
	c := cell{text: o.State, tone: toneGood}
	switch o.State {
	case "upstream_failure", "failure":
		c.tone = toneBad
	case "stabilization":
		c.tone = toneWarn
	case "starting", "ended":
		c.tone = toneDim
	}
	return c
}

// delayCell shows how old the last boundary was, and how long a bucket is held now.
func delayCell(o *api.OutputStatus) cell {
	c := cell{text: secondsText(max(0, o.Delay))}
	if o.Holding > 0 {
		c = cell{text: c.text + ", held " + secondsText(o.Holding), tone: toneWarn}
	}
	return c
}

func boundCell(o *api.OutputStatus) cell {
	if o.Bound == nil {
		return cell{text: "none", tone: toneDim}
	}
	return cell{text: secondsText(*o.Bound)}
}

func redoCell(o *api.OutputStatus) cell {
	if o.Anew.Phase != api.PhaseNone && o.Anew.Phase != api.PhaseFollowing {
		return cell{text: "not at all", tone: toneDim}
	}
	if o.Redo == 0 {
		return cell{text: "-", tone: toneDim}
	}
	if o.Redo < 1 {
		return cell{text: fmt.Sprintf("%.0fms", o.Redo*1000)}
	}
	return cell{text: secondsText(o.Redo)}
}

func missingText(query string, o *api.OutputStatus) string {
	var names []string
	for _, m := range o.Missing {
		names = append(names, streamIn(query, m.Stream))
	}
	return strings.Join(names, ", ")
}

// streamIn names a stream below a query: its own outputs and what its fragments give each other go without the query, and
// the only result of a fragment by the fragment's name.
func streamIn(query, stream string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(stream, query+"/"), query+".")
	if fragment, output, ok := strings.Cut(name, "."); ok && fragment == output {
		name = fragment
	}
	return clean(name)
}

// printSinks shows where results leave here, and whether what leaves is final, and below why those that have failed did so.
func printSinks(w io.Writer, sinks []api.SinkStatus, now time.Time) {
	var failures []string
	t := table{head: []string{"  OUTPUT", "STATE", "READ FROM", "ROWS", "LAST ID", "COMPLETE UNTIL"}}
	for i := range sinks {
		k := &sinks[i]
		t.add(cell{text: "  " + k.Output}, sinkCell(k, now), cell{text: clean(k.Producer)}, cell{text: grouped(k.Rows)}, cell{text: fmt.Sprint(k.At.ID)},
			cell{text: streamTimeText(k.At.Boundary)})
		if k.Failure != "" {
			failures = append(failures, "  "+k.Output+" has failed: "+clean(k.Failure))
		}
	}
	t.print(w)
	for _, f := range failures {
		fmt.Fprintln(w, f)
	}
}

// sinkCell says what a sink does. While results are tentative it delivers none, or such ones to a sink that marks them.
func sinkCell(k *api.SinkStatus, now time.Time) cell {
	switch {
	case k.Failure != "":
		return cell{text: "failed", tone: toneBad}
	case k.Done:
		return cell{text: "done", tone: toneGood}
	case !k.Connected:
		return cell{text: "waiting: " + clean(k.Cause), tone: toneWarn}
	}
	unsettled := map[string]string{
		"upstream_failure": "results are tentative", "stabilization": "results are being corrected", "failure": "the producer has failed", "starting": "no result yet",
	}[k.State]
	switch {
	case unsettled == "":
		return cell{text: "delivering", tone: toneGood}
	case k.Tentative > 0 && k.State == "upstream_failure":
		return cell{text: "delivering tentative rows" + sinceText(k.Since, now), tone: toneWarn}
	}
	return cell{text: "waiting: " + unsettled + sinceText(k.Since, now), tone: toneWarn}
}
