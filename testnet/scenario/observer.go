package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"fednode/testnet"
)

// observer follows an output as a client that wants the latest results, and notes what it sees and when.
type observer struct {
	net    network
	output string

	mu   sync.Mutex
	from string // where to go on
	last uint64 // id of the last stable row
	gap  bool   // rows behind it are lost
	// generation and passed are those of the last stable row, and its stime.
	generation string
	passed     time.Time
	seen       seen
	calm       delays        // of rows before the first fault
	armed      bool          // there was a fault
	usual      time.Duration // normal delay, known once armed
	high       time.Time     // highest stime of any row
	open       map[int64]int // tentative rows that are not replaced, by stime in µs
	begun      time.Time     // of the observation
	heard      time.Time     // when the last event came
	quiet      time.Duration // for which nothing had come before it
	fresh      string        // what came between the row before and this one
	// settle is how long rows do not count: parts of the query still start.
	settle time.Duration
}

// seen is what an observer saw.
type seen struct {
	stable, tentative uint64
	lost              uint64 // gaps
	undone            []string
	worst             slowest // of the rows that were new
	// openUntil is when tentative rows were last held; lateUntil when a stable row last came later than usual.
	openUntil, lateUntil time.Time
	broke                string // why the connection was lost last
}

// slowest is the row that was new when it came and had been longest under way.
type slowest struct {
	delay time.Duration
	at    time.Time // when it came
	stime time.Time
	id    uint64 // 0 of a tentative row
	quiet time.Duration
	after string
}

func newObserver(net network, output string) *observer {
	return &observer{net: net, output: output, from: "beginning", open: make(map[int64]int), calm: make(delays), begun: time.Now(), settle: settleFor}
}

// settleFor is how long a query settles.
const settleFor = time.Second

// again is how long to wait before a tail that broke off is taken up again.
const again = 50 * time.Millisecond

// run follows until ctx ends.
func (o *observer) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := o.net.Follow(ctx, o.output, o.place(), o.event)
		o.lostConnection(err)
		select {
		case <-time.After(again):
		case <-ctx.Done():
		}
	}
}

func (o *observer) place() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.from
}

// lostConnection forgets the tentative rows: who reconnects gets them again.
func (o *observer) lostConnection(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.open)
	o.fresh = "a new connection"
	if err != nil {
		o.seen.broke = err.Error()
	}
}

// event takes one event of the tail.
func (o *observer) event(e testnet.Event) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if !o.heard.IsZero() {
		o.quiet = now.Sub(o.heard)
	}
	o.heard = now
	var err error
	switch e.Name {
	case "":
		err = o.stable(e, now)
	case "tentative":
		err = o.tentative(e, now)
	case "undo":
		err = o.undo(e.Data)
	case "done":
		err = o.done(e.Data)
	case "gap":
		if o.last > 0 { // what was freed before the observer came is not lost
			o.seen.lost++
		}
		o.gap, o.fresh = true, "a gap"
	}
	if len(o.open) > 0 {
		o.seen.openUntil = now
	}
	return err
}

// key is what every row begins with.
type key struct {
	ID    uint64    `json:"id"`
	Stime time.Time `json:"stime"`
}

func (o *observer) stable(e testnet.Event, now time.Time) error {
	var k key
	if err := json.Unmarshal(e.Data, &k); err != nil {
		return fmt.Errorf("a row that cannot be read: %w", err)
	}
	// Behind a gap numbers go on at a later one, or anew in another generation, whose rows come later.
	generation, _, _ := strings.Cut(e.ID, ":")
	switch anew := o.gap && generation != o.generation; {
	case o.last == 0:
	case anew && k.Stime.Before(o.passed):
		o.seen.undone = append(o.seen.undone, fmt.Sprintf("a row of %v after one of %v: %.200s", k.Stime, o.passed, e.Data))
	case !anew && (k.ID <= o.last || k.ID != o.last+1 && !o.gap):
		o.seen.undone = append(o.seen.undone, fmt.Sprintf("id %d after %d: %.200s", k.ID, o.last, e.Data))
	}
	o.last, o.from, o.gap, o.generation, o.passed = k.ID, e.ID, false, generation, k.Stime
	o.seen.stable++
	if o.armed && now.Sub(k.Stime) > o.usual+lateBy {
		o.seen.lateUntil = now
	}
	o.arrived(k, now)
	return nil
}

func (o *observer) tentative(e testnet.Event, now time.Time) error {
	var k key
	if err := json.Unmarshal(e.Data, &k); err != nil {
		return fmt.Errorf("a row that cannot be read: %w", err)
	}
	o.seen.tentative++
	o.open[k.Stime.UnixMicro()]++
	k.ID = 0
	o.arrived(k, now)
	return nil
}

// arrived measures the delay of a row, if it is newer than all before.
func (o *observer) arrived(k key, now time.Time) {
	after := o.fresh
	o.fresh = ""
	if !k.Stime.After(o.high) {
		return
	}
	o.high = k.Stime
	d := now.Sub(k.Stime)
	if !o.armed {
		if now.Sub(o.begun) <= o.settle {
			return // what was there before the observer came is not late
		}
		o.calm.add(d)
	}
	if d > o.seen.worst.delay {
		o.seen.worst = slowest{delay: d, at: now, stime: k.Stime, id: k.ID, quiet: o.quiet, after: after}
	}
}

// lateBy is how much later than usual a stable row has to come to show that the results have not caught up.
const lateBy = 500 * time.Millisecond

// normal is the delay of most rows before the first fault. Callers hold mu.
func (o *observer) normal() time.Duration {
	if o.armed {
		return o.usual
	}
	return o.calm.median()
}

// arm says that the first fault comes: what was seen until now is what is normal.
func (o *observer) arm() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.armed {
		o.usual = o.calm.median()
		o.armed = true
		o.seen.worst = slowest{}
	}
}

// undo voids tentative rows from a time on.
func (o *observer) undo(data []byte) error {
	var v struct {
		From *time.Time `json:"from"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	for at := range o.open {
		if v.From == nil || at >= v.From.UnixMicro() {
			delete(o.open, at)
		}
	}
	return nil
}

// done replaces tentative rows before a time.
func (o *observer) done(data []byte) error {
	var v struct {
		Before json.RawMessage `json:"before"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	if bytes.Equal(v.Before, []byte(`"end"`)) {
		clear(o.open)
		return nil
	}
	var before time.Time
	if err := json.Unmarshal(v.Before, &before); err != nil {
		return err
	}
	for at := range o.open {
		if at < before.UnixMicro() {
			delete(o.open, at)
		}
	}
	return nil
}

// saw returns what was seen so far, and the normal delay.
func (o *observer) saw() (seen, time.Duration, int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.seen
	return s, o.normal(), len(o.open)
}
