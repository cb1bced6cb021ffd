package failbench

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"fednode/testnet"
)

// arrival is a row as it came to a client.
type arrival struct {
	at    time.Time
	stime time.Time
	src   string
	n     int64
}

// watch follows a stream as a client that wants the latest results.
type watch struct {
	stream string
	follow func(ctx context.Context, each func(testnet.Event) error) error

	mu        sync.Mutex
	rows      []arrival // that were new when they came, since the last reset
	high      time.Time // largest stime so far
	tentative int       // rows, since the last reset
	gaps      int       // stretches that are lost, since the beginning
}

// again is how long to wait before a stream that broke off is followed again.
const again = 50 * time.Millisecond

// run follows until ctx ends.
func (w *watch) run(ctx context.Context) {
	for ctx.Err() == nil {
		_ = w.follow(ctx, w.event) // why it ended does not matter: what is not seen is a gap in the results
		select {
		case <-time.After(again):
		case <-ctx.Done():
		}
	}
}

// event takes one event of the stream.
func (w *watch) event(e testnet.Event) error {
	now := time.Now()
	if e.Name != "" && e.Name != "tentative" {
		w.mu.Lock()
		defer w.mu.Unlock()
		if e.Name == "gap" {
			w.gaps++
		}
		return nil
	}
	var row struct {
		Stime time.Time `json:"stime"`
		Src   string    `json:"src"`
		N     int64     `json:"n"`
	}
	if err := json.Unmarshal(e.Data, &row); err != nil {
		return fmt.Errorf("a row of %s that cannot be read: %w", w.stream, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Name == "tentative" {
		w.tentative++
	}
	if row.Stime.After(w.high) {
		w.high = row.Stime
		w.rows = append(w.rows, arrival{now, row.Stime, row.Src, row.N})
	}
	return nil
}

// reset forgets what came.
func (w *watch) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rows, w.tentative = nil, 0
}

// seen returns what came since the last reset.
func (w *watch) seen() (rows []arrival, tentative int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rows[:len(w.rows):len(w.rows)], w.tentative
}

// lost is how many stretches are lost.
func (w *watch) lost() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gaps
}

// latest is the time of the newest row.
func (w *watch) latest() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.high
}

// longestGap is the longest time without a new row that ends after from, until a moment.
func longestGap(rows []arrival, from, until time.Time) time.Duration {
	last, longest := from, time.Duration(0)
	for _, r := range rows {
		if r.at.After(until) {
			break
		}
		if r.at.After(from) {
			longest = max(longest, r.at.Sub(last))
		}
		last = r.at
	}
	return max(longest, until.Sub(last))
}

// added is by how much later rows came in results than on their source's own stream, of those that came on both.
func added(source, results []arrival) []time.Duration {
	type key struct {
		src string
		n   int64
	}
	entered := make(map[key]time.Time, len(source))
	for _, r := range source {
		entered[key{r.src, r.n}] = r.at
	}
	var out []time.Duration
	for _, r := range results {
		if at, ok := entered[key{r.src, r.n}]; ok {
			out = append(out, r.at.Sub(at))
		}
	}
	return out
}
