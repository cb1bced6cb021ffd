package query

import (
	"strings"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// foreignConnector is the connector of streams that other organisations export.
const foreignConnector = "node"

// readStream reads one [streams.NAME].
func (b *builder) readStream(e *spec.Entry) {
	t := e.Value.Table
	s := &Stream{Name: e.Key, Pos: e.Pos, Keys: t, Time: -1, rulesPos: map[string]spec.Pos{}}
	b.streams[s.Name] = s
	r := spec.Read(t, b.p)
	s.Connector, _ = r.NeedString("connector")
	fields := b.readColumns(s, r)
	if len(fields) > 0 {
		s.Schema, _ = tuple.NewSchema(fields...) // an error is met again below
	}
	s.Place = readPlace(r, "place")
	timeKey := r.Value("time", false, spec.String)
	readCommonRules(r, s)
	b.readConnector(s, r)
	if len(fields) == 0 && len(s.Traits.Fields) > 0 {
		fields = s.Traits.Fields
		for _, f := range fields {
			s.Columns = append(s.Columns, Column{Name: f.Name, Field: f.Name})
		}
	}
	if len(fields) == 0 && !t.Has("columns") {
		r.Errorf("columns", "add [streams."+s.Name+".columns] with a line for each column, such as src = \"ip\"", "the stream has no columns")
	}
	s.finishRules()
	if schema, err := tuple.NewSchema(fields...); err == nil && len(fields) > 0 {
		s.Schema = schema
		b.d.Streams = append(b.d.Streams, s)
		s.readTime(r, timeKey)
	}
}

// readConnector checks the connector's name and lets it read its own keys.
func (b *builder) readConnector(s *Stream, r *spec.Reader) {
	switch {
	case s.Connector == "":
		r.Misspelt("connector")
		return // recorded; its own keys cannot be judged
	case s.Connector == foreignConnector:
		if name, ok := r.NeedString("stream"); ok {
			s.Foreign = name
			if !validForeign(name) {
				r.Errorf("stream", "", "`%s` is not a stream of another organisation; expected org/stream", name)
			}
		}
	case b.o.Connectors == nil:
		return
	default:
		names := b.o.Connectors.SourceNames()
		if !containsName(names, s.Connector) {
			r.Errorf("connector", spec.DidYouMean(s.Connector, append(names, foreignConnector)), "there is no connector `%s` for streams", s.Connector)
			return
		}
		s.Traits = b.o.Connectors.Source(s, r)
	}
	r.Done()
}

// readTime finds the event time column. A stream that has timestamps must say which of them is its time, or that its
// time is arrival: to guess would show only in wrong windows.
func (s *Stream) readTime(r *spec.Reader, key *spec.Value) {
	name := s.Traits.Time
	if key != nil {
		name = key.Str
	} else if r.T.Has("time") {
		return // of the wrong kind, recorded
	}
	i, ok := s.Schema.Index(name)
	switch {
	case ok && s.Schema.Field(i).Type.Kind == tuple.Timestamp:
		s.Time = i
	case ok:
		r.Errorf("time", "", "the column `%s` is %s; event time needs a timestamp", name, s.Schema.Field(i).Type)
	case key != nil && name != "arrival":
		r.Errorf("time", spec.DidYouMean(name, s.Schema.Names()), "no column `%s` in stream `%s`", name, s.Name)
	case key == nil && s.Foreign == "":
		if c := firstTimestamp(s.Schema); c != "" {
			r.Errorf("time", "write time = \""+c+"\", or time = \"arrival\"", "the stream does not say which column is event time")
		}
	}
}

// firstTimestamp returns the name of the first timestamp column, "" if there is none.
func firstTimestamp(s *tuple.Schema) string {
	for _, f := range s.Fields() {
		if f.Type.Kind == tuple.Timestamp {
			return f.Name
		}
	}
	return ""
}

// readCommonRules reads the keys that every connector's stream may have. What is not given is settled by finishRules.
func readCommonRules(r *spec.Reader, s *Stream) {
	const forever = 3650 * tuple.Day
	s.Rules = Rules{
		MaxOutOfOrder: durationOrInf(r, "max_out_of_order", -1, 0, forever),
		Lag:           r.Duration("lag", Measured, 0, tuple.Day),
		Late:          LatePolicy(r.OneOf("late", string(LateSide), string(LateDrop), string(LateSide), string(LateClamp))),
		Idle:          IdlePolicy(r.OneOf("idle", "", string(IdleAdvance), string(IdleHold))),
		IdleAfter:     r.Duration("idle_after", DefaultIdleAfter, tuple.Millisecond, tuple.Day),
		InitDelay:     r.Duration("init_delay", DefaultInitDelay, 0, tuple.Day),
		Future:        FuturePolicy(r.OneOf("future", string(FutureSide), string(FutureSide), string(FutureClamp))),
		MaxFutureSkew: durationOrInf(r, "max_future_skew", -1, 0, forever),
		OnError:       ErrorPolicy(r.OneOf("on_error", string(ErrorSide), string(ErrorSide), string(ErrorSkip), string(ErrorFail))),
		Rate:          readRate(r, s),
		MaxRow:        r.Size("max_row", DefaultMaxRow, 1<<10, 4<<20),
		Retain:        r.Duration("retain", 0, 0, forever),
	}
	for _, k := range []string{"idle", "max_out_of_order"} {
		s.rulesPos[k] = r.T.PosOf(k)
	}
}

// maxRate bounds the rate that a stream may be said to have, in rows a second.
const maxRate = 1_000_000_000

// readRate reads how many rows a second are expected; a generator has a key of that name of its own.
func readRate(r *spec.Reader, s *Stream) int64 {
	if s.Connector == "generate" {
		return 0
	}
	return r.Int("rate", 0, 0, maxRate)
}

// finishRules settles what depends on whether the source ends: bounded input waits for its end, live input does not.
func (s *Stream) finishRules() {
	calm := s.Traits.Bounded || s.Traits.Replayed
	if s.Rules.MaxOutOfOrder < 0 {
		s.Rules.MaxOutOfOrder = 0
		if s.Traits.Bounded {
			s.Rules.MaxOutOfOrder = Unbounded
		}
	}
	if s.Rules.MaxFutureSkew < 0 {
		s.Rules.MaxFutureSkew = DefaultMaxFutureSkew
		if calm {
			s.Rules.MaxFutureSkew = Unbounded
		}
	}
	if s.Rules.Idle == "" {
		s.Rules.Idle = IdleAdvance
		if calm {
			s.Rules.Idle = IdleHold
		}
	}
}

// containsName reports whether a list holds a name.
func containsName(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// StreamName returns the name under which the federation knows the stream: org/stream for a foreign one, else
// org/query.stream.
func (s *Stream) StreamName(org, query string) string {
	if s.Foreign != "" {
		return s.Foreign
	}
	return qualified(org, query+"."+s.Name)
}

// qualified puts the organisation before a name, where there is one.
func qualified(org, name string) string {
	if org == "" {
		return name
	}
	return org + "/" + name
}

// owner returns the organisation of a qualified name, "" if it has none.
func owner(stream string) string {
	org, _, ok := strings.Cut(stream, "/")
	if !ok {
		return ""
	}
	return org
}
