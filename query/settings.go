package query

import (
	"fednode/query/spec"
	"fednode/query/tuple"
)

// Defaults of the [query] section and of the availability bound's parts, in microseconds.
const (
	DefaultMaxDelay         = 3 * tuple.Second
	DefaultBucket           = 100 * tuple.Millisecond
	DefaultBoundaryInterval = 100 * tuple.Millisecond
	DefaultIdleAfter        = 3 * DefaultBoundaryInterval
	DefaultInitDelay        = 10 * tuple.Second
	DefaultMaxFutureSkew    = tuple.Minute
	DefaultMaxRow           = 1 << 20
)

// readSettings reads [query].
func (b *builder) readSettings(t *spec.Table) {
	r := spec.Read(t, b.p)
	s := &b.d.Settings
	s.pos = t.Pos
	if name, ok := r.NeedString("name"); ok {
		if !ValidName(name) {
			r.Errorf("name", NameRule, "`%s` is not a name", name)
		}
		s.Name = name
	}
	s.Description = r.String("description", "")
	s.MaxDelay = durationOrInf(r, "max_delay", DefaultMaxDelay, 0, 365*tuple.Day)
	s.maxDelayPos = t.PosOf("max_delay")
	s.Failure = Policy(r.OneOf("failure", string(Delay), string(Process), string(Delay), string(Suspend)))
	s.Stabilization = Policy(r.OneOf("stabilization", string(Process), string(Process), string(Delay), string(Suspend)))
	s.Consistency = Consistency(r.OneOf("consistency", string(Eventual), string(Eventual), string(StableOnly), string(BestEffort)))
	s.consistencyPos = t.PosOf("consistency")
	s.Redo = Redo(r.OneOf("redo", string(RedoFork), string(RedoFork), string(RedoUndo)))
	s.readOnFull(r, t)
	s.Bucket = r.Duration("bucket", DefaultBucket, tuple.Millisecond, tuple.Hour)
	s.DurableLevel = int(r.Int("durable_level", 0, 1, 9))
	s.Semantics = int(r.Int("semantics", Semantics, 1, Semantics))
	r.Done()
	if s.Consistency == StableOnly {
		if t.Has("max_delay") && s.MaxDelay != Unbounded {
			r.Errorf("max_delay", `write max_delay = "inf", or leave it out`, "`stable-only` gives no tentative results, so no delay bounds them")
		}
		s.MaxDelay = Unbounded
	}
	if s.Consistency == BestEffort && s.MaxDelay == Unbounded {
		r.Errorf("max_delay", `write a duration, or consistency = "stable-only"`, "`best-effort` gives tentative results in the place of late ones, and with `inf` none is late")
	}
	switch {
	case !t.Has("redo"):
	case s.Consistency == BestEffort:
		r.Errorf("redo", "leave it out", "with `best-effort` nothing is redone")
	case s.MaxDelay == Unbounded:
		r.Errorf("redo", "leave it out", "without tentative results there is nothing to redo")
	}
}

// durationOrInf reads a duration in [lo, hi] microseconds, or "inf".
func durationOrInf(r *spec.Reader, key string, def, lo, hi int64) int64 {
	if v := r.Value(key, false, spec.String); v == nil {
		return def
	} else if v.Str == "inf" {
		return Unbounded
	}
	return r.Duration(key, def, lo, hi)
}
