package dcaa

// FloorSpan is for how long a Floor remembers at least, in microseconds; it forgets after twice that.
const FloorSpan = 120 * second

// Floor measures what is normal of a delay: the smallest value of the last minutes. It falls at once and rises only when
// nothing as small has been seen for FloorSpan, since a failure only ever adds. Without values it stays. The zero Floor has
// seen nothing.
type Floor struct {
	seen bool
	// low is the smallest value since began, before that of the span before.
	began       Instant
	low, before int64
}

// See takes a value.
func (f *Floor) See(now Instant, v int64) {
	switch {
	case !f.seen:
		*f = Floor{seen: true, began: now, low: v, before: v}
	case int64(now-f.began) >= FloorSpan:
		f.began, f.before, f.low = now, f.low, v
	default:
		f.low = min(f.low, v)
	}
}

// Lower takes a value that may be larger than is normal: it can lower what is known, and else counts only where nothing is.
func (f *Floor) Lower(now Instant, v int64) {
	switch {
	case !f.seen:
		f.See(now, v)
	case v < min(f.low, f.before):
		f.low = v
	}
}

// Value returns what is normal; known is false before the first value.
func (f *Floor) Value() (v int64, known bool) { return min(f.low, f.before), f.seen }
