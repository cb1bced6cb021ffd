package evaluate

// Document is all that an evaluation found, as it is written as JSON. Times are seconds.
type Document struct {
	// Command made it, with Version of the program, at Made (RFC 3339), in Took.
	Command string `json:"command"`
	Version string `json:"version"`
	Made    string `json:"made"`
	Took    Micros `json:"took"`
	// Machine tells where; simulated figures do not depend on it.
	Machine string `json:"machine"`
	// Seeds is how many runs each simulated cell has.
	Seeds       int           `json:"seeds"`
	Experiments []*Experiment `json:"experiments"`
	Targets     []Target      `json:"targets"`
	// Absent is what of the evaluation has not been measured, and why.
	Absent []string `json:"absent"`
}

// Broken returns the promises that did not hold, with where.
func (d *Document) Broken() []string {
	var list []string
	for _, x := range d.Experiments {
		for _, c := range x.cells() {
			for _, b := range c.Breaches {
				list = append(list, x.Key+", "+c.Name()+": "+b)
			}
		}
	}
	return list
}

// Absent says what of the evaluation is not measured, and why; processes is true if real daemons were.
func Absent(processes bool) []string {
	list := []string{"What undoing costs by the size of the state, 20 to 4,000 rows: simulated rows cost the same whatever the state. BenchmarkRedo in package query measures it."}
	if !processes {
		return append(list, "Real daemons: ask for them with --processes.")
	}
	return list
}
