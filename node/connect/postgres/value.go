package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"

	"fednode/query/tuple"
)

// firstTime is the earliest instant that a timestamp of PostgreSQL can be: the beginning of 4713 BC, in µs. The latest
// lies beyond what int64 holds.
const firstTime = -210_866_803_200_000_000

var (
	errNUL   = errors.New("holds a NUL, and PostgreSQL's text cannot; write it as bytes, replace it in the query, or set text = \"replace\"")
	errUTF8  = errors.New("holds invalid UTF-8, and PostgreSQL's text cannot; write it as bytes, or set text = \"replace\"")
	errEarly = errors.New("lies before 4713 BC, and PostgreSQL's timestamps do not; filter such rows in the query")
	errNull  = errors.New("is null, and a column of the key cannot be; replace it in the query (coalesce), or take another key")
)

// values turns values of columns into what the driver writes in binary form.
type values struct{ replace bool }

// of returns the value of row i of a column, nil for null.
func (v values) of(c *tuple.Column, i int) (any, error) {
	if c.IsNull(i) {
		return nil, nil
	}
	switch c.Type.Kind {
	case tuple.Bool:
		return c.Bool[i], nil
	case tuple.Int64:
		return c.Int[i], nil
	case tuple.Float64:
		return c.Float[i], nil
	case tuple.Decimal:
		return pgtype.Numeric{Int: big.NewInt(c.Int[i]), Exp: -int32(c.Type.Scale), Valid: true}, nil
	case tuple.String:
		return v.text(c.Bin(i))
	case tuple.Bytes:
		return append([]byte{}, c.Bin(i)...), nil // nil would be null
	case tuple.Timestamp:
		return timestamp(c.Int[i])
	case tuple.Duration:
		return pgtype.Interval{Microseconds: c.Int[i], Valid: true}, nil
	case tuple.IP:
		return tuple.IPAddr(c.Bin(i)), nil
	case tuple.CIDR:
		return tuple.CIDRPrefix(c.Bin(i)), nil
	case tuple.List:
		return v.list(c, i)
	}
	return nil, fmt.Errorf("has the type %s", c.Type)
}

func (v values) list(c *tuple.Column, i int) (any, error) {
	out := make(pgtype.FlatArray[any], 0, c.Off[i+1]-c.Off[i])
	for j := c.Off[i]; j < c.Off[i+1]; j++ {
		x, err := v.of(c.Elem, int(j))
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

func (v values) text(b []byte) (any, error) {
	nul, valid := bytes.IndexByte(b, 0) >= 0, utf8.Valid(b)
	switch {
	case valid && !nul:
	case v.replace:
		b = bytes.ReplaceAll(bytes.ToValidUTF8(b, []byte("\uFFFD")), []byte{0}, []byte("\uFFFD"))
	case nul:
		return nil, errNUL
	default:
		return nil, errUTF8
	}
	return string(b), nil
}

func timestamp(us int64) (any, error) {
	if us < firstTime {
		return nil, errEarly
	}
	return time.UnixMicro(us).UTC(), nil
}
