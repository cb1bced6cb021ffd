package query

import "math"

// The load of a diagram is estimated before anything has been measured, to compare fragments with each other. The unit
// is the work of a filter on one row; every source stream is taken to give one row. Both tables are rough: what runs is
// measured, and the measurement is what placement goes by.

// work returns the work of one row in an operator of a kind.
func work(kind string) float64 {
	switch kind {
	case "filter", "sample", "limit":
		return 1
	case "union", "router", "map":
		return 2
	case "top":
		return 3
	case "aggregate", "sort", "over", "table":
		return 4
	case "distinct", "dedup", "throttle", "lookup":
		return 5
	case "join":
		return 6
	}
	return 8
}

// yield returns how many rows an operator of a kind is taken to give for one row.
func yield(kind string) float64 {
	switch kind {
	case "filter", "distinct", "dedup":
		return 0.5
	case "aggregate", "top", "sample", "limit", "throttle", "pattern":
		return 0.1
	}
	return 1
}

// rates estimates the rows that come into each operator for so many of each source stream.
func rates(d *Diagram, of func(*Stream) float64) map[*Operator]float64 {
	in := map[*Operator]float64{}
	for _, o := range d.Operators {
		for _, r := range o.Inputs {
			if r.Stream != nil {
				in[o] += of(r.Stream)
			} else {
				in[o] += given(r.Operator, in[r.Operator])
			}
		}
	}
	return in
}

// given estimates the rows that an operator gives at one port for so many that it takes.
func given(o *Operator, rows float64) float64 {
	return rows * yield(o.Plan.Kind) / float64(len(o.Plan.Ports))
}

// oneRow is the rate of every stream where only fragments are compared.
func oneRow(*Stream) float64 { return 1 }

// round2 rounds for printing.
func round2(f float64) float64 { return math.Round(f*100) / 100 }
