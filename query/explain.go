package query

import (
	"encoding/hex"
	"fmt"
	"slices"
	"sort"

	"fednode/query/op"
	"fednode/query/tuple"
)

// Explanation is all that is said about a plan before it runs. It holds names and text only, in a fixed order, and is
// the JSON form of explain; the other forms are drawn from it.
type Explanation struct {
	Query         string `json:"query"`
	Description   string `json:"description,omitempty"`
	Hash          string `json:"hash"`
	MaxDelay      string `json:"max_delay"`
	MinDelay      string `json:"smallest_sensible_max_delay"`
	Failure       string `json:"failure"`
	Stabilization string `json:"stabilization"`
	Consistency   string `json:"consistency"`
	Redo          string `json:"redo"`
	// BeginsAfter is for how much stream time behind a failure results of a best-effort query stay tentative at least; "" if the
	// query is not.
	BeginsAfter string `json:"begins_after,omitempty"`
	// OnFull is what happens when an output is full; CorrectWindow is what is kept in any case.
	OnFull        string `json:"on_full"`
	CorrectWindow string `json:"correct_window,omitempty"`
	Bucket        string `json:"bucket"`
	Convergence   string `json:"convergence"`
	// Depth is the number of SUnions on the longest path.
	Depth     int                 `json:"depth"`
	Streams   []ExplainedStream   `json:"streams"`
	Fragments []ExplainedFragment `json:"fragments"`
	Outputs   []ExplainedOutput   `json:"outputs"`
	// Views say which columns each organisation sees because it hosts a fragment.
	Views []ExplainedView `json:"views"`
}

// ExplainedStream is a stream of the diagram.
type ExplainedStream struct {
	Name      string `json:"name"`
	Stream    string `json:"stream"`
	Connector string `json:"connector"`
	Place     string `json:"place"`
	Time      string `json:"time"`
	Slack     string `json:"max_out_of_order"`
	// Lag is what the stream declares of it, "" if nothing.
	Lag     string   `json:"lag,omitempty"`
	Idle    string   `json:"idle"`
	Late    string   `json:"late"`
	Columns []string `json:"columns"`
}

// ExplainedFragment is a fragment with its parts.
type ExplainedFragment struct {
	Name      string              `json:"name"`
	Place     string              `json:"place"`
	Replicas  int                 `json:"replicas"`
	Declared  bool                `json:"declared"`
	Load      float64             `json:"load"`
	Unions    []ExplainedUnion    `json:"sunions"`
	Operators []ExplainedOperator `json:"operators"`
	Outputs   []ExplainedEdge     `json:"outputs"`
}

// ExplainedUnion is an SUnion.
type ExplainedUnion struct {
	Inputs []string `json:"inputs"`
	// Replaces is the union operator that it stands for, "" if none.
	Replaces  string   `json:"replaces,omitempty"`
	Targets   []string `json:"targets"`
	Unordered bool     `json:"unordered"`
	Depth     int      `json:"depth"`
	Path      int      `json:"path"`
}

// ExplainedOperator is an operator.
type ExplainedOperator struct {
	Name        string          `json:"name"`
	Kind        string          `json:"kind"`
	Inputs      []string        `json:"inputs"`
	Detail      string          `json:"detail"`
	Ports       []ExplainedPort `json:"ports"`
	State       string          `json:"state"`
	Convergence string          `json:"convergence"`
	// Span is how far back the state depends on its input, "0s" if stateless, "unbounded by time" otherwise.
	Span     string  `json:"span"`
	Blocking bool    `json:"blocking"`
	Load     float64 `json:"load"`
}

// ExplainedPort is one output port of an operator with its columns.
type ExplainedPort struct {
	Name    string   `json:"name,omitempty"`
	Columns []string `json:"columns"`
	Targets []string `json:"targets"`
}

// ExplainedEdge is a stream that a fragment produces.
type ExplainedEdge struct {
	Stream string `json:"stream"`
	From   string `json:"from"`
}

// ExplainedOutput is an output of the diagram.
type ExplainedOutput struct {
	Name      string   `json:"name"`
	Stream    string   `json:"stream"`
	Connector string   `json:"connector"`
	Place     string   `json:"place"`
	Columns   []string `json:"columns"`
	// Needs are the streams without any one of which it yields nothing: its blocking paths. Uses are all it depends on.
	Needs []string `json:"needs"`
	Uses  []string `json:"uses"`
}

