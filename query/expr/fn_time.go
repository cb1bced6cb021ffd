package expr

import (
	"fmt"
	"strings"
	"time"

	"fednode/query/expr/zone"
	"fednode/query/spec"
	"fednode/query/tuple"
)

var timeFunctions = []function{
	{name: "unix_seconds", group: "time", params: params("t timestamp"), result: tuple.Int64,
		row: func(c *call, i int) bool { return c.setInt(i, floorDivide(c.int(0, i), tuple.Second)) },
		doc: "Whole seconds since 1970-01-01 UTC, rounded down."},
	{name: "unix_millis", group: "time", params: params("t timestamp"), result: tuple.Int64,
		row: func(c *call, i int) bool { return c.setInt(i, floorDivide(c.int(0, i), tuple.Millisecond)) },
		doc: "Whole milliseconds since 1970-01-01 UTC, rounded down."},
	{name: "unix_micros", group: "time", params: params("t timestamp"), result: tuple.Int64, row: keepInt,
		doc: "Microseconds since 1970-01-01 UTC."},
	{name: "from_unix", group: "time", params: params("n int64", "unit string!"), result: tuple.Timestamp, counts: true, row: fromUnixInt, prepare: unitAt(1),
		doc: "The time n units ('s', 'ms', 'us', 'ns') after 1970-01-01 UTC; digits below the microsecond are cut, rounding down."},
	{name: "from_unix", group: "time", params: params("x float64", "unit string!"), result: tuple.Timestamp, counts: true, row: fromUnixFloat, prepare: unitAt(1),
		doc: "The same of a float, rounded down to the microsecond."},
	{name: "date_trunc", group: "time", params: params("part string!", "t timestamp", "zone string?!"), result: tuple.Timestamp, row: truncRow, prepare: partAt(0, 2),
		doc: "The beginning of the part of time that t lies in: microsecond, millisecond, second, minute, hour, day, week (Monday), month, quarter, year; in UTC or the zone."},
	{name: "date_part", group: "time", params: params("part string!", "t timestamp", "zone string?!"), result: tuple.Int64, row: partRow, prepare: partAt(0, 2),
		doc: "A part of t as a number: those of date_trunc, and dow (Sunday is 0), isodow (Monday is 1), doy (from 1), isoyear; week is the ISO week, second and below count within the next larger one."},
	{name: "format_time", group: "time", params: params("t timestamp", "layout string", "zone string?!"), result: tuple.String, counts: true, row: formatTime, prepare: zoneAt(2),
		doc: "t in a layout that writes the reference time Mon Jan 2 15:04:05 MST 2006, as in '2006-01-02'."},
	{name: "parse_time", group: "time", params: params("s string", "layout string", "zone string?!"), result: tuple.Timestamp, row: parseTime, prepare: zoneAt(2),
		doc: "The time that s gives in a layout like format_time's; null if s does not fit it."},
}

// clockFunctions are date_part under the names of the parts.
var clockFunctions = func() []function {
	var out []function
	for _, name := range []string{"year", "month", "day", "hour", "minute", "second"} {
		out = append(out, function{name: name, group: "time", params: params("t timestamp", "zone string?!"), result: tuple.Int64, row: partRow, prepare: namedPart(name),
			doc: "The same as date_part('" + name + "', t, zone)."})
	}
	return out
}()

// timeLayouts are what literals and casts read: RFC 3339, also with a space or an offset without a colon, and without zone
// (UTC) or time of day.
var timeLayouts = [...]string{
	time.RFC3339Nano,
	"2006-01-02T15:04:05.999999999-0700",
	"2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04:05.999999999",
	"2006-01-02T15:04",
	"2006-01-02 15:04",
	"2006-01-02",
}

func readTime(text string) (value, bool) {
	text = strings.TrimSpace(text)
	for _, layout := range timeLayouts {
		if t, err := time.ParseInLocation(layout, text, time.UTC); err == nil {
			return value{i: t.UnixMicro()}, true
		}
	}
	return value{}, false
}

// Units per second, and what part of the microsecond they have.
var unixUnits = map[string]int64{"s": tuple.Second, "ms": tuple.Millisecond, "us": 1, "ns": 0}

func unitAt(n int) func(args []*plan) (any, int, error) {
	return func(args []*plan) (any, int, error) {
		us, ok := unixUnits[string(args[n].val.s)]
		if !ok {
			return nil, n, fmt.Errorf("the unit is 's', 'ms', 'us' or 'ns', not '%s'", shorten(string(args[n].val.s)))
		}
		return us, n, nil
	}
}

func fromUnixInt(c *call, i int) bool {
	us := c.state.(int64)
	if us == 0 {
		return c.setInt(i, floorDivide(c.int(0, i), 1000))
	}
	r, f := mulInt(c.int(0, i), us)
	return c.setChecked(i, r, f)
}

func fromUnixFloat(c *call, i int) bool {
	x := c.float(0, i)
	if us := c.state.(int64); us == 0 {
		x /= 1000
	} else {
		x = float64(x * float64(us))
	}
	if !floatRange(x) {
		return c.overflow()
	}
	r := int64(x)
	return c.setInt(i, r-int64(bit(float64(r) > x)))
}

// timePart is the prepared state of the functions that look at parts of times.
type timePart struct {
	name string
	size int64 // in microseconds where it is the same everywhere, else 0
	zone *time.Location
}

var partSizes = map[string]int64{
	"microsecond": 1, "millisecond": tuple.Millisecond, "second": tuple.Second, "minute": tuple.Minute, "hour": tuple.Hour,
	"day": 0, "week": 0, "month": 0, "quarter": 0, "year": 0, "dow": 0, "isodow": 0, "doy": 0, "isoyear": 0,
}

var truncParts = []string{"microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year"}

func partAt(part, at int) func(args []*plan) (any, int, error) {
	return func(args []*plan) (any, int, error) {
		name := strings.ToLower(string(args[part].val.s))
		size, ok := partSizes[name]
		if !ok {
			return nil, part, fmt.Errorf("no part of time '%s'; %s", shorten(name), spec.DidYouMean(name, truncParts))
		}
		p, i, err := zoneAt(at)(args)
		if err != nil {
			return nil, i, err
		}
		return &timePart{name: name, size: size, zone: p.(*timePart).zone}, part, nil
	}
}

func namedPart(name string) func(args []*plan) (any, int, error) {
	return func(args []*plan) (any, int, error) {
		p, i, err := zoneAt(1)(args)
		if err != nil {
			return nil, i, err
		}
		return &timePart{name: name, size: partSizes[name], zone: p.(*timePart).zone}, 0, nil
	}
}

// zoneAt loads the zone that is argument n, UTC if it is not given.
func zoneAt(n int) func(args []*plan) (any, int, error) {
	return func(args []*plan) (any, int, error) {
		p := &timePart{zone: time.UTC}
		if n >= len(args) {
			return p, 0, nil
		}
		loc, err := zone.Load(string(args[n].val.s))
		p.zone = loc
		return p, n, err
	}
}

func formatTime(c *call, i int) bool {
	t := time.UnixMicro(c.int(0, i)).In(c.state.(*timePart).zone)
	return c.setText(i, t.AppendFormat(c.tmp[:0], string(c.bin(1, i))))
}

func parseTime(c *call, i int) bool {
	t, err := time.ParseInLocation(string(c.bin(1, i)), string(c.bin(0, i)), c.state.(*timePart).zone)
	return err == nil && c.setInt(i, t.UnixMicro())
}
