package optest

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"fednode/query/tuple"
)

// AppendRow appends one selected row as "stime: value value", times as durations since the epoch, nulls as "null".
func AppendRow(dst []byte, b *tuple.Batch, i int) []byte {
	row := b.Row(i)
	dst = append(tuple.AppendDuration(dst, int64(b.Time[row])), ':')
	for j := range b.Cols {
		dst = appendValue(append(dst, ' '), &b.Cols[j], row)
	}
	return dst
}

func appendValue(dst []byte, c *tuple.Column, row int) []byte {
	switch {
	case c.IsNull(row):
		return append(dst, "null"...)
	case c.Type.Kind == tuple.Timestamp:
		return tuple.AppendDuration(dst, c.Int[row])
	case c.Type.Kind == tuple.String && (len(c.Bin(row)) == 0 || strings.ContainsAny(string(c.Bin(row)), " \n")):
		return strconv.AppendQuote(dst, string(c.Bin(row)))
	}
	return c.AppendText(dst, row)
}

// ParseRows reads lines of the form "stime: value value" into one batch, in the order given.
func ParseRows(s *tuple.Schema, lines []string) (*tuple.Batch, error) {
	b := tuple.NewBatchBuilder(s)
	for _, line := range lines {
		head, rest, ok := strings.Cut(line, ":")
		values := strings.Fields(rest)
		if !ok || len(values) != s.Len() {
			return nil, fmt.Errorf("optest: row %q: want \"stime:\" and %d values", line, s.Len())
		}
		t, err := parseTime(head)
		if err != nil {
			return nil, fmt.Errorf("optest: row %q: %w", line, err)
		}
		for j, v := range values {
			if err := parseValue(b, j, v); err != nil {
				return nil, fmt.Errorf("optest: row %q: %w", line, err)
			}
		}
		b.EndRow(t)
	}
	return b.Take(), nil
}

func parseTime(text string) (tuple.Time, error) {
	switch text = strings.TrimSpace(text); text {
	case "end":
		return tuple.MaxTime, nil
	case "0":
		return 0, nil
	}
	us, err := tuple.ParseDuration(text)
	return tuple.Time(us), err
}

func parseValue(b *tuple.BatchBuilder, j int, text string) error {
	if text == "null" {
		b.AppendNull(j)
		return nil
	}
	t := b.Schema().Field(j).Type
	if t.Kind == tuple.List {
		return parseList(b, j, t, text)
	}
	if t.Kind.IsBinary() {
		v, err := parseBinary(t.Kind, text)
		if err == nil {
			b.AppendBin(j, v)
		}
		return err
	}
	return parseNumber(b, j, t, text)
}

func parseNumber(b *tuple.BatchBuilder, j int, t tuple.Type, text string) error {
	var n int64
	var err error
	switch t.Kind {
	case tuple.Bool:
		b.AppendBool(j, text == "true")
		return nil
	case tuple.Float64:
		f, err := strconv.ParseFloat(text, 64)
		b.AppendFloat(j, f)
		return err
	case tuple.Decimal:
		n, err = tuple.ParseDecimal(text, t.Scale)
	case tuple.Timestamp, tuple.Duration:
		var at tuple.Time
		at, err = parseTime(text)
		n = int64(at)
	default:
		n, err = strconv.ParseInt(text, 10, 64)
	}
	b.AppendInt(j, n)
	return err
}

func parseBinary(k tuple.Kind, text string) ([]byte, error) {
	switch k {
	case tuple.IP:
		a, err := netip.ParseAddr(text)
		if err != nil {
			return nil, err
		}
		v := tuple.IPBytes(a)
		return v[:], nil
	case tuple.CIDR:
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		v := tuple.CIDRBytes(p)
		return v[:], nil
	case tuple.Bytes:
		return hex.DecodeString(text)
	}
	if strings.HasPrefix(text, `"`) {
		s, err := strconv.Unquote(text)
		return []byte(s), err
	}
	return []byte(text), nil
}

func parseList(b *tuple.BatchBuilder, j int, t tuple.Type, text string) error {
	body := strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	for _, v := range strings.Split(body, ",") {
		if body == "" {
			break
		}
		if !t.Elem.IsBinary() {
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				return err
			}
			b.Col(j).Elem.Int = append(b.Col(j).Elem.Int, n)
			continue
		}
		x, err := parseBinary(t.Elem, v)
		if err != nil {
			return err
		}
		b.AppendElemBin(j, x)
	}
	b.EndList(j)
	return nil
}
