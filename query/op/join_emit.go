package op

func (j *join) emit(out Out) error {
	j.counters.RowsOut += uint64(len(j.events))
	for rest := j.events; len(rest) > 0; {
		part := rest[:min(len(rest), assemblyStep)]
		rest = rest[len(part):]
		for i, from := range j.d.layout.sources {
			at := i
			if j.computed != nil {
				at = j.d.layout.pairCol[i]
			}
			j.gather(j.rows, at, from, part)
		}
		for _, e := range part {
			j.rows.b.Time = append(j.rows.b.Time, e.time)
		}
		if len(rest) > 0 && !j.rows.full() {
			continue
		}
		if err := j.flush(out); err != nil {
			return err
		}
	}
	return nil
}

// flush emits the gathered rows, or what is computed from them.
func (j *join) flush(out Out) error {
	if j.computed == nil {
		return j.rows.flush(0, out)
	}
	err := out.Batch(0, j.computed.apply(j.rows.batch()))
	j.rows.clear()
	return err
}

// gather adds a column of the sides for each event to column at of an assembly.
func (j *join) gather(a *assembly, at int, from sideColumn, events []joinEvent) {
	for i := 0; i < len(events); {
		side, pos := from.pick(events[i], 0)
		if pos == none {
			if from.key < 0 {
				a.null(at)
				i++
				continue
			}
			side, pos = from.pick(events[i], 1)
		}
		column := from.column
		if from.key >= 0 {
			column = j.d.keys[side][from.key]
		}
		log := j.sides[side].log
		b, row := log.at(pos)
		a.sel = append(a.sel[:0], uint32(row))
		// As many further rows as lie in the same chunk of the same side are taken at once.
		start := pos - int64(row)
		for i++; i < len(events); i++ {
			s, p := from.pick(events[i], side-from.side)
			if s != side || p == none || p < start || p >= start+chunkRows {
				break
			}
			if side != from.side && events[i].at(from.side) != none {
				break
			}
			a.sel = append(a.sel, uint32(p-start))
		}
		a.take(at, &b.Cols[column], a.sel)
	}
}

// at returns the position of a side's row.
func (e joinEvent) at(side int) int64 {
	if side == 0 {
		return e.left
	}
	return e.right
}

// pick returns the side that the column is read from and the row's position there: its own for turn 0, the other else.
func (c sideColumn) pick(e joinEvent, turn int) (side int, pos int64) {
	side = c.side
	if turn != 0 {
		side = 1 - side
	}
	return side, e.at(side)
}
