package connect

import (
	"strconv"
	"strings"

	"fednode/query/spec"
)

// ReadSize reads a number of bytes in [lo, hi], an integer or text such as "64KiB" or "1MiB"; def if the key is absent or
// wrong.
func ReadSize(r *spec.Reader, key string, def, lo, hi int64) int64 {
	v := r.Value(key, false, spec.Int, spec.String)
	if v == nil {
		return def
	}
	n := v.Int
	if v.Kind == spec.String {
		var ok bool
		if n, ok = parseSize(v.Str); !ok {
			r.Errorf(key, "", "`%s` is not a size; write one such as 64KiB or 1MiB", v.Str)
			return def
		}
	}
	if n < lo || n > hi {
		r.Errorf(key, "", "%d bytes is out of range; expected %d to %d", n, lo, hi)
		return def
	}
	return n
}

func parseSize(s string) (int64, bool) {
	unit := int64(1)
	for _, u := range []struct {
		suffix string
		bytes  int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}} {
		if rest, ok := strings.CutSuffix(s, u.suffix); ok {
			s, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/unit {
		return 0, false
	}
	return n * unit, true
}
