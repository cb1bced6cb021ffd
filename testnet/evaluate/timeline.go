package evaluate

import "fednode/query/tuple"

// Point is how far the client had got at a moment, both since the run's beginning.
type Point struct {
	At      Micros `json:"at"`
	Reached Micros `json:"reached"`
	// Tentative: it had got so far with tentative results only.
	Tentative bool `json:"tentative,omitempty"`
}

// timeline is how a client got on. A nil timeline records nothing.
type timeline struct {
	during span
	points []Point
}

func (l *timeline) reached(at, to int64, tentative bool) {
	if l != nil && l.during.has(at) {
		l.points = append(l.points, Point{At: Micros(at), Reached: Micros(to), Tentative: tentative})
	}
}

// thin returns of each tenth of a second the last point of each kind.
func (l *timeline) thin() []Point {
	const step = Micros(100 * tuple.Millisecond)
	var list []Point
	for _, p := range l.points {
		for k := len(list) - 1; k >= 0 && list[k].At/step == p.At/step; k-- {
			if list[k].Tentative == p.Tentative {
				list = append(list[:k], list[k+1:]...)
				break
			}
		}
		list = append(list, p)
	}
	return list
}
