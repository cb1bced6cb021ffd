package format

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// timeParser reads the timestamps of one column. It remembers the last minute and the last quarter of an hour, since
// rows that follow one another are mostly near in time.
type timeParser struct {
	layout string
	ops    []layoutOp // the layout compiled; nil: only package time can read it
	parts  bool       // numbers: year month day …
	zone   *time.Location

	minute       [2]uint64 // "2006-01-02T15:04" as two words
	minuteMicros int64     // of that text, as if it were UTC

	quarter       int64 // local seconds / 900 that quarterOffset holds for
	quarterOffset int64 // seconds east of UTC
	quarterKnown  bool
}

func newTimeParser(s *connect.ColumnSpec) *timeParser {
	t := &timeParser{layout: s.Layout, parts: len(s.From) > 0 && s.Layout == ""}
	if s.Zone != "" {
		// The zone was checked with the declaration; without it the text is refused, not misread.
		t.zone, _ = time.LoadLocation(s.Zone)
	} else if s.Layout != "" || t.parts {
		t.zone = time.UTC
	}
	if s.Layout != "" {
		t.ops = compileLayout(s.Layout)
	}
	t.minute = minuteWords([]byte("1970-01-01T00:00")) // minuteMicros is 0
	return t
}

// read returns the microseconds of a text.
func (t *timeParser) read(v []byte, unit connect.Unit) (int64, connect.Reason) {
	switch {
	case t.layout != "":
		return t.readLayout(v)
	case t.parts:
		return t.readParts(v)
	case unit.Mul != 0 && looksNumber(v):
		return readEpoch(v, unit)
	}
	return t.readRFC3339(v)
}

// readRFC3339 reads 2006-01-02T15:04:05 with an optional fraction, T or a space in the middle, and an offset Z, +hh:mm
// or +hhmm; without one the column's zone counts. Digits below the microsecond are dropped.
func (t *timeParser) readRFC3339(v []byte) (int64, connect.Reason) {
	if len(v) < len("2006-01-02T15:04:05") {
		return 0, connect.WrongType
	}
	if minuteWords(v) != t.minute && !t.readMinute(v) {
		return 0, connect.WrongType
	}
	sec, ok := digits2(v[17:])
	if !ok || v[16] != ':' || sec > 60 {
		return 0, connect.WrongType
	}
	micros, rest := readFraction(v[19:])
	at := t.minuteMicros + int64(sec)*tuple.Second + micros
	if len(rest) == 1 && rest[0]|0x20 == 'z' {
		return at, connect.OK
	}
	if len(rest) == 0 {
		if t.zone == nil {
			return 0, connect.WrongType
		}
		return t.inZone(at), connect.OK
	}
	east, ok := readOffset(rest)
	if !ok {
		return 0, connect.WrongType
	}
	return at - east, connect.OK
}

func minuteWords(v []byte) [2]uint64 {
	return [2]uint64{binary.LittleEndian.Uint64(v), binary.LittleEndian.Uint64(v[8:])}
}

func (t *timeParser) readMinute(v []byte) bool {
	year, ok1 := digits4(v)
	month, ok2 := digits2(v[5:])
	day, ok3 := digits2(v[8:])
	hour, ok4 := digits2(v[11:])
	minute, ok5 := digits2(v[14:])
	ok := ok1 && ok2 && ok3 && ok4 && ok5 && v[4] == '-' && v[7] == '-' && v[13] == ':' &&
		(v[10]|0x20 == 't' || v[10] == ' ')
	if !ok || !validDate(year, month, day) || hour > 23 || minute > 59 {
		return false
	}
	t.minute = minuteWords(v)
	t.minuteMicros = daysOf(year, month, day)*tuple.Day + int64(hour)*tuple.Hour + int64(minute)*tuple.Minute
	return true
}

