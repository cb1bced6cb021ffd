package main

import (
	"fmt"
	"io"

	"fednode/node/api"
)

// anewText says what has to happen before results of best effort are stable again; "" while they are, and of other queries.
func anewText(a *api.Anew) string {
	switch a.Phase {
	case api.PhaseLacking:
		return fmt.Sprintf("input is complete until %s, needed until %s; then stable again after %s", streamTimeText(a.Complete), streamTimeText(a.Needed), secondsText(a.Span))
	case api.PhaseConverging:
		return "input is complete again: stable from " + streamTimeText(a.Begins) + " on"
	case api.PhaseFollowing:
		return "another replica goes on with stable results; this one makes up for what it missed"
	}
	return ""
}

// leftText says what best effort has left as it was; "" if it has left nothing.
func leftText(a *api.Anew) string {
	if a.Times == 0 {
		return ""
	}
	times := "once"
	if a.Times > 1 {
		times = grouped(a.Times) + " times"
	}
	return fmt.Sprintf("has begun anew %s since the fragment started: results from %s to %s are not corrected: %s",
		times, streamTimeText(a.GapFrom), streamTimeText(a.GapTo), clean(a.Reason))
}

// printAnew shows below a query what its results of best effort wait for, and what they have left as it was.
func printAnew(w io.Writer, query string, fragments []api.FragmentStatus) {
	pal := paletteOf(w)
	for i := range fragments {
		for k := range fragments[i].Outputs {
			o := &fragments[i].Outputs[k]
			if text := anewText(&o.Anew); text != "" {
				fmt.Fprintf(w, "  %s: %s\n", streamIn(query, o.Stream), pal.paint(toneWarn, "best effort: "+text))
			}
			if text := leftText(&o.Anew); text != "" {
				fmt.Fprintf(w, "  %s: %s\n", streamIn(query, o.Stream), pal.paint(toneWarn, text))
			}
		}
	}
}
