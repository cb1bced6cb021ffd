package main

import (
	"fmt"
	"io"

	"fednode/node/api"
)

// cannotCatchUp is said of a fragment whose corrections take as long as new rows bring more of them.
const cannotCatchUp = "cannot catch up: add a replica"

// mostLoad is how much of its time a fragment without another replica may work: above half of it corrections never end, for
// new rows take the rest.
const mostLoad = 0.45

// printOverloads warns of fragments that cannot correct what a failure leaves.
func printOverloads(w io.Writer, q *api.QueryStatus) {
	pal := paletteOf(w)
	for i := range q.Fragments {
		f := &q.Fragments[i]
		switch {
		case f.CannotCatchUp:
			fmt.Fprintf(w, "  %s\n", pal.paint(toneBad, "fragment "+f.Name+" "+cannotCatchUp))
		case f.Load > mostLoad && replicasOf(q, f.Name) == 1 && corrects(f):
			fmt.Fprintf(w, "  %s\n", pal.paint(toneWarn, fmt.Sprintf("fragment %s works %.0f %% of the time: above 50 %% with one replica corrections never end; add a replica", f.Name, 100*f.Load)))
		}
	}
}

func replicasOf(q *api.QueryStatus, fragment string) (n int) {
	for _, a := range q.Assignments {
		if a.Fragment == fragment {
			n++
		}
	}
	return n
}

// corrects reports whether a fragment gives tentative results, which it has to correct: with best effort it does not.
func corrects(f *api.FragmentStatus) bool {
	for i := range f.Outputs {
		if o := &f.Outputs[i]; o.Bound != nil && o.Anew.Phase == api.PhaseNone {
			return true
		}
	}
	return false
}