// readFraction reads a fraction of a second, if there is one, and returns its microseconds and what follows.
func readFraction(v []byte) (micros int64, rest []byte) {
	if len(v) < 2 || v[0] != '.' && v[0] != ',' || v[1]-'0' > 9 {
		return 0, v
	}
	scale := int64(100_000)
	i := 1
	for ; i < len(v) && v[i]-'0' <= 9; i++ {
		micros += int64(v[i]-'0') * scale
		scale /= 10
	}
	return micros, v[i:]
}

// readOffset reads +hh:mm, +hhmm or +hh as microseconds east of UTC.
func readOffset(v []byte) (int64, bool) {
	if v[0] != '+' && v[0] != '-' {
		return 0, false
	}
	hour, ok := digits2(v[1:])
	rest, minute := v[min(3, len(v)):], 0
	if len(rest) > 0 {
		if rest[0] == ':' {
			rest = rest[1:]
		}
		var fine bool
		minute, fine = digits2(rest)
		ok = ok && fine && len(rest) == 2
	}
	if !ok || hour > 24 || minute > 59 {
		return 0, false
	}
	east := int64(hour)*tuple.Hour + int64(minute)*tuple.Minute
	if v[0] == '-' {
		east = -east
	}
	return east, true
}

// inZone returns the instant at which clocks of the zone show local. Where they show it twice or never, package time
// chooses.
func (t *timeParser) inZone(local int64) int64 {
	if t.zone == time.UTC {
		return local
	}
	quarter := int64(tuple.Time(local).FloorTo(15*tuple.Minute, 0))
	if !t.quarterKnown || quarter != t.quarter {
		first, last := t.offsetAt(quarter), t.offsetAt(quarter+15*tuple.Minute-1)
		if first != last {
			return local - t.offsetAt(local)*tuple.Second
		}
		t.quarter, t.quarterOffset, t.quarterKnown = quarter, first, true
	}
	return local - t.quarterOffset*tuple.Second
}

// offsetAt returns the seconds east of UTC when clocks of the zone show local.
func (t *timeParser) offsetAt(local int64) int64 {
	u := tuple.Time(local).GoTime()
	at := time.Date(u.Year(), u.Month(), u.Day(), u.Hour(), u.Minute(), u.Second(), u.Nanosecond(), t.zone)
	return u.Unix() - at.Unix()
}

// readParts reads "year month day hour minute second", 3 to 6 numbers; the last may have a fraction if it is the second.
func (t *timeParser) readParts(v []byte) (int64, connect.Reason) {
	var part [6]int
	var micros int64
	n := 0
	for i := 0; i < len(v); n++ {
		if n == len(part) {
			return 0, connect.WrongType
		}
		start := i
		for ; i < len(v) && v[i]-'0' <= 9; i++ {
			part[n] = part[n]*10 + int(v[i]-'0')
		}
		if i == start || i-start > 4 {
			return 0, connect.WrongType
		}
		if n == 5 {
			var rest []byte
			micros, rest = readFraction(v[i:])
			i = len(v) - len(rest)
		}
		if i < len(v) {
			if v[i] != ' ' {
				return 0, connect.WrongType
			}
			i++
		}
	}
	if n < 3 || !validDate(part[0], part[1], part[2]) || part[3] > 23 || part[4] > 59 || part[5] > 60 {
		return 0, connect.WrongType
	}
	at := daysOf(part[0], part[1], part[2])*tuple.Day + int64(part[3])*tuple.Hour + int64(part[4])*tuple.Minute + int64(part[5])*tuple.Second
	return t.inZone(at + micros), connect.OK
}

func digits2(v []byte) (int, bool) {
	if len(v) < 2 {
		return 0, false
	}
	a, b := v[0]-'0', v[1]-'0'
	return int(a)*10 + int(b), a <= 9 && b <= 9
}

func digits4(v []byte) (int, bool) {
	a, ok1 := digits2(v)
	b, ok2 := digits2(v[2:])
	return a*100 + b, ok1 && ok2
}

func validDate(year, month, day int) bool {
	if month < 1 || month > 12 || day < 1 {
		return false
	}
	return day <= 28 || day <= daysIn(year, month)
}

