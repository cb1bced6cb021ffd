package query

import (
	"fmt"

	"fednode/query/spec"
)

// What a fragment's loop spends, in seconds of a processor: on a row that it takes, orders and passes on (20 to 50 ns in chains of
// daemons at 50,000 to 150,000 rows/s of each source), and on one unit of work (a filter with a projection takes 6 ns). Rough as the
// tables of work are, they tell a fragment that has hardly anything to do from one that has too much.
const (
	rowSeconds  = 30e-9
	workSeconds = 3e-9
)

// MostLoad is how much of its time a fragment without another replica may work: above half of it corrections never end, for new rows
// take the rest.
const MostLoad = 0.45

// checkLoad warns of fragments that could never correct what a failure leaves, at the rates that their streams are said to have, here or,
// by known, elsewhere. Streams of which nothing is known count for nothing.
func checkLoad(plan *Plan, known func(stream string) float64, p *spec.Problems) {
	d := plan.Diagram
	if d.Settings.MaxDelay == Unbounded || d.Settings.Consistency != Eventual || plan.Placement.Local {
		return
	}
	loads := plan.expectedLoads(func(s *Stream) float64 { return expectedRate(s, known) })
	for i, f := range plan.Fragments {
		if f.Replicas > 1 || loads[i] <= MostLoad {
			continue
		}
		pos, hint := plan.declaredAt(f)
		p.Warn(pos, "fragments."+f.Name, hint, "at the rates that its streams are said to have it %s; with one replica corrections end only below half of that of a processor", loadText(loads[i]))
	}
}

// declaredAt is where a fragment's replicas would be written, and what to write.
func (p *Plan) declaredAt(f *FragmentPlan) (spec.Pos, string) {
	for _, declared := range p.Diagram.Fragments {
		if f.Declared && declared.Name == f.Name {
			return declared.Pos, "write replicas = 2"
		}
	}
	pos := p.Diagram.Settings.maxDelayPos
	if len(f.Operators) > 0 {
		pos = p.Diagram.Operator(f.Operators[0].Name).Pos
	}
	return pos, "put its operators into a [fragments.NAME] with replicas = 2"
}

// loadText says how much of the time something works; a fragment that needs more than all of it is too much for its one processor.
func loadText(load float64) string {
	if load > 1 {
		return fmt.Sprintf("needs about %.1f times the time of a processor", load)
	}
	return fmt.Sprintf("works about %.0f %% of the time", 100*load)
}

// expectedLoads estimates how much of the time each fragment works, by the rates of its streams.
func (p *Plan) expectedLoads(rate func(*Stream) float64) []float64 {
	in := rates(p.Diagram, rate)
	rows := map[string]float64{} // by stream
	for _, o := range p.Diagram.Operators {
		for k := range o.Plan.Ports {
			rows[Ref{Operator: o, Port: k}.Name()] = given(o, in[o])
		}
	}
	entering := map[string]float64{}
	for _, f := range p.Fragments {
		for _, out := range f.Outputs {
			entering[out.Stream] = rows[out.Edge]
		}
	}
	loads := make([]float64, len(p.Fragments))
	for i, f := range p.Fragments {
		for _, input := range f.Inputs {
			taken := entering[input.Stream]
			if input.Source != nil {
				taken = rate(input.Source)
			}
			loads[i] += taken * rowSeconds
		}
		for k := range f.Operators {
			loads[i] += in[p.Diagram.Operator(f.Operators[k].Name)] * work(f.Operators[k].Plan.Kind) * workSeconds
		}
	}
	return loads
}

// expectedRate is how many rows a second a stream is said to have by the query, or else by who declares it; 0 if nothing is said.
func expectedRate(s *Stream, known func(stream string) float64) float64 {
	if s.Foreign != "" && s.Rules.Rate == 0 && known != nil {
		return known(s.Foreign)
	}
	return s.Rate()
}

// Rate is how many rows a second the stream is declared to have, 0 if nothing is said.
func (s *Stream) Rate() float64 { return max(float64(s.Rules.Rate), s.Traits.Rate) }
