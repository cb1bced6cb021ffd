package dcaa

import "slices"

// Beat is what a heartbeat carries to measure the way by. The zero Beat says nothing. Times are microseconds.
type Beat struct {
	// Sent is when it was sent, by a clock of its sender that shows more than 0 and never goes back.
	Sent int64
	// Echo is the Sent of the newest one that its sender has got from the other side, 0 if it has got none; Held is how long
	// before it got that.
	Echo int64
	Held int64
	// Calm is what its sender has found the round trip to take in calm, 0 if it has not: one that has just been started has to
	// be told what is normal of a way that it sees in trouble for the first time.
	Calm int64
}

// Line measures the way from one peer by the heartbeats that both send. The clocks of the two need show nothing in common: what
// one shows at an arrival less what the other showed at the sending is taken for normal at its least, and what it is more at
// another time has been added on the way here, as at a link that has become narrow. That it is on the way here and not on the
// way back is what a round trip cannot tell.
type Line struct {
	calm  Floor // of the round trip, as far as it has been measured here
	told  int64 // by the peer, the same
	apart Floor // of the time of arrival less that of sending
	// got is the Sent of the newest heartbeat of the peer, which came at gotAt.
	got   int64
	gotAt Instant
	trips [8]int64 // the last round trips
	count int      // of them, ever
	lates [2]int64 // by how much the last two heartbeats were later than in calm
}

// Begin goes on over a new connection, behind which there may be another life of the peer, with another clock.
func (l *Line) Begin() { *l = Line{calm: l.calm} }

// Next is what the next heartbeat carries. One that is taken meanwhile may have come after now: it is held for no time then.
func (l *Line) Next(now Instant) Beat {
	b := Beat{Sent: int64(now)}
	if l.got != 0 {
		b.Echo, b.Held = l.got, max(0, int64(now-l.gotAt))
	}
	b.Calm, _ = l.calm.Value()
	return b
}

// Take takes a heartbeat. It measures nothing unless sound: what spans a silence, or the time in which we ourselves did not come
// to look, says no more of the way than that it took no longer. Of two that come out of order the older one says nothing at all.
func (l *Line) Take(now Instant, b Beat, sound bool) {
	if b.Sent <= l.got {
		return
	}
	l.got, l.gotAt, l.told = b.Sent, now, max(0, b.Calm)
	if !sound || b.Echo <= 0 || b.Echo > int64(now) {
		l.lower(now, b.Sent)
		return
	}
	trip := max(1, int64(now)-b.Echo-max(0, b.Held))
	if b.Held > int64(now)-b.Echo {
		return // its clock has jumped while it held ours
	}
	l.calm.See(now, trip)
	l.trips[l.count%len(l.trips)] = trip
	l.lates[l.count%len(l.lates)] = l.late(now, b.Sent, trip-l.normal())
	l.count++
}

// late returns by how much a heartbeat is later than one in calm. It is at most what has been added to the round trip that ends
// with it, added: a clock that has jumped makes no way longer. Of the first over a connection half of that is taken for it.
func (l *Line) late(now Instant, sent, added int64) int64 {
	apart := int64(now) - sent
	if _, known := l.apart.Value(); !known {
		l.apart.See(now, apart-added/2)
	}
	l.apart.See(now, apart)
	least, _ := l.apart.Value()
	return min(apart-least, added)
}

// lower takes from a heartbeat that measures nothing how late the way is at most. What has piled up at a narrow link comes all at
// once when that ends, the new with the old, and we are busy with it: the new must not be taken for as old as what came before.
func (l *Line) lower(now Instant, sent int64) {
	least, known := l.apart.Value()
	if !known {
		return
	}
	late := max(0, int64(now)-sent-least)
	for k := range l.lates {
		l.lates[k] = min(l.lates[k], late)
	}
}

// normal is the round trip in calm, by what either side has measured: who has been started in trouble has seen nothing else.
func (l *Line) normal() int64 {
	calm, _ := l.calm.Value()
	if l.told > 0 {
		return min(l.told, calm)
	}
	return calm
}

// Way returns what is known of the way by now.
func (l *Line) Way() Way {
	if l.count == 0 {
		return Way{}
	}
	return Way{RoundTrip: slices.Min(l.trips[:min(l.count, len(l.trips))]), Calm: l.normal(), Late: slices.Min(l.lates[:min(l.count, len(l.lates))])}
}

// Way is what has been measured of the way from a peer, in microseconds. The zero Way says that nothing has.
type Way struct {
	// RoundTrip is the shortest of the last round trips: a longer one may have waited to be sent again.
	RoundTrip int64
	// Calm is how long it takes in calm, Late what has been added to that on the way here. Of the last two heartbeats the one that
	// was less late counts.
	Calm int64
	Late int64
}

// Age is what the way adds to ages. What has been added to the way in calm is delay.
func (w Way) Age() Age { return Age{Total: w.Calm/2 + w.Late, Normal: w.Calm / 2} }
