package fragment

import (
	"testing"

	"fednode/node/connect"
	"fednode/query"
	"fednode/query/tuple"
)

// TestLatest shows of which inputs it is asked how far they are ahead of the clock: of other organisations' streams, by as
// much as the query allows and clocks may differ.
func TestLatest(t *testing.T) {
	r := &Runner{cfg: Config{Own: "north/", Clock: connect.SystemClock{}}}
	input := func(stream string, skew int64) query.FragmentInput {
		return query.FragmentInput{Stream: stream, Source: &query.Stream{Rules: query.Rules{MaxFutureSkew: skew}}}
	}
	for name, in := range map[string]query.FragmentInput{
		"our own stream":            input("north/a", 0),
		"one that may be ahead":     input("south/a", query.Unbounded),
		"an edge between fragments": {Stream: "south/q.f.0", Fragment: "f"},
	} {
		if r.latest(in) != nil {
			t.Errorf("%s is asked", name)
		}
	}
	latest := r.latest(input("south/a", tuple.Minute))
	if latest == nil {
		t.Fatal("a partner's stream is not asked")
	}
	before := tuple.TimeOf(r.cfg.Clock.Now()).Add(tuple.Minute)
	if got, after := latest(), tuple.TimeOf(r.cfg.Clock.Now()).Add(tuple.Minute); got < before || got > after {
		t.Fatalf("the latest is %v, want between %v and %v", got, before, after)
	}
}
