package trust

import "time"

// Time is an instant in microseconds since 1970 UTC, as signed things hold it. The zero value is "not set".
type Time int64

// DefaultSkew is how far the clocks of two honest machines may differ.
const DefaultSkew = 2 * time.Minute

// Default validities.
const (
	CertificateValidity = 30 * 24 * time.Hour
	SigningKeyValidity  = 365 * 24 * time.Hour
)

// TimeOf converts from the standard library's time.
func TimeOf(t time.Time) Time { return Time(t.UnixMicro()) }

// Std converts to the standard library's time, in UTC.
func (t Time) Std() time.Time { return time.UnixMicro(int64(t)).UTC() }

// Add returns t moved by d, to the microsecond.
func (t Time) Add(d time.Duration) Time { return t + Time(d.Microseconds()) }

// Sub returns t - o.
func (t Time) Sub(o Time) time.Duration { return time.Duration(t-o) * time.Microsecond }

// String prints RFC 3339 in UTC.
func (t Time) String() string { return t.Std().Format(time.RFC3339) }
