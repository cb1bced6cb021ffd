package mpa

import (
	"fmt"
	"math"
	"sort"
)

// Point is a measured cost: micro-units a second at a load.
type Point struct{ Load, Cost float64 }

// Table is a cost that was measured: straight between its points, and beyond the last one as steep as before it.
type Table struct{ points []Point }

// maxPoints bounds the points of a table.
const maxPoints = 1024

// NewTable returns the cost through points: two at least, the first at load 0, loads rising, and each stretch at least as
// steep as the one before, the first above 0.
func NewTable(points []Point) (*Table, error) {
	if len(points) < 2 || len(points) > maxPoints {
		return nil, fmt.Errorf("a cost table of %d points: 2 to %d are expected", len(points), maxPoints)
	}
	if points[0].Load != 0 {
		return nil, fmt.Errorf("the first point of the cost table is at load %g: 0 is expected", points[0].Load)
	}
	before := 0.0
	for i, p := range points {
		if math.IsNaN(p.Load+p.Cost) || math.IsInf(p.Load, 0) || math.IsInf(p.Cost, 0) || p.Cost < 0 {
			return nil, fmt.Errorf("point %d of the cost table is (%g, %g): finite numbers from 0 are expected", i+1, p.Load, p.Cost)
		}
		if i == 0 {
			continue
		}
		last := points[i-1]
		if p.Load <= last.Load {
			return nil, fmt.Errorf("point %d of the cost table is at load %g, not above the one before (%g)", i+1, p.Load, last.Load)
		}
		slope := (p.Cost - last.Cost) / (p.Load - last.Load)
		if slope <= 0 || less(slope, before) {
			return nil, fmt.Errorf("the cost table is not convex: at point %d cost rises by %g a unit of load, after %g before it", i+1, slope, before)
		}
		before = slope
	}
	return &Table{append([]Point(nil), points...)}, nil
}

// At returns the cost at a load.
func (t *Table) At(load float64) float64 {
	from := t.stretch(load)
	return t.points[from].Cost + t.slope(from)*(load-t.points[from].Load)
}

// Slope returns the cost of one more unit of load.
func (t *Table) Slope(load float64) float64 { return t.slope(t.stretch(load)) }

// stretch returns the point at which the stretch that a load lies in begins.
func (t *Table) stretch(load float64) int {
	i := sort.Search(len(t.points), func(i int) bool { return t.points[i].Load > load })
	return min(max(i-1, 0), len(t.points)-2)
}

func (t *Table) slope(from int) float64 {
	a, b := t.points[from], t.points[from+1]
	return (b.Cost - a.Cost) / (b.Load - a.Load)
}
