package main

import (
	"fmt"
	"time"

	"fednode/node/api"
	"fednode/query/tuple"
)

// shortDuration prints a duration with its two largest units.
func shortDuration(d time.Duration) string {
	switch d = d.Round(time.Second); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}

// streamTimeText prints a place in a stream's time.
func streamTimeText(t api.StreamTime) string {
	switch t {
	case api.NoTime:
		return "-"
	case api.EndTime:
		return "its end"
	}
	return tuple.Time(t).GoTime().Format("2006-01-02 15:04:05.0")
}

// agoText prints how long ago something was.
func agoText(t *time.Time, now time.Time) string {
	if t == nil {
		return "none yet"
	}
	return shortDuration(now.Sub(*t)) + " ago"
}

// rttText prints a round trip in seconds.
func rttText(s float64) string {
	switch {
	case s == 0:
		return "-"
	case s < 0.001:
		return fmt.Sprintf("%.0f µs", s*1e6)
	}
	return fmt.Sprintf("%.1f ms", s*1e3)
}
