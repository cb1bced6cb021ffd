package topview

import (
	"fmt"

	"fednode/node/api"
)

// details is the screen of the selected query or fragment.
func (f *Frame) details(p *painter) []string {
	v := f.view()
	if v.at == (Key{}) {
		return []string{p.flow(f.Width, cell{"no query is known here", dim})}
	}
	queries := f.Current.Status.Queries
	for i := range queries {
		if queries[i].ID == v.at.Query {
			return v.queryDetails(&queries[i], p)
		}
	}
	return nil
}

func (v *view) queryDetails(q *api.QueryStatus, p *painter) []string {
	out := []string{p.flow(v.Width, cell{"query " + tidy(q.ID), strong}, queryCell(q), cell{fmt.Sprintf("term %d epoch %d", q.Term, q.Epoch), plain},
		cell{"home " + tidy(q.Home), plain}, cell{delayText(q.MaxDelay), plain})}
	if q.Failure != "" {
		out = append(out, p.flow(v.Width, cell{"  " + tidy(q.Failure), bad}))
	}
	for _, a := range q.Assignments {
		if v.at.Fragment == "" || v.at.Fragment == a.Fragment {
			out = append(out, p.flow(v.Width, cell{"  " + tidy(a.Fragment) + " runs on " + tidy(a.Org+"/"+a.Node), dim}))
		}
	}
	for i := range q.Fragments {
		if f := &q.Fragments[i]; v.at.Fragment == "" || v.at.Fragment == f.Name {
			out = append(out, "")
			out = append(out, v.fragmentDetails(q, f, p)...)
		}
	}
	if v.at.Fragment == "" && len(q.Sinks) > 0 {
		out = append(out, "")
		out = append(out, v.sinkDetails(q, p)...)
	}
	return out
}

func delayText(maxDelay *float64) string {
	if maxDelay == nil {
		return "stable results only"
	}
	return "max delay " + seconds(*maxDelay).String()
}

func (v *view) fragmentDetails(q *api.QueryStatus, f *api.FragmentStatus, p *painter) []string {
	query := q.ID
	point := "none yet"
	if f.PointAt != nil {
		point = spanText(v.Current.At.Sub(*f.PointAt)) + " ago"
	}
	restarts := cell{tone: warn}
	if f.Restarts > 0 {
		restarts.text = fmt.Sprintf("restarts %d", f.Restarts)
	}
	out := []string{p.flow(v.Width, cell{"fragment " + tidy(f.Name), strong}, fragmentCell(f), restarts, cell{"recovery point " + point, plain},
		cell{"complete " + placeText(f.Released, false), plain})}
	if f.Failure != "" {
		out = append(out, p.flow(v.Width, cell{"  " + failureText(f, v.Current.At), bad}))
	}
	if over := overloadCell(q, f); over.text != "" {
		out = append(out, p.flow(v.Width, cell{"  " + over.text, over.tone}))
	}
	for i, g := range []*grid{v.inputs(query, f), v.operators(query, f), v.outputs(query, f)} {
		if len(g.rows) == 0 {
			continue
		}
		if i > 0 && v.Height >= airyFrom {
			out = append(out, "")
		}
		out = append(out, g.draw(v.Width, p).lines()...)
	}
	return out
}

// airyFrom is the height from which the tables of the details stand apart.
const airyFrom = 32
