package node

import (
	"slices"
	"strings"

	"fednode/dcaa"
	"fednode/query"
)

// peersOf returns the nodes of the other replicas of a fragment that runs here.
func (d *deployment) peersOf(fragment string) []string {
	return slices.DeleteFunc(d.nodesOf(fragment), func(name string) bool { return name == d.n.name() })
}

// producers says who gives each input of a fragment, the same list at every replica: the nodes of the fragment that makes
// it, the owner's node for a source of the query's own, and any node of its organisation for other streams.
func (d *deployment) producers(f *query.FragmentPlan) map[string][]string {
	out := make(map[string][]string, len(f.Inputs))
	for _, in := range f.Inputs {
		org, _, _ := strings.Cut(in.Stream, "/")
		switch {
		case in.Source == nil:
			out[in.Stream] = d.nodesOf(in.Fragment)
		case d.ownSource(in.Stream):
			out[in.Stream] = []string{d.owner + "/" + d.home.Node}
		default:
			out[in.Stream] = []string{org + "/" + anyNode}
		}
	}
	return out
}

// availability is what the query says of it, with the intervals of this node.
func (d *deployment) availability() dcaa.Settings {
	q, s := d.plan.Diagram.Settings, dcaa.DefaultSettings()
	s.MaxDelay, s.Bucket = q.MaxDelay, q.Bucket
	if q.MaxDelay == query.Unbounded {
		s.MaxDelay = dcaa.Unbounded
	}
	s.Failure, s.Stabilization = policyOf(q.Failure), policyOf(q.Stabilization)
	switch q.Consistency {
	case query.StableOnly:
		s.Consistency = dcaa.StableOnly
	case query.BestEffort:
		s.Consistency = dcaa.BestEffort
	}
	if q.Redo == query.RedoUndo {
		s.Redo = dcaa.RedoUndo
	}
	for _, st := range d.plan.Diagram.Streams {
		s.InitDelay = max(s.InitDelay, st.Rules.InitDelay) // a source that has said nothing yet may be silent for so long
	}
	here := d.n.cfg.Availability
	s.Heartbeat, s.Miss, s.Grace = here.Heartbeat.Microseconds(), here.Miss, here.Grace.Microseconds()
	return s
}

func policyOf(p query.Policy) dcaa.Policy {
	switch p {
	case query.Process:
		return dcaa.Process
	case query.Suspend:
		return dcaa.Suspend
	}
	return dcaa.Delay
}

// standing says where each SUnion of a fragment stands in the diagram, and how late its sources may be without a failure.
func (d *deployment) standing(f *query.FragmentPlan) []dcaa.Place {
	slack, late := int64(0), int64(0)
	for _, name := range d.sourcesOf(f) {
		if s := d.stream(name); s != nil && s.Rules.MaxOutOfOrder != query.Unbounded {
			slack = max(slack, s.Rules.MaxOutOfOrder)
			late = max(late, s.Rules.MaxOutOfOrder+max(0, s.Rules.Lag)) // what is measured comes with the boundaries
		}
	}
	out := make([]dcaa.Place, len(f.Unions))
	for n, u := range f.Unions {
		out[n] = dcaa.Place{Depth: u.Depth, Path: u.Path, Slack: slack, Lag: late - slack, Skew: d.n.cfg.Availability.ClockSkew.Microseconds()}
	}
	return out
}

// stream returns the declaration of a stream that enters the query, nil if it declares none of that name.
func (d *deployment) stream(name string) *query.Stream {
	for _, s := range d.plan.Diagram.Streams {
		if s.StreamName(d.owner, d.query) == name {
			return s
		}
	}
	return nil
}
