package evaluate

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"fednode/testnet"
)

// lateness follows the results of a query, and notes how late they are.
type lateness struct {
	mu    sync.Mutex
	since time.Time
	high  time.Time // the latest time of a result
	worst time.Duration
	// least is the shortest delay in each third of a look: what a busy machine adds for a moment is not in it.
	least [3]time.Duration
}

// follow follows until ctx ends.
func (l *lateness) follow(ctx context.Context, net *testnet.Net) {
	for ctx.Err() == nil {
		// Why the connection ended does not matter: what is not seen is late.
		_ = net.Follow(ctx, net.Outputs()[0], "now", l.event)
		_ = sleep(ctx, 50*time.Millisecond)
	}
}

func (l *lateness) event(e testnet.Event) error {
	if e.Name != "" && e.Name != "tentative" {
		return nil
	}
	var row struct {
		Stime time.Time `json:"stime"`
	}
	if err := json.Unmarshal(e.Data, &row); err != nil {
		return err
	}
	l.came(row.Stime, time.Now())
	return nil
}

// came notes a result with a time.
func (l *lateness) came(stime, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !stime.After(l.high) {
		return
	}
	l.high = stime
	late := now.Sub(stime)
	l.worst = max(l.worst, late)
	third := min(2, max(0, int(3*now.Sub(l.since)/rateFor)))
	if l.least[third] == 0 || late < l.least[third] {
		l.least[third] = late
	}
}

// reset forgets how late results were: a look begins.
func (l *lateness) reset(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since, l.worst, l.least = now, 0, [3]time.Duration{}
}

// seen is the longest delay until now, also of what has not come yet, and by how much the shortest grew from the first third of
// the look to the last.
func (l *lateness) seen(now time.Time) (longest, growth time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.least[0] > 0 && l.least[2] > 0 {
		growth = max(0, l.least[2]-l.least[0])
	}
	return max(l.worst, now.Sub(l.high)), growth
}