// ExplainedView is what one organisation sees of one stream.
type ExplainedView struct {
	Org      string   `json:"org"`
	Stream   string   `json:"stream"`
	Fragment string   `json:"fragment"`
	Columns  []string `json:"columns"`
	// Unused are those of them that no operator there reads.
	Unused []string `json:"unused,omitempty"`
}

// Explain describes a plan.
func Explain(p *Plan) *Explanation {
	d := p.Diagram
	hash := d.Hash(p.Placement.Home.Org)
	e := &Explanation{
		Query: d.Settings.Name, Description: d.Settings.Description, Hash: hex.EncodeToString(hash[:8]), MaxDelay: durationText(d.Settings.MaxDelay),
		MinDelay: durationText(p.MinDelay()), Failure: string(d.Settings.Failure),
		Stabilization: string(d.Settings.Stabilization), Consistency: string(d.Settings.Consistency), Redo: string(d.Settings.Redo), OnFull: string(d.Settings.OnFull),
		Bucket: durationText(d.Settings.Bucket), Convergence: d.Convergence().String(), Depth: p.Depth,
		Streams: []ExplainedStream{}, Fragments: []ExplainedFragment{}, Outputs: []ExplainedOutput{}, Views: []ExplainedView{},
	}
	if d.Settings.Consistency == BestEffort {
		e.BeginsAfter = spanText(p.span())
	}
	if d.Settings.OnFull == Converge {
		e.CorrectWindow = durationText(d.Settings.CorrectWindow)
	}
	for _, s := range d.Streams {
		e.Streams = append(e.Streams, explainStream(s, p))
	}
	rates := rates(d, oneRow)
	for _, f := range p.Fragments {
		e.Fragments = append(e.Fragments, explainFragment(f, d, rates))
		e.Views = append(e.Views, views(f)...)
	}
	for _, o := range p.Outputs {
		e.Outputs = append(e.Outputs, explainOutput(o))
	}
	return e
}

func explainStream(s *Stream, p *Plan) ExplainedStream {
	t := "arrival"
	if s.Time >= 0 {
		t = s.Schema.Field(s.Time).Name
	} else if s.Foreign != "" {
		t = "its owner's"
	}
	return ExplainedStream{
		Name: s.Name, Stream: s.StreamName(p.Placement.Home.Org, p.Diagram.Settings.Name), Connector: s.Connector,
		Place: placeText(s.placeAt(p.Placement)), Time: t, Slack: durationText(s.Rules.MaxOutOfOrder), Lag: lagText(s.Rules.Lag), Idle: string(s.Rules.Idle),
		Late: string(s.Rules.Late), Columns: columnTexts(s.Schema),
	}
}

func explainFragment(f *FragmentPlan, d *Diagram, rates map[*Operator]float64) ExplainedFragment {
	x := ExplainedFragment{Name: f.Name, Place: placeText(f.Place), Replicas: f.Replicas, Declared: f.Declared,
		Unions: []ExplainedUnion{}, Operators: []ExplainedOperator{}, Outputs: []ExplainedEdge{}}
	for _, u := range f.Unions {
		eu := ExplainedUnion{Replaces: u.Operator, Unordered: u.Unordered, Depth: u.Depth, Path: u.Path, Targets: f.targetNames(u.to)}
		for _, in := range u.Inputs {
			eu.Inputs = append(eu.Inputs, f.Inputs[in].Stream)
		}
		x.Unions = append(x.Unions, eu)
	}
	for i := range f.Operators {
		o := explainOperator(f, i, rates[d.Operator(f.Operators[i].Name)])
		x.Load += o.Load
		x.Operators = append(x.Operators, o)
	}
	for _, out := range f.Outputs {
		x.Outputs = append(x.Outputs, ExplainedEdge{Stream: out.Stream, From: out.Edge})
	}
	x.Load = round2(x.Load)
	return x
}

