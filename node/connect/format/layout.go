package format

import (
	"math/big"
	"strings"
	"time"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// layoutOp is one element of a compiled layout: a literal byte, or a part of the time with two digits (the year has
// four).
type layoutOp struct {
	part    layoutPart
	literal byte
}

type layoutPart uint8

const (
	layoutLiteral layoutPart = iota
	layoutYear
	layoutMonth
	layoutDay
	layoutHour
	layoutMinute
	layoutSecond
	layoutParts = iota
)

// compileLayout returns the layout as a sequence of numbers and literals; nil if it has anything else (names, offsets,
// unpadded numbers), which only package time reads.
func compileLayout(layout string) []layoutOp {
	var ops []layoutOp
	for layout != "" {
		part, size := layoutLiteral, 1
		for i, text := range [...]string{"2006", "01", "02", "15", "04", "05"} {
			if strings.HasPrefix(layout, text) {
				part, size = layoutYear+layoutPart(i), len(text)
				break
			}
		}
		c := layout[0]
		if part == layoutLiteral {
			afterSecond := len(ops) > 0 && ops[len(ops)-1].part == layoutSecond
			if n := fractionSize(layout); n > 0 && afterSecond {
				layout = layout[n:] // reading a second reads the fraction, too
				continue
			}
			if c != 'T' && (c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || c >= 0x80) {
				return nil
			}
		}
		ops = append(ops, layoutOp{part, c})
		layout = layout[size:]
	}
	return ops
}

// fractionSize returns the length of a fraction such as ".000" or ",999" at the beginning of a layout.
func fractionSize(layout string) int {
	if layout[0] != '.' && layout[0] != ',' {
		return 0
	}
	n := 1
	for n < len(layout) && (layout[n] == '0' || layout[n] == '9') && layout[n] == layout[min(1, len(layout)-1)] {
		n++
	}
	if n == 1 {
		return 0
	}
	return n
}

func (t *timeParser) readLayout(v []byte) (int64, connect.Reason) {
	if t.ops == nil {
		at, err := time.ParseInLocation(t.layout, string(v), t.zone)
		if err != nil {
			return 0, connect.WrongType
		}
		return at.UnixMicro(), connect.OK
	}
	part := [layoutParts]int{layoutYear: 1970, layoutMonth: 1, layoutDay: 1}
	var micros int64
	for _, op := range t.ops {
		ok := false
		switch op.part {
		case layoutLiteral:
			if len(v) > 0 && v[0] == op.literal {
				v, ok = v[1:], true
			}
		case layoutYear:
			if len(v) >= 4 {
				part[layoutYear], ok = digits4(v)
				v = v[4:]
			}
		default:
			if len(v) >= 2 {
				part[op.part], ok = digits2(v)
				v = v[2:]
			}
			if op.part == layoutSecond {
				micros, v = readFraction(v)
			}
		}
		if !ok {
			return 0, connect.WrongType
		}
	}
	if len(v) > 0 || !validDate(part[layoutYear], part[layoutMonth], part[layoutDay]) ||
		part[layoutHour] > 23 || part[layoutMinute] > 59 || part[layoutSecond] > 60 {
		return 0, connect.WrongType
	}
	at := daysOf(part[layoutYear], part[layoutMonth], part[layoutDay])*tuple.Day + int64(part[layoutHour])*tuple.Hour +
		int64(part[layoutMinute])*tuple.Minute + int64(part[layoutSecond])*tuple.Second + micros
	return t.inZone(at), connect.OK
}

// floorRat returns x times the unit in microseconds, rounded down.
func floorRat(x *big.Rat, unit connect.Unit) (int64, connect.Reason) {
	x.Mul(x, big.NewRat(unit.Mul, unit.Div))
	q := new(big.Int).Div(x.Num(), x.Denom()) // Euclidean, and the denominator is positive: it rounds down
	if !q.IsInt64() {
		return 0, connect.OutOfRange
	}
	return q.Int64(), connect.OK
}
