package query

import (
	"fednode/query/spec"
	"fednode/query/tuple"
)

// checkRules checks what a stream's rules and the query's settings demand of each other.
func (b *builder) checkRules() {
	for _, s := range b.d.Streams {
		path := s.Keys.Path
		if s.Rules.Idle == IdleHold && s.Keys.Has("idle") && !s.Traits.Bounded && !s.Traits.Replayed && b.d.Settings.MaxDelay != Unbounded && !b.o.Placement.Local {
			b.p.Add(s.rulesPos["idle"], path+".idle", `use idle = "advance", or max_delay = "inf"`,
				"`hold` waits for an idle source without end, which a bounded max_delay does not allow on live input")
		}
		if s.Rules.MaxOutOfOrder == Unbounded && !s.Traits.Bounded && b.o.Connectors != nil && s.Foreign == "" {
			b.p.Add(s.rulesPos["max_out_of_order"], path+".max_out_of_order", "give a duration, such as \"5s\"",
				"`inf` waits for the end of the input, which a live source does not have")
		}
		if s.Traits.LateBy != "" && s.Rules.MaxOutOfOrder == 0 {
			b.p.Warn(s.rulesPos["max_out_of_order"], path+".max_out_of_order", `give a slack, such as "5m"`,
				"%s; without slack such rows are late", s.Traits.LateBy)
		}
	}
}

// checkPlaces refuses connectors in another organisation: a query can never name a file, a URL or a broker of somebody
// else. It also refuses those away from the query's home, where all its connectors run; the home is not known before the query
// is given to a node.
func (b *builder) checkPlaces() {
	if b.o.Placement.Home.Org == "" || b.o.Placement.Local {
		return
	}
	for _, s := range b.d.Streams {
		b.checkPlace(s.Connector, s.Place, s.Keys, "source",
			"with connector `node` it is a stream that "+s.Place.Org+" exports",
			"leave it out, or declare the stream in the node.toml of the node that is meant and read it with connector `node`; [fragments.NAME] places operators")
	}
	for _, o := range b.d.Outputs {
		b.checkPlace(o.Connector, o.Place, o.Keys, "sink",
			"with connector `node` it is a stream that "+o.Place.Org+" can subscribe to",
			"leave it out, or give the query to the node that is meant; [fragments.NAME] places operators")
	}
}

// checkPlace refuses a connector that cannot run where it is placed; foreign and away say what to do instead in another
// organisation, and at another node of our own.
func (b *builder) checkPlace(connector string, place Place, t *spec.Table, what, foreign, away string) {
	home := b.o.Placement.Home
	if connector == "" || connector == foreignConnector {
		return
	}
	if place.Org != "" && place.Org != home.Org {
		b.p.Add(t.PosOf("place"), t.KeyPath("place"), foreign, "a connector runs only in the query's own organisation, %s; `%s` cannot run at %s",
			home.Org, connector, place.Org)
		return
	}
	if home.Node != "" && (place.Node != "" && place.Node != home.Node || place.Labels != "") {
		b.p.Add(t.PosOf("place"), t.KeyPath("place"), away, "a %s runs at the query's home, %s; `%s` cannot run elsewhere", what, home, connector)
	}
}

// markUsed marks the operators from which an output can be reached, and warns of what nobody reads.
func (b *builder) markUsed() {
	streams := map[*Stream]bool{}
	ports := map[Ref]bool{}
	var mark func(Ref)
	mark = func(r Ref) {
		if r.Stream != nil {
			streams[r.Stream] = true
			return
		}
		ports[r] = true
		if r.Operator.Used {
			return
		}
		r.Operator.Used = true
		for _, in := range r.Operator.Inputs {
			mark(in)
		}
	}
	for _, o := range b.d.Outputs {
		mark(o.Input)
	}
	for _, o := range b.d.Operators {
		if !o.Used {
			b.p.Warn(o.Pos, "operators."+o.Name, "add an output, or take it out", "no output depends on `%s`; it will not run", o.Name)
			continue
		}
		for i, p := range o.Plan.Ports {
			if !ports[Ref{Operator: o, Port: i}] {
				b.p.Warn(o.Pos, "operators."+o.Name, "", "nobody reads `%s.%s`; its rows are dropped", o.Name, p.Name)
			}
		}
	}
	for _, s := range b.d.Streams {
		if !streams[s] {
			b.p.Warn(s.Pos, "streams."+s.Name, "", "nobody reads `%s`", s.Name)
		}
	}
}

// Parts of the smallest sensible availability bound, in microseconds: detecting a failure and taking another replica at
// the default bucket, and the grace for one hop.
const (
	delayBase  = 900 * tuple.Millisecond
	delayGrace = 20 * tuple.Millisecond
)

// MinDelay returns the smallest sensible max_delay of a plan in microseconds: below it, an ordinary switch to another
// replica would already make results tentative.
func (p *Plan) MinDelay() int64 {
	return delayBase + max(0, p.Diagram.Settings.Bucket-DefaultBucket) + int64(p.Depth+2)*delayGrace
}

// maxCopies bounds how often one row of a stream may reach an operator over different paths.
const maxCopies = 1024

// checkCopies refuses a diagram in which the paths from a stream to an operator multiply: a chain of unions of a stream
// with itself doubles every row at each step, and thirty steps are a file of a few lines that no memory holds.
func (b *builder) checkCopies() {
	copies := make(map[*Operator]int, len(b.d.Operators))
	for _, o := range b.d.Operators { // topological
		sum := 0
		for _, in := range o.Inputs {
			if in.Operator == nil {
				sum++
			} else {
				sum += copies[in.Operator]
			}
		}
		if sum > maxCopies {
			b.p.Add(o.Pos, "operators."+o.Name, "let it read each stream over one path",
				"rows of streams reach it over more than %d paths, each with a copy", maxCopies)
			sum = 1 // said once; what reads it is not to blame
		}
		copies[o] = sum
	}
}
