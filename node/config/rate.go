package config

import (
	"strconv"
	"strings"

	"fednode/query/spec"
)

// rate reads a number a second: "500/s", "50k/s", "20MiB/s". 0 if it is not there.
func rate(r *spec.Reader, key string) float64 {
	v := r.Value(key, false, spec.String)
	if v == nil {
		return 0
	}
	body, ok := strings.CutSuffix(v.Str, "/s")
	n, fits := parseCount(body)
	if !ok || !fits {
		r.Errorf(key, "", "`%s` is not a rate; write one such as 500/s, 50k/s or 20MiB/s", v.Str)
		return 0
	}
	return n
}

// parseCount reads a positive number with an optional unit.
func parseCount(s string) (float64, bool) {
	for _, u := range []struct {
		name string
		mul  float64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"", 1}} {
		if body, ok := strings.CutSuffix(s, u.name); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(body), 64)
			return n * u.mul, err == nil && n > 0 && n < 1e15
		}
	}
	return 0, false
}