func daysIn(year, month int) int {
	if month == 2 {
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 30 + (month+month>>3)&1
}

// daysOf returns the days from 1970-01-01 to a date of the Gregorian calendar. Years are counted from March, so that
// the leap day is the last of its year.
func daysOf(year, month, day int) int64 {
	y, m := int64(year), int64(month)
	if m <= 2 {
		y, m = y-1, m+12
	}
	era := y / 400
	if y < 0 {
		era = (y - 399) / 400
	}
	yearOfEra := y - era*400
	dayOfYear := (153*(m-3)+2)/5 + int64(day) - 1
	return era*146097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - 719468
}

// readEpoch reads a number of a unit since the epoch. A number that is an unlikely time in its unit, but a likely one in
// another, is refused: such data would otherwise be silently a thousand times too early or too late.
func readEpoch(v []byte, unit connect.Unit) (int64, connect.Reason) {
	x, reason := readScaled(v, unit)
	if reason == connect.OK && likely(x) {
		return x, connect.OK
	}
	if reason == connect.WrongType {
		return 0, reason
	}
	if likelyUnit(v) != "" {
		return 0, connect.WrongUnit
	}
	return x, reason
}

// likely reports whether a time lies in the years 2000 to 2099.
func likely(micros int64) bool { return micros >= 946_684_800e6 && micros < 4_102_444_800e6 }

// likelyUnit returns the unit in which a number is a likely time; "" if there is none.
func likelyUnit(v []byte) string {
	for _, name := range [...]string{"s", "ms", "us", "ns"} {
		unit, _ := connect.UnitMicros(name)
		if x, reason := readScaled(v, unit); reason == connect.OK && likely(x) {
			return name
		}
	}
	return ""
}

// describeUnit says what a number is in its declared unit, and in which it would make sense.
func (t *timeParser) describeUnit(v []byte, unit connect.Unit, name string) string {
	if name == "" {
		name = "s"
	}
	when := "beyond all years"
	if x, reason := readScaled(v, unit); reason == connect.OK {
		at := tuple.Time(x).GoTime()
		when = at.Format("2006-01-02")
		if y := at.Year(); y > 9999 || y < 0 {
			when = fmt.Sprintf("year %d", y)
		}
	}
	return fmt.Sprintf("%s in %s is %s: looks like %s", quoteText(v), name, when, likelyUnit(v))
}

// readScaled reads a decimal number of a unit as microseconds, exactly; digits below are rounded down.
func readScaled(v []byte, unit connect.Unit) (int64, connect.Reason) {
	s, neg := v, false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg, s = s[0] == '-', s[1:]
	}
	whole, i := uint64(0), 0
	for ; i < len(s) && s[i]-'0' <= 9; i++ {
		if whole > math.MaxUint64/20 {
			return 0, connect.OutOfRange
		}
		whole = whole*10 + uint64(s[i]-'0')
	}
	digits := i
	mul := uint64(unit.Mul)
	if whole > uint64(math.MaxInt64)/mul {
		return 0, connect.OutOfRange
	}
	micros, below := whole*mul, false
	if i < len(s) && s[i] == '.' {
		for i++; i < len(s) && s[i]-'0' <= 9; i++ {
			digits++
			d := uint64(s[i] - '0')
			if mul /= 10; mul > 0 {
				micros += d * mul
			} else if d != 0 {
				below = true
			}
		}
	}
	if i < len(s) || digits == 0 {
		return readScaledExact(v, unit)
	}
	if unit.Div > 1 {
		below = below || micros%uint64(unit.Div) != 0
		micros /= uint64(unit.Div)
	}
	if micros > math.MaxInt64-1 {
		return 0, connect.OutOfRange
	}
	if !neg {
		return int64(micros), connect.OK
	}
	if below {
		micros++
	}
	return -int64(micros), connect.OK
}

// readScaledExact is readScaled for numbers with an exponent.
func readScaledExact(v []byte, unit connect.Unit) (int64, connect.Reason) {
	x, ok := exactNumber(v)
	if !ok {
		return 0, connect.WrongType
	}
	return floorRat(x, unit)
}
