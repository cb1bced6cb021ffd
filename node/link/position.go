package link

import (
	"fmt"
	"strconv"
	"strings"

	"fednode/query/tuple"
)

// encodePosition writes a position into the detail of a refusal: generation:id@time in microseconds.
func encodePosition(p tuple.Position) string {
	return fmt.Sprintf("%d:%d@%d", p.Generation, p.ID, int64(p.Time))
}

func decodePosition(s string) (p tuple.Position, err error) {
	gen, rest, ok1 := strings.Cut(s, ":")
	id, at, ok2 := strings.Cut(rest, "@")
	if !ok1 || !ok2 {
		return p, fmt.Errorf("%q is not a position", s)
	}
	if p.Generation, err = strconv.ParseUint(gen, 10, 64); err != nil {
		return p, err
	}
	if p.ID, err = strconv.ParseUint(id, 10, 64); err != nil {
		return p, err
	}
	t, err := strconv.ParseInt(at, 10, 64)
	p.Time = tuple.Time(t)
	return p, err
}
