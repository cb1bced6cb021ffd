package topview

import "fednode/node/api"

// sources is the table of streams where data enters: the node's own, then those that queries declare.
func (v *view) sources() *grid {
	g := &grid{columns: []column{
		{title: "SOURCE", min: 12, shrink: true},
		{title: "STATE", min: 9},
		{title: "ROWS/S", right: true, min: 6},
		{title: "LATE/S", right: true, min: 6},
		{title: "SET ASIDE", right: true, drop: 1},
		{title: "COMPLETE", min: 8, drop: 3},
		{title: "LAG", right: true, min: 7},
		{title: "LOG", right: true, min: 8},
	}}
	if v.wide {
		g.columns = append(g.columns, column{title: "OF LIMIT", drop: 5})
	}
	s := &v.Current.Status
	for i := range s.Sources {
		v.source(g, "", &s.Sources[i])
	}
	for i := range s.Queries {
		for j := range s.Queries[i].Sources {
			v.source(g, s.Queries[i].ID, &s.Queries[i].Sources[j])
		}
	}
	if len(g.rows) == 0 {
		g.note(2, cell{"none: a stream enters here by a [streams.NAME] section of node.toml or of a query", dim})
	}
	return g
}

func (v *view) source(g *grid, query string, s *api.SourceStatus) {
	state := conditionCell(s)
	rows := rateCell(v.past.rate(counter{sourceRows, query, "", s.Stream}, s.Rows))
	late := rateCell(v.past.rate(counter{sourceLate, query, "", s.Stream}, s.Late))
	full := bar(s.LogBytes, s.LogLimitBytes, v.barCells())
	r := row{trouble: state.tone == bad, cells: []cell{
		{tidy(s.Stream), plain}, state, rows, lossCell(late), lossCell(totalCell(s.Future + s.Errors)),
		{placeText(s.Head.Boundary, !v.wide), plain}, lagCell(s.High, s.Head.Boundary), {bytesText(s.LogBytes), full.tone},
	}}
	if v.wide {
		r.cells = append(r.cells, full)
	}
	g.add(r)
	switch {
	case s.Failure != "":
		g.note(2, cell{tidy(s.Failure), bad})
	case s.Detail != "" && state.tone != good:
		g.note(2, cell{tidy(s.Detail), state.tone})
	}
}

// conditionCell shows how a source stands.
func conditionCell(s *api.SourceStatus) cell {
	if s.Failure != "" {
		return cell{"failed", bad}
	}
	c := cell{tidy(s.Condition), good}
	switch s.Condition {
	case "behind":
		c.tone = warn
	case "ended":
		c.tone = dim
	case "disconnected":
		c.tone = bad
	}
	return c
}
