package query

import (
	"fednode/query/op"
	"fednode/query/tuple"
)

// Span is how far back in its input what the fragment makes depends on it, in microseconds of stime: its operators one behind the
// other, on the longest way. ok is false if there is no such limit.
func (f *FragmentPlan) Span() (span int64, ok bool) {
	far := make([]int64, len(f.Operators)) // behind and with each operator
	for n := len(f.Operators) - 1; n >= 0; n-- {
		o := &f.Operators[n]
		if o.Plan.Convergence == op.Divergent || o.Plan.Span < 0 {
			return 0, false
		}
		for _, port := range o.to {
			for _, t := range port {
				if t.operator >= 0 {
					far[n] = max(far[n], far[t.operator])
				}
			}
		}
		far[n] += o.Plan.Span
		if span = max(span, far[n]); span > 366*100*tuple.Day {
			return 0, false
		}
	}
	return span, true
}

// span is that of the fragments one behind the other, on the longest way; -1 if there is none.
func (p *Plan) span() int64 {
	far, most := make(map[string]int64), int64(0)
	for _, f := range p.Fragments {
		own, ok := f.Span()
		if !ok {
			return -1
		}
		before := int64(0)
		for _, in := range f.Inputs {
			before = max(before, far[in.Fragment])
		}
		far[f.Name] = before + own
		most = max(most, far[f.Name])
	}
	return most
}

// checkBestEffort refuses best effort where results would never be right again behind a failure, or never be tentative.
func (b *builder) checkBestEffort() {
	s := &b.d.Settings
	if s.Consistency != BestEffort {
		return
	}
	for _, o := range b.d.Operators {
		if o.Plan.Convergence == op.Divergent || o.Plan.Span < 0 {
			b.p.Add(s.consistencyPos, "query.consistency", `write consistency = "eventual"`,
				"with `best-effort` what a failure keeps away is not made up for, and the state of operator `%s`, %s, depends on all rows that ever came", o.Name, o.Plan.Kind)
		}
	}
}
