package main

import (
	"sort"
	"strings"

	"fednode/node/connect"
	"fednode/node/connect/file"
	"fednode/node/local"
	"fednode/node/source"
	"fednode/query"
	"fednode/query/spec"
)

// splitSides tells the sinks of side streams, STREAM.late and STREAM.errors, from those of outputs: no output has a dot in
// its name.
func splitSides(sinks []query.Edit) (outputs, sides []query.Edit) {
	for _, e := range sinks {
		if strings.Contains(e.Name, ".") {
			sides = append(sides, e)
		} else {
			outputs = append(outputs, e)
		}
	}
	return outputs, sides
}

// sideSinks opens the sinks of side streams. A stream that is not there, or that sets nothing aside, is the caller's
// mistake.
func sideSinks(d *query.Diagram, edits []query.Edit, env connect.Env) ([]local.SideSink, error) {
	known := make(map[string]local.SideSink)
	var names []string
	for _, s := range d.Streams {
		for _, k := range []source.SideKind{source.Late, source.Unreadable} {
			known[s.Name+k.Suffix()] = local.SideSink{Stream: s.Name, Kind: k}
			names = append(names, s.Name+k.Suffix())
		}
	}
	sort.Strings(names)
	var out []local.SideSink
	taken := make(map[string]bool)
	for _, e := range edits {
		side, ok := known[e.Name]
		switch {
		case !ok:
			return nil, wrong("--sink %s: the query has no such stream to set something aside; %s", e.Name, spec.DidYouMean(e.Name, names))
		case taken[e.Name]:
			return nil, wrong("--sink %s: given twice", e.Name)
		}
		taken[e.Name] = true
		if key := onlyCounts(d.Stream(side.Stream), side.Kind); key != "" {
			return nil, wrong("--sink %s: the stream says %s other than \"side\", so nothing goes there; add --set streams.%s.%s=side", e.Name, key, side.Stream, key)
		}
		to, err := file.NewSink(&connect.SinkStream{Name: e.Name, Schema: side.Kind.Schema(), Bounded: true}, e.Value, env)
		if err != nil {
			return nil, wrong("--sink %s: %w", e.Name, err)
		}
		side.Path, side.Sink = e.Value, to
		out = append(out, side)
	}
	return out, nil
}

// onlyCounts returns the key by which a stream keeps nothing of a kind, "" if it does keep it.
func onlyCounts(s *query.Stream, k source.SideKind) (key string) {
	switch r := s.Rules; {
	case k == source.Unreadable && r.OnError != query.ErrorSide:
		return "on_error"
	case k == source.Late && r.Late != query.LateSide && (r.Future != query.FutureSide || r.MaxFutureSkew == query.Unbounded):
		return "late"
	}
	return ""
}
