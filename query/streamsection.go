package query

import "fednode/query/spec"

// ReadStreams reads a [streams] section as it stands in a node's file: the streams that the node gives to queries,
// declared like those of a query. Problems are recorded in p; streams with an error are left out.
func ReadStreams(r *spec.Reader, c Connectors) []*Stream {
	d := &Diagram{Settings: Settings{MaxDelay: Unbounded}} // what a query makes of an idle stream is the query's to check
	b := &builder{o: Options{Connectors: c}, p: r.P, d: d, streams: map[string]*Stream{}, operators: map[string]*declared{}}
	for _, e := range b.section(r, "streams", maxStreams) {
		b.readStream(e)
	}
	b.checkRules()
	return b.d.Streams
}
