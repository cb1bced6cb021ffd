package flow

import (
	"maps"
	"slices"
	"strings"
	"time"

	"fednode/query/tuple"
)

// Partner bounds what a subscriber of another organisation may hold back; zero sets no bound.
type Partner struct {
	Bytes int64
	Age   time.Duration
}

// Lapse is a subscription of a partner that is not waited for any more: it meets a gap if it comes back too late.
type Lapse struct {
	// Acknowledged is what it had acknowledged, Since when it lapsed.
	Acknowledged tuple.Position
	Since        time.Time
}

// mostLapses is how many are remembered, for people.
const mostLapses = 64

// Lapses are the subscriptions of one stream that have lapsed and not come back, the latest of them. The zero value is ready.
type Lapses struct{ of map[string]Lapse }

// Note adds one.
func (l *Lapses) Note(name string, lapse Lapse) {
	if l.of == nil {
		l.of = make(map[string]Lapse)
	}
	if _, known := l.of[name]; !known && len(l.of) >= mostLapses {
		delete(l.of, slices.MinFunc(slices.Sorted(maps.Keys(l.of)), func(a, b string) int { return l.of[a].Since.Compare(l.of[b].Since) }))
	}
	l.of[name] = lapse
}

// Back forgets one: it is counted again.
func (l *Lapses) Back(name string) { delete(l.of, name) }

// Has reports whether a subscription has lapsed.
func (l *Lapses) Has(name string) bool {
	_, lapsed := l.of[name]
	return lapsed
}

// All returns a copy, by name.
func (l *Lapses) All() map[string]Lapse { return maps.Clone(l.of) }

// standing is since when a subscriber has acknowledged nothing new.
type standing struct {
	at    tuple.Position
	since time.Time
}

// LapsePartners stops counting subscribers of other organisations that hold more than they may, or have acknowledged nothing
// new for too long although there is something. It is called now and then; nobody else notices.
func (o *Output) LapsePartners(now time.Time) {
	if o.own == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, name := range o.buffer.Subscribers() {
		if strings.HasPrefix(name, o.own) {
			continue
		}
		at, _ := o.buffer.Acked(name)
		was, known := o.standings[name]
		if !known || was.at != at || at.Compare(o.head) >= 0 {
			o.standings[name] = standing{at, now}
			was.since = now
		}
		old := o.partner.Age > 0 && now.Sub(was.since) > o.partner.Age
		large := o.partner.Bytes > 0 && o.buffer.Behind(at) > o.partner.Bytes
		if old || large {
			o.lapse(name, now)
		}
	}
}

// lapseLast stops counting the subscriber furthest behind, if it is of another organisation. mu is held.
func (o *Output) lapseLast() {
	last, at := "", tuple.Position{}
	for _, name := range o.buffer.Subscribers() {
		if p, _ := o.buffer.Acked(name); last == "" || p.Compare(at) < 0 {
			last, at = name, p
		}
	}
	if last != "" && !strings.HasPrefix(last, o.own) {
		o.lapse(last, o.now())
	}
}

// lapse stops counting a subscriber. mu is held.
func (o *Output) lapse(name string, now time.Time) {
	at, _ := o.buffer.Acked(name)
	o.forget(name)
	o.lapses.Note(name, Lapse{Acknowledged: at, Since: now})
	o.wake()
	if o.lapsed != nil {
		o.lapsed(name)
	}
}

// comeBack counts a subscriber again that has lapsed, if what it acknowledges now is still held. mu is held.
func (o *Output) comeBack(name string, p tuple.Position) {
	if !o.lapses.Has(name) || o.buffer.Reaches(p) != nil {
		return
	}
	if o.buffer.Subscribe(name, p, p) == nil {
		o.lapses.Back(name)
	}
}

// Lapses returns the subscriptions of partners that have lapsed and not come back.
func (o *Output) Lapses() map[string]Lapse {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lapses.All()
}
