package topview

import (
	"time"

	"fednode/node/api"
)

// queries is the table of queries with what of them runs here: fragments, then sinks.
func (v *view) queries() *grid {
	g := &grid{columns: []column{
		{title: "QUERY", min: 16, shrink: true},
		{title: "STATE", min: 7},
		{title: "ROWS/S", right: true, min: 6},
		{title: "COMPLETE", min: 8},
		{title: "LAG", right: true, min: 7},
		{title: "MEMORY", right: true, min: 8, drop: 2},
		{title: "BUFFER", min: 8, drop: 3},
		{title: "HELD BACK BY", min: 10, shrink: true},
	}}
	s := &v.Current.Status
	for i := range s.Queries {
		v.query(g, &s.Queries[i])
	}
	if len(g.rows) == 0 {
		g.note(2, cell{"none: start one with fednode query deploy FILE", dim})
	}
	return g
}

func (v *view) query(g *grid, q *api.QueryStatus) {
	cells := []cell{{v.marker(Key{Query: q.ID}) + tidy(q.ID), strong}, queryCell(q)}
	if !q.Here {
		cells = append(cells, cell{"no part of it here", dim})
	}
	if q.Home != "" {
		cells = append(cells, cell{"home " + tidy(q.Home), dim})
	}
	g.add(row{loose: true, cells: cells, trouble: q.Failure != "", selected: v.selected(Key{Query: q.ID})})
	if q.Failure != "" {
		g.note(4, cell{tidy(q.Failure), bad})
	}
	for i := range q.Fragments {
		v.fragment(g, q, &q.Fragments[i])
	}
	for i := range q.Sinks {
		v.sink(g, q.ID, &q.Sinks[i])
	}
}

func queryCell(q *api.QueryStatus) cell {
	switch {
	case q.Failure != "":
		return cell{"not as wanted", bad}
	case q.State == "running":
		return cell{"running", good}
	}
	return cell{tidy(q.State), dim}
}

// barCells is the length of a bar.
func (v *view) barCells() int {
	if v.wide {
		return 8
	}
	return 3
}

// marker stands before what can be selected.
func (v *view) marker(k Key) string {
	if v.selected(k) {
		return "▸ "
	}
	return "  "
}

func (v *view) selected(k Key) bool { return !v.Still && k == v.at }

func (v *view) fragment(g *grid, q *api.QueryStatus, f *api.FragmentStatus) {
	query := q.ID
	k := Key{Query: query, Fragment: f.Name}
	rows := rateCell(v.past.rate(counter{fragmentRows, query, f.Name, ""}, rowsIn(f)))
	held, cut := heldBy(query, f)
	state := fragmentCell(f)
	g.add(row{selected: v.selected(k), trouble: state.tone == bad || cut, cells: []cell{
		{v.marker(k) + "  " + tidy(f.Name), plain}, state, rows, {placeText(f.Released, !v.wide), plain}, lagCell(front(f), f.Released),
		{bytesText(f.StateBytes), plain}, fullest(f, v.barCells()), held,
	}})
	if f.Failure != "" {
		g.note(6, cell{failureText(f, v.Current.At), bad})
	}
	if over := overloadCell(q, f); over.text != "" {
		g.note(6, over)
	}
	for i := range f.Inputs {
		if in := &f.Inputs[i]; !in.Connected {
			g.note(6, cell{streamText(query, in.Stream) + " is cut off: " + causeText(in), warn})
		}
	}
	for i := range f.Outputs {
		if text := unsettledText(query, &f.Outputs[i], v.Current.At); text != "" {
			g.note(6, cell{text, warn})
		}
	}
}

func (v *view) sink(g *grid, query string, k *api.SinkStatus) {
	state, why := sinkCell(k, v.Current.At)
	rows := rateCell(v.past.rate(counter{sinkRows, query, "", k.Output}, k.Rows))
	g.add(row{trouble: state.tone == bad || state.tone == warn, cells: []cell{
		{"    → " + tidy(k.Output), plain}, state, rows, {placeText(k.At.Boundary, !v.wide), plain},
	}})
	if why != "" {
		g.note(6, cell{why, state.tone})
	}
}

// sinkCell shows how a sink stands, and says why if something is wrong, or what it is given is not final.
func sinkCell(k *api.SinkStatus, now time.Time) (state cell, why string) {
	switch {
	case k.Failure != "":
		return cell{"failed", bad}, tidy(k.Failure)
	case k.Done:
		return cell{"done", dim}, ""
	case !k.Connected:
		return cell{"waiting", warn}, tidy(k.Cause)
	}
	if text := stateText(k.State, k.Since, now); text != "" {
		return cell{"waiting", warn}, text + " at " + tidy(k.Producer)
	}
	return cell{"taking", good}, ""
}
