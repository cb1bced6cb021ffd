package topview

import (
	"fmt"

	"fednode/node/api"
)

func (v *view) inputs(query string, f *api.FragmentStatus) *grid {
	g := &grid{columns: []column{
		{title: "  INPUT", min: 14, shrink: true},
		{title: "STATE", min: 7},
		{title: "ROWS/S", right: true, min: 6},
		{title: "COMPLETE", min: 8},
		{title: "LAG", right: true, min: 7},
		{title: "WAITING", right: true},
		{title: "READ FROM", min: 8, shrink: true},
	}}
	at := front(f)
	for i := range f.Inputs {
		in := &f.Inputs[i]
		state := cell{"reading", good}
		switch {
		case !in.Connected:
			state = cell{"cut off", bad}
		case in.Boundary == api.EndTime:
			state = cell{"ended", dim}
		case in.Held:
			state = cell{"held", warn}
		}
		g.add(row{cells: []cell{{"  " + streamText(query, in.Stream), plain}, state, rateCell(v.past.rate(counter{inputRows, query, f.Name, in.Stream}, in.Rows)),
			{placeText(in.Boundary, !v.wide), plain}, lagCell(at, in.Boundary), totalCell(uint64(max(0, in.Waiting))), {tidy(in.Producer), plain}}})
		switch {
		case !in.Connected && in.Cause != "":
			g.note(4, cell{causeText(in), bad})
		case in.Tentative:
			g.note(4, cell{"tentative, from " + tidy(in.Producer), warn})
		}
	}
	return g
}

func (v *view) operators(query string, f *api.FragmentStatus) *grid {
	g := &grid{columns: []column{
		{title: "  OPERATOR", min: 14, shrink: true},
		{title: "KIND", min: 7},
		{title: "IN/S", right: true, min: 6},
		{title: "OUT/S", right: true, min: 6},
		{title: "LAG", right: true, min: 7},
		{title: "MEMORY", right: true, min: 8},
		{title: "DROPPED", right: true, drop: 1},
		{title: "HELD BACK BY", min: 8, shrink: true, drop: 2},
	}}
	for i := range f.Operators {
		o := &f.Operators[i]
		g.add(row{cells: []cell{{"  " + tidy(o.Name), plain}, {tidy(o.Kind), dim},
			rateCell(v.past.rate(counter{operatorIn, query, f.Name, o.Name}, o.RowsIn)),
			rateCell(v.past.rate(counter{operatorOut, query, f.Name, o.Name}, o.RowsOut)),
			{spanText(seconds(o.Lag)), plain}, {bytesText(o.StateBytes), plain}, lossCell(totalCell(o.Dropped)), {streamText(query, o.HeldBy), plain}}})
		if o.DivByZero+o.Overflow > 0 {
			g.note(4, cell{fmt.Sprintf("%d divisions by zero and %d overflows gave null", o.DivByZero, o.Overflow), warn})
		}
	}
	return g
}

func (v *view) outputs(query string, f *api.FragmentStatus) *grid {
	g := &grid{columns: []column{
		{title: "  OUTPUT", min: 14, shrink: true},
		{title: "STATE", min: 8},
		{title: "COMPLETE", min: 8},
		{title: "DELAY", right: true, min: 6},
		{title: "TENTATIVE", right: true, drop: 1},
		{title: "CORRECTED IN", right: true, drop: 3},
		{title: "BUFFER", min: 10},
		{title: "HELD", right: true, min: 8, drop: 4},
		{title: "SLOWEST READER", min: 10, shrink: true, drop: 2},
	}}
	for i := range f.Outputs {
		o := &f.Outputs[i]
		g.add(row{cells: []cell{{"  " + outputText(query, o.Stream), plain}, outputCell(o), {placeText(o.Head.Boundary, !v.wide), plain},
			ageCell(o), lossCell(totalCell(o.TentativeRows)), redoCell(o), bar(o.Bytes, o.Limit, v.barCells()), {bytesText(o.Bytes), plain}, slowest(o)}})
	}
	return g
}

// redoCell shows how long the last correction took.
func redoCell(o *api.OutputStatus) cell {
	if o.Redo == 0 {
		return cell{unknown, dim}
	}
	return cell{spanText(seconds(o.Redo)), plain}
}

// ageCell shows how old the last boundary was when it was given, beside what the query accepts, and stands out beyond half
// of that.
func ageCell(o *api.OutputStatus) cell {
	c := cell{spanText(seconds(o.Delay)), plain}
	if o.Bound != nil {
		c.text += " of " + spanText(seconds(*o.Bound))
	}
	if o.Bound != nil && o.Delay > *o.Bound/2 {
		c.tone = warn
	}
	return c
}

func outputCell(o *api.OutputStatus) cell {
	c := cell{tidy(o.State), good}
	switch o.State {
	case "failure", "upstream_failure":
		c.tone = bad
	case "stabilization":
		c.tone = warn
	case "starting", "ended":
		c.tone = dim
	}
	return c
}

// slowest names the subscriber who has acknowledged least, of those that are waited for, and how far that is behind the
// stream's head.
func slowest(o *api.OutputStatus) cell {
	var least *api.Subscriber
	for i := range o.Subscribers {
		s := &o.Subscribers[i]
		if s.Lapsed == nil && (least == nil || s.Acknowledged.Boundary < least.Acknowledged.Boundary) {
			least = s
		}
	}
	if least == nil {
		for i := range o.Subscribers {
			return cell{tidy(o.Subscribers[i].Name) + " has lapsed", warn}
		}
		return cell{"nobody reads", dim}
	}
	return cell{tidy(least.Name) + " " + lagCell(o.Head.Boundary, least.Acknowledged.Boundary).text, plain}
}

func (v *view) sinkDetails(q *api.QueryStatus, p *painter) []string {
	g := &grid{columns: []column{
		{title: "SINK", min: 14, shrink: true},
		{title: "STATE", min: 7},
		{title: "ROWS/S", right: true, min: 6},
		{title: "ROWS", right: true, min: 6},
		{title: "GAPS", right: true},
		{title: "TAKEN UNTIL", min: 8},
		{title: "DURABLE UNTIL", min: 8, drop: 1},
	}}
	for i := range q.Sinks {
		k := &q.Sinks[i]
		state, why := sinkCell(k, v.Current.At)
		g.add(row{cells: []cell{{tidy(k.Output), plain}, state, rateCell(v.past.rate(counter{sinkRows, q.ID, "", k.Output}, k.Rows)), totalCell(k.Rows),
			lossCell(totalCell(k.Gaps)), {placeText(k.At.Boundary, !v.wide), plain}, {placeText(k.Committed.Boundary, !v.wide), plain}}})
		if why != "" {
			g.note(2, cell{why, state.tone})
		}
	}
	return g.draw(v.Width, p).lines()
}
