package expr

import (
	"time"

	"fednode/query/tuple"
)

// truncRow finds the beginning of a part of time. Parts up to the hour are counted from the local midnight's grid, so
// that a zone half an hour off has its own full hours; longer ones go by the calendar.
func truncRow(c *call, i int) bool {
	p, us := c.state.(*timePart), c.int(1, i)
	if p.size > 0 || p.zone == time.UTC && p.name == "day" {
		size := max(p.size, 1)
		if p.size == 0 {
			size = tuple.Day
		}
		off := p.offset(us)
		return c.setInt(i, int64(tuple.Time(us).FloorTo(size, -off)))
	}
	t := time.UnixMicro(us).In(p.zone)
	y, m, d := t.Date()
	switch p.name {
	case "week", "dow", "isodow":
		d -= (int(t.Weekday()) + 6) % 7
	case "month":
		d = 1
	case "quarter":
		m, d = (m-1)/3*3+1, 1
	case "year", "isoyear", "doy":
		m, d = 1, 1
	}
	return c.setInt(i, startOfDay(y, m, d, p.zone).UnixMicro())
}

// startOfDay is the first instant of a day in a zone. Where a change of clocks skips midnight that is later than 0:00,
// where it repeats midnight it is the first of the two.
func startOfDay(y int, m time.Month, d int, loc *time.Location) time.Time {
	t := time.Date(y, m, d, 0, 0, 0, 0, loc)
	_, at := t.Zone()
	if t.Hour() > 12 { // still the day before: midnight does not exist
		_, after := t.Add(12 * time.Hour).Zone()
		return t.Add(time.Duration(after-at) * time.Second)
	}
	_, before := t.Add(-12 * time.Hour).Zone()
	if first := t.Add(time.Duration(at-before) * time.Second); at < before && first.Hour() == 0 && first.Day() == t.Day() {
		return first
	}
	return t
}

// offset returns the zone's microseconds ahead of UTC at an instant.
func (p *timePart) offset(us int64) int64 {
	if p.zone == time.UTC {
		return 0
	}
	_, s := time.UnixMicro(us).In(p.zone).Zone()
	return int64(s) * tuple.Second
}

func partRow(c *call, i int) bool {
	p := c.state.(*timePart)
	at := 0
	if len(c.args) > 1 && c.args[0].Type.Kind == tuple.String {
		at = 1
	}
	return c.setInt(i, p.of(time.UnixMicro(c.int(at, i)).In(p.zone)))
}

func (p *timePart) of(t time.Time) int64 {
	switch p.name {
	case "microsecond":
		return int64(t.Nanosecond()/1000) % 1000
	case "millisecond":
		return int64(t.Nanosecond() / 1_000_000)
	case "second":
		return int64(t.Second())
	case "minute":
		return int64(t.Minute())
	case "hour":
		return int64(t.Hour())
	case "day":
		return int64(t.Day())
	case "month":
		return int64(t.Month())
	case "quarter":
		return int64(t.Month()-1)/3 + 1
	case "year":
		return int64(t.Year())
	case "dow":
		return int64(t.Weekday())
	case "isodow":
		return int64(t.Weekday()+6)%7 + 1
	case "doy":
		return int64(t.YearDay())
	}
	year, week := t.ISOWeek()
	if p.name == "isoyear" {
		return int64(year)
	}
	return int64(week)
}
