package topview

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"fednode/node/api"
	"fednode/query/tuple"
)

// unknown stands where there is no value.
const unknown = "-"

// tidy makes text from elsewhere fit a line: control characters, which a terminal would obey, become visible.
func tidy(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// scaled prints a number with three digits or so and a suffix from units, which are apart by step.
func scaled(v, step float64, units []string) string {
	i := 0
	for v >= step*0.9995 && i < len(units)-1 {
		v /= step
		i++
	}
	if v < 9.95 && (i > 0 || v != float64(int(v))) {
		return fmt.Sprintf("%.1f%s", v, units[i])
	}
	return fmt.Sprintf("%.0f%s", v, units[i])
}

func countText(v float64) string { return scaled(v, 1000, []string{"", "k", "M", "G", "T"}) }

func bytesText(n int64) string {
	return scaled(float64(max(0, n)), 1024, []string{" B", " KiB", " MiB", " GiB", " TiB"})
}

// rateCell shows a rate; nothing moving is dim.
func rateCell(perSec float64, ok bool) cell {
	switch {
	case !ok:
		return cell{unknown, dim}
	case perSec == 0:
		return cell{"0", dim}
	case perSec < 0.05:
		return cell{"<0.1", plain}
	}
	return cell{countText(perSec), plain}
}

// lossCell shows a number that should be zero.
func lossCell(c cell) cell {
	if c.tone == plain {
		c.tone = warn
	}
	return c
}

func totalCell(n uint64) cell { return rateCell(float64(n), true) }

// spanText prints a duration of at least a minute with its two largest units, a shorter one to a tenth of a second or
// less.
func spanText(d time.Duration) string {
	switch d = max(0, d); {
	case d < time.Minute && d%time.Second == 0:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Second:
		return fmt.Sprintf("%d ms", max(1, d.Milliseconds()))
	case d < 9950*time.Millisecond:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}

// rttText prints a round trip in seconds.
func rttText(s float64) string {
	switch {
	case s <= 0:
		return unknown
	case s < 0.001:
		return fmt.Sprintf("%.0f µs", s*1e6)
	}
	return fmt.Sprintf("%.1f ms", s*1e3)
}

// inTime reports whether t lies between the ends of stream time.
func inTime(t api.StreamTime) bool { return t != api.NoTime && t != api.EndTime }

// placeText prints a place in stream time; the short form leaves the date out.
func placeText(t api.StreamTime, short bool) string {
	switch {
	case t == api.NoTime:
		return unknown
	case t == api.EndTime:
		return "end"
	case short:
		return tuple.Time(t).GoTime().Format("15:04:05")
	}
	return tuple.Time(t).GoTime().Format("2006-01-02 15:04:05")
}

// lagCell shows how far a boundary is behind the front.
func lagCell(front, boundary api.StreamTime) cell {
	if !inTime(front) || !inTime(boundary) {
		return cell{unknown, dim}
	}
	return cell{spanText(span(front, boundary)), plain}
}

// span is the stream time from a boundary to the front, 0 if it is not behind. Times of centuries apart saturate.
func span(front, boundary api.StreamTime) time.Duration {
	const longest = int64(1<<63-1) / int64(time.Microsecond)
	micros := int64(front) - int64(boundary)
	switch {
	case front <= boundary:
		return 0
	case micros < 0 || micros > longest:
		return time.Duration(1<<63 - 1)
	}
	return time.Duration(micros) * time.Microsecond
}

// bar draws a share of a limit in so many cells, and says it in percent.
func bar(n, limit int64, cells int) cell {
	if limit <= 0 {
		return cell{unknown, dim}
	}
	share := min(1, float64(max(0, n))/float64(limit))
	full := int(share*float64(cells) + 0.5)
	if full == 0 && n > 0 && share >= 0.01 {
		full = 1
	}
	t := plain
	switch {
	case share >= 0.9:
		t = bad
	case share >= 0.6:
		t = warn
	}
	return cell{strings.Repeat("█", full) + strings.Repeat("░", cells-full) + fmt.Sprintf("%4.0f%%", share*100), t}
}

// seconds makes a duration of a JSON number; one too large to be true saturates.
func seconds(s float64) time.Duration {
	const longest = float64(1<<63-1) / 1e9
	return time.Duration(max(0, min(s, longest*0.99)) * 1e9)
}
