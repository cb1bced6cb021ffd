package spec

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"fednode/query/tuple"
)

// Reader takes typed values out of one table and records what is wrong with them. It keeps the names it was asked for,
// so that Done can report keys that nobody knows.
type Reader struct {
	T     *Table
	P     *Problems
	known []string
}

// Read starts reading a table.
func Read(t *Table, p *Problems) *Reader { return &Reader{T: t, P: p} }

// Errorf records an error at the value of a key (or at the table).
func (r *Reader) Errorf(key, hint, format string, args ...any) {
	r.P.Add(r.T.PosOf(key), r.T.KeyPath(key), hint, format, args...)
}

// Value returns the value of a key of one of the given kinds (any kind if none is given), or nil; a missing required
// key and a wrong kind are recorded, unless the value was refused before.
func (r *Reader) Value(key string, required bool, kinds ...Kind) *Value {
	if !slices.Contains(r.known, key) {
		r.known = append(r.known, key)
	}
	e := r.T.Lookup(key)
	if e == nil {
		if required {
			r.P.Add(r.T.Pos, r.T.KeyPath(key), "", "the key `%s` is missing", key)
		}
		return nil
	}
	if e.Value.Kind == Refused {
		return nil
	}
	if len(kinds) == 0 {
		return e.Value
	}
	names := make([]string, len(kinds))
	for i, k := range kinds {
		if e.Value.Kind == k {
			return e.Value
		}
		names[i] = k.String()
	}
	r.Errorf(key, "", "expected %s, got %s", strings.Join(names, " or "), e.Value.Kind)
	return nil
}

// String returns a string, def if the key is absent or wrong.
func (r *Reader) String(key, def string) string {
	if v := r.Value(key, false, String); v != nil {
		return v.Str
	}
	return def
}

// NeedString returns a string that must be there and not be empty; ok is false, and the problem recorded, otherwise.
func (r *Reader) NeedString(key string) (s string, ok bool) {
	v := r.Value(key, true, String)
	if v == nil {
		return "", false
	}
	if v.Str == "" {
		r.Errorf(key, "", "`%s` is empty", key)
		return "", false
	}
	return v.Str, true
}

// OneOf returns a string that must be one of names; def if absent.
func (r *Reader) OneOf(key, def string, names ...string) string {
	v := r.Value(key, false, String)
	if v == nil {
		return def
	}
	for _, n := range names {
		if v.Str == n {
			return n
		}
	}
	hint := ""
	if n := Near(v.Str, names); n != "" {
		hint = fmt.Sprintf("did you mean `%s`?", n)
	}
	r.Errorf(key, hint, "`%s` is not one of %s", v.Str, strings.Join(names, ", "))
	return def
}

// Bool returns a boolean, def if the key is absent or wrong.
func (r *Reader) Bool(key string, def bool) bool {
	if v := r.Value(key, false, Bool); v != nil {
		return v.Bool
	}
	return def
}

// Int returns an integer in [lo, hi], def if the key is absent or wrong.
func (r *Reader) Int(key string, def, lo, hi int64) int64 {
	v := r.Value(key, false, Int)
	if v == nil {
		return def
	}
	if v.Int < lo || v.Int > hi {
		r.Errorf(key, "", "%d is out of range; expected %d to %d", v.Int, lo, hi)
		return def
	}
	return v.Int
}

// Duration returns a duration in microseconds in [lo, hi], written as text ("60s"); def if the key is absent or wrong.
func (r *Reader) Duration(key string, def, lo, hi int64) int64 {
	v := r.Value(key, false, String)
	if v == nil {
		return def
	}
	d, err := tuple.ParseDuration(v.Str)
	if err != nil {
		r.Errorf(key, "", "%v", err)
		return def
	}
	if d < lo || d > hi {
		r.Errorf(key, "", "%s is out of range; expected %s to %s", v.Str, tuple.AppendDuration(nil, lo), tuple.AppendDuration(nil, hi))
		return def
	}
	return d
}

// Strings returns an array of strings (a lone string counts as one), and their values for places.
func (r *Reader) Strings(key string, required bool) []*Value {
	v := r.Value(key, required, Array, String)
	if v == nil {
		return nil
	}
	if v.Kind == String {
		return []*Value{v}
	}
	var out []*Value
	for _, e := range v.Array {
		if e.Kind != String {
			r.P.Add(e.Pos, r.T.KeyPath(key), "", "expected a string, got %s", e.Kind)
			continue
		}
		out = append(out, e)
	}
	return out
}

// Table returns a sub-table, nil if absent or wrong.
func (r *Reader) Table(key string, required bool) *Table {
	if v := r.Value(key, required, TableKind); v != nil {
		return v.Table
	}
	return nil
}

// Done records an error for every key of the table that was not asked for, with the nearest known name. If that one is
// not there, it is not reported as missing on top.
func (r *Reader) Done() {
	for _, e := range r.T.Entries {
		if !e.used {
			r.unknown(e, r.known)
		}
	}
}

// Misspelt is for a key that must be there before the others can be judged: it records an error for one that was
// probably meant to be it.
func (r *Reader) Misspelt(key string) {
	for _, e := range r.T.Entries {
		// Near both ways: of a long name much may be wrong, and any short one is then near.
		if !e.used && !r.T.Has(key) && Near(e.Key, []string{key}) != "" && Near(key, []string{e.Key}) != "" {
			r.unknown(e, []string{key})
		}
	}
}

func (r *Reader) unknown(e *Entry, known []string) {
	if n := Near(e.Key, known); n != "" && !r.T.Has(n) {
		r.P.settle(r.T.KeyPath(n))
	}
	r.P.Add(e.Pos, r.T.KeyPath(e.Key), DidYouMean(e.Key, known), "unknown key `%s`", e.Key)
}

// Size returns a number of bytes in [lo, hi], written as text ("1MiB", "512KiB", "100B"); def if the key is absent or
// wrong.
func (r *Reader) Size(key string, def, lo, hi int64) int64 {
	v := r.Value(key, false, String)
	if v == nil {
		return def
	}
	n, ok := parseSize(v.Str)
	switch {
	case !ok:
		r.Errorf(key, "", "`%s` is not a size; expected a whole number and a unit, such as 64KiB, 1MiB or 2GiB", v.Str)
	case n < lo || n > hi:
		r.Errorf(key, "", "%s is out of range; expected %d to %d bytes", v.Str, lo, hi)
	default:
		return n
	}
	return def
}

// parseSize reads a whole number with a unit of bytes.
func parseSize(s string) (int64, bool) {
	units := [...]struct {
		name  string
		bytes int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"B", 1}}
	for _, u := range units {
		digits, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/u.bytes {
			return 0, false
		}
		return n * u.bytes, true
	}
	return 0, false
}
