package scenario

import (
	"maps"
	"slices"
	"time"
)

// delays counts delays by the millisecond. A client that measures must not take longer for a row the more rows there were:
// it would measure itself.
type delays map[time.Duration]int

func (d delays) add(delay time.Duration) { d[delay.Round(time.Millisecond)]++ }

// median returns the delay that most are within; 0 if there is none.
func (d delays) median() time.Duration {
	all := 0
	for _, n := range d {
		all += n
	}
	for _, delay := range slices.Sorted(maps.Keys(d)) {
		if all -= 2 * d[delay]; all < 0 {
			return delay
		}
	}
	return 0
}
