package topview

import (
	"fmt"

	"fednode/node/api"
	"fednode/query"
)

// CannotCatchUp is said of a fragment whose corrections take as long as new rows bring more of them.
const CannotCatchUp = "cannot catch up: add a replica"

// Overload says of a fragment of a query that it cannot correct what a failure leaves; "" if it can. lost: it is at it, and gains
// nothing.
func Overload(q *api.QueryStatus, f *api.FragmentStatus) (text string, lost bool) {
	switch {
	case f.CannotCatchUp:
		return CannotCatchUp, true
	case f.Load > query.MostLoad && replicasOf(q, f.Name) == 1 && corrects(f):
		return fmt.Sprintf("works %.0f %% of the time: above 50 %% with one replica corrections never end; add a replica", 100*f.Load), false
	}
	return "", false
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

// overloadCell is what Overload says; empty if it says nothing.
func overloadCell(q *api.QueryStatus, f *api.FragmentStatus) cell {
	text, lost := Overload(q, f)
	if lost {
		return cell{text, bad}
	}
	return cell{text, warn}
}
