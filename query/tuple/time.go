package tuple

import (
	"math"
	"time"
)

// Time is stream time: microseconds since the Unix epoch, UTC. It is event time, never a clock reading, unless the
// stream's time is its arrival.
type Time int64

// MinTime is before every stream time; a boundary at MaxTime means end of stream.
const (
	MinTime Time = math.MinInt64
	MaxTime Time = math.MaxInt64
)

// Units of stream time.
const (
	Microsecond int64 = 1
	Millisecond       = 1000 * Microsecond
	Second            = 1000 * Millisecond
	Minute            = 60 * Second
	Hour              = 60 * Minute
	Day               = 24 * Hour
)

// TimeOf returns the stream time of t, rounded down to the microsecond.
func TimeOf(t time.Time) Time { return Time(t.UnixMicro()) }

// GoTime returns t as a time.Time in UTC.
func (t Time) GoTime() time.Time { return time.UnixMicro(int64(t)).UTC() }

// Add returns t+d microseconds, saturating at MinTime and MaxTime; the two ends stay where they are.
func (t Time) Add(d int64) Time {
	if t == MaxTime || t == MinTime {
		return t
	}
	s := t + Time(d)
	if d > 0 && s < t {
		return MaxTime
	}
	if d < 0 && s > t {
		return MinTime
	}
	return s
}

// FloorTo returns the largest multiple of size (plus offset) that is not after t. size is in microseconds and positive.
func (t Time) FloorTo(size, offset int64) Time {
	if t == MaxTime || t == MinTime {
		return t
	}
	rel := int64(t) - offset
	q := rel / size
	if rel%size < 0 {
		q--
	}
	return Time(q*size + offset)
}

// String prints RFC 3339 in UTC with as many fraction digits as needed; the ends print as -inf and +inf.
func (t Time) String() string {
	switch t {
	case MinTime:
		return "-inf"
	case MaxTime:
		return "+inf"
	}
	return string(AppendTime(nil, t))
}

// AppendTime appends t in RFC 3339, UTC, with as many fraction digits as needed. Years above 9999 print with as many
// digits as they have, years before 0 with a sign.
func AppendTime(dst []byte, t Time) []byte {
	return t.GoTime().AppendFormat(dst, "2006-01-02T15:04:05.999999Z")
}

// Instant is a reading of one node's monotonic clock in microseconds. Instants of two nodes, or of two runs of one
// node, have nothing to do with each other: they serve for durations only.
type Instant int64

// Sub returns the microseconds from u to i.
func (i Instant) Sub(u Instant) int64 { return int64(i - u) }
