package topview

import (
	"strings"
	"time"

	"fednode/node/api"
)

func fragmentCell(f *api.FragmentStatus) cell {
	switch {
	case f.State != api.FragmentRunning:
		return cell{tidy(f.State), bad}
	case f.Failure != "":
		return cell{"stuck", bad}
	}
	return cell{f.State, good}
}

// stateText says since when results of a stream are not final; "" while they are.
func stateText(state string, since *time.Time, now time.Time) string {
	var text string
	switch state {
	case "upstream_failure":
		text = "tentative"
	case "stabilization":
		text = "being corrected"
	default:
		return ""
	}
	if since != nil {
		text += " for " + spanText(now.Sub(*since).Round(time.Second))
	}
	return text
}

// unsettledText says since when results of an output are not final, what they lack, how many there are, and how late they
// come; "" while they are final.
func unsettledText(query string, o *api.OutputStatus, now time.Time) string {
	text := stateText(o.State, o.Since, now)
	if text == "" {
		return ""
	}
	if len(o.Missing) > 0 {
		var names []string
		for _, m := range o.Missing {
			names = append(names, streamText(query, m.Stream))
		}
		text += " without " + strings.Join(names, " and ")
	}
	if o.TentativeRows > 0 {
		text += ", " + countText(float64(o.TentativeRows)) + " rows"
	}
	text += ", " + spanText(seconds(max(o.Delay, o.Holding)))
	if o.Bound != nil {
		text += " of " + spanText(seconds(*o.Bound))
	}
	return outputText(query, o.Stream) + ": " + text + " late" + anewText(&o.Anew)
}

// anewText says when results of best effort are stable again; "" of others.
func anewText(a *api.Anew) string {
	switch a.Phase {
	case api.PhaseConverging:
		return "; not corrected, stable from " + placeText(a.Begins, true) + " on"
	case api.PhaseLacking:
		return "; not corrected, stable " + spanText(seconds(a.Span)) + " after all is there until " + placeText(a.Needed, true)
	}
	return ""
}

// failureText says what is wrong with a fragment and when it is tried again.
func failureText(f *api.FragmentStatus, now time.Time) string {
	text := tidy(f.Failure)
	if f.NextTry != nil {
		text = "tried again in " + spanText(f.NextTry.Sub(now).Round(time.Second)) + ": " + text
	}
	return text
}

// front is the largest boundary of a fragment's inputs; NoTime if none of them has come anywhere or all have ended.
func front(f *api.FragmentStatus) api.StreamTime {
	at := api.NoTime
	for i := range f.Inputs {
		if b := f.Inputs[i].Boundary; b != api.EndTime {
			at = max(at, b)
		}
	}
	return at
}

// heldBy names the input that keeps the fragment from going on: one that is cut off, else the one whose boundary is
// lowest. It is empty while all inputs are equal.
func heldBy(query string, f *api.FragmentStatus) (c cell, cut bool) {
	low, high := -1, -1
	for i := range f.Inputs {
		in := &f.Inputs[i]
		if !in.Connected {
			return cell{streamText(query, in.Stream), warn}, true
		}
		if low < 0 || in.Boundary < f.Inputs[low].Boundary {
			low = i
		}
		if high < 0 || in.Boundary > f.Inputs[high].Boundary {
			high = i
		}
	}
	if low < 0 || f.Inputs[low].Boundary == f.Inputs[high].Boundary {
		return cell{}, false
	}
	return cell{streamText(query, f.Inputs[low].Stream), plain}, false
}

// streamText prints the name of a stream; one between the query's own fragments goes without the query, and the only result
// of a fragment by the fragment's name.
func streamText(query, stream string) string {
	name := strings.TrimPrefix(stream, query+".")
	if fragment, output, ok := strings.Cut(name, "."); ok && fragment == output {
		name = fragment
	}
	return tidy(name)
}

// outputText prints the name of a fragment's output: the query's own stand without the query.
func outputText(query, stream string) string {
	return streamText(query, strings.TrimPrefix(stream, query+"/"))
}

// causeText says why an input is cut off; the line says of which stream already.
func causeText(in *api.InputStatus) string {
	return tidy(strings.TrimPrefix(in.Cause, "stream "+in.Stream+": "))
}

// fullest shows the output buffer of a fragment that has least room left.
func fullest(f *api.FragmentStatus, cells int) cell {
	most := -1
	for i := range f.Outputs {
		if f.Outputs[i].Limit > 0 && (most < 0 || fill(&f.Outputs[i]) > fill(&f.Outputs[most])) {
			most = i
		}
	}
	if most < 0 {
		return cell{unknown, dim}
	}
	return bar(f.Outputs[most].Bytes, f.Outputs[most].Limit, cells)
}

func fill(o *api.OutputStatus) float64 { return float64(o.Bytes) / float64(o.Limit) }
