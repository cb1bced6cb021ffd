package dcaa

import (
	"fmt"
	"time"
)

// because says what keeps a producer from being the best there is: why it is left.
func (i *Intake) because(now Instant, n int) string {
	p, s := &i.producers[n], i.cfg.Settings
	switch {
	case !p.up:
		return "it is not heard"
	case p.diverged:
		return "its rows are not those of another replica"
	case !p.heard:
		return "it says nothing of the stream"
	case p.silent(now):
		return "it tells of more than it gives"
	}
	switch r := i.rank(now, n); {
	case r == stalled && p.outrun(now, s):
		return "another one has been ahead for " + spell(now, p.behindAt)
	case r == stalled && p.status.State != UpstreamFailure:
		return "it has not moved for " + spell(now, p.movedAt.Add(p.ahead))
	case r == stalled:
		return "it gives no tentative results"
	case r == late:
		return "its tentative results come too late"
	case p.status.State == Stable && r == tentative:
		return "it says STABLE and gives tentative results alone"
	case p.status.State == Stable && r == correcting:
		return "it holds what another one has given up"
	}
	return fmt.Sprintf("it is %s", p.status.State)
}

// spell is the time from one instant to another, as one reads it.
func spell(now, since Instant) string {
	return (time.Duration(now-since) * time.Microsecond).Round(10 * time.Millisecond).String()
}