func explainOperator(f *FragmentPlan, i int, rate float64) ExplainedOperator {
	o := &f.Operators[i]
	x := ExplainedOperator{Name: o.Name, Kind: o.Plan.Kind, Inputs: o.Inputs, Detail: o.Plan.Detail, State: o.Plan.State,
		Convergence: o.Plan.Convergence.String(), Span: spanText(o.Plan.Span), Blocking: o.Plan.Blocking,
		Load: round2(rate * work(o.Plan.Kind))}
	for p, port := range o.Plan.Ports {
		x.Ports = append(x.Ports, ExplainedPort{Name: port.Name, Columns: columnTexts(port.Schema), Targets: f.targetNames(o.to[p])})
	}
	return x
}

func explainOutput(o OutputPlan) ExplainedOutput {
	x := ExplainedOutput{Name: o.Output.Name, Stream: o.Stream, Connector: o.Output.Connector, Place: placeText(o.Place),
		Columns: columnTexts(o.Output.Input.Schema()), Needs: []string{}, Uses: []string{}}
	needs, uses := dependence(o.Output.Input, map[*Operator][2]map[string]bool{})
	x.Needs, x.Uses = sortedKeys(needs), sortedKeys(uses)
	return x
}

// dependence returns the streams that a reference needs, without any one of which it yields nothing, and all it uses.
func dependence(r Ref, known map[*Operator][2]map[string]bool) (needs, uses map[string]bool) {
	if r.Stream != nil {
		one := map[string]bool{r.Stream.Name: true}
		return one, one
	}
	if k, ok := known[r.Operator]; ok {
		return k[0], k[1]
	}
	needs, uses = map[string]bool{}, map[string]bool{}
	for i, in := range r.Operator.Inputs {
		n, u := dependence(in, known)
		for s := range u {
			uses[s] = true
		}
		switch {
		case i == 0 || r.Operator.Plan.Blocking:
			for s := range n {
				needs[s] = true
			}
		default: // any input will do: what all of them need
			for s := range needs {
				if !n[s] {
					delete(needs, s)
				}
			}
		}
	}
	known[r.Operator] = [2]map[string]bool{needs, uses}
	return needs, uses
}

// views lists what the fragment's host sees of each input.
func views(f *FragmentPlan) []ExplainedView {
	var out []ExplainedView
	for i, in := range f.Inputs {
		v := ExplainedView{Org: f.Place.Org, Stream: in.Stream, Fragment: f.Name, Columns: in.Schema.Names()}
		used, all := f.used(i)
		for _, name := range v.Columns {
			if !all && !used[name] {
				v.Unused = append(v.Unused, name)
			}
		}
		out = append(out, v)
	}
	return out
}

// used returns the columns of an input that operators read; all is true if one reads every column.
func (f *FragmentPlan) used(input int) (names map[string]bool, all bool) {
	names = map[string]bool{}
	for _, u := range f.Unions {
		if !slices.Contains(u.Inputs, input) {
			continue
		}
		for _, t := range u.to {
			if t.operator < 0 {
				return nil, true
			}
			reads := f.Operators[t.operator].Plan.Reads
			if t.port >= len(reads) || reads[t.port] == nil {
				return nil, true
			}
			for _, n := range reads[t.port] {
				names[n] = true
			}
		}
	}
	return names, false
}

// targetNames names what reads a port: operators, and outputs by their stream.
func (f *FragmentPlan) targetNames(to []target) []string {
	names := []string{}
	for _, t := range to {
		if t.operator < 0 {
			names = append(names, f.Outputs[t.port].Stream)
		} else {
			names = append(names, f.Operators[t.operator].Name)
		}
	}
	return names
}

// columnTexts prints each column with its type and, if an export changed it, its form.
func columnTexts(s *tuple.Schema) []string {
	out := []string{}
	for _, f := range s.Fields() {
		text := f.Name + " " + f.Type.String()
		if f.Form != tuple.Plain {
			text += " (" + f.Form.String() + ")"
		}
		out = append(out, text)
	}
	return out
}

// placeText prints a place; one that is left open is the node that explains.
func placeText(p Place) string {
	if p.IsZero() {
		return "here"
	}
	return p.String()
}

func spanText(us int64) string {
	if us < 0 {
		return "unbounded by time"
	}
	return durationText(us)
}

func sortedKeys(m map[string]bool) []string {
	out := []string{}
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// describeState says what bounds an operator's state and what that makes of it.
func (o *ExplainedOperator) describeState() string {
	if o.Convergence == op.Stateless.String() {
		return "stateless"
	}
	return fmt.Sprintf("%s; %s, depends on the last %s", o.State, o.Convergence, o.Span)
}
