package balance

import (
	"fmt"
	"strings"
)

// Round ends a period: units that wait are tried again, those above a limit are separated, and units move until the migrator
// is at rest or nothing can move that is worth it. Every decision counts in the figures of the next.
func (b *Balancer) Round() []Decision {
	b.period++
	list := b.placeWaiting()
	if b.paused {
		return list
	}
	list = append(list, b.separate()...)
	scale := b.scale()
	gave := make(map[*node]bool)
	for {
		v := b.look(scale)
		t := b.trigger(v, scale)
		if t == nil {
			break
		}
		m, ok := b.next(v, t, scale)
		if !ok {
			list = append(list, b.kept(v, t, scale)...)
			break
		}
		gave[m.from.node] = true
		list = append(list, b.move(m, t, scale))
	}
	for n := range gave {
		if !atLeast(b.rawUsage(n, &n.raw), b.cfg.Limit) {
			n.hot = 0 // what it is at now has to be read anew
		}
	}
	return list
}

// move is a unit that could move.
type move struct {
	unit     *unit
	from, to *seen
	// usage is the unit's at from; fall is by how much the sum of squares falls.
	usage, fall float64
}

// betters reports whether a move lowers the sum of squares more than another; of two that do so alike, the smaller unit is
// the cheaper one to move.
func (m *move) betters(o *move) bool {
	if above(m.fall, o.fall) {
		return true
	}
	return !above(o.fall, m.fall) && above(o.usage, m.usage)
}

// next finds the next move: from the most loaded node over its trigger that can give anything; of its units those that ask
// for no labels first, and of these the one that lowers the sum of squares most.
func (b *Balancer) next(v *view, t *trigger, scale float64) (best move, found bool) {
	for i := len(v.ascending) - 1; i >= 0; i-- {
		from := v.ascending[i]
		if !t.gives(from) {
			continue
		}
		for _, bound := range []bool{false, true} {
			for _, u := range from.units {
				if u.bound() != bound {
					continue
				}
				if m, why := b.moveOf(u, from, v, t, scale); why == moves && (!found || m.betters(&best)) {
					best, found = m, true
				}
			}
			if found {
				return best, true
			}
		}
	}
	return best, false
}

// hindrance is why a unit does not move.
type hindrance uint8

const (
	moves hindrance = iota
	rests
	noLower
	nowhere
	atLimit
	tooLarge
	hindrances
)

var hindranceNames = [hindrances]string{"", "rest after a move", "find no less loaded node", "can run on no less loaded node", "would bring the other to the limit", "would gain less than a move costs"}

// moveOf finds where a unit would move: of the nodes that it likes best, to the least loaded that can take it.
func (b *Balancer) moveOf(u *unit, from *seen, v *view, t *trigger, scale float64) (best move, why hindrance) {
	if u.restsUntil >= b.period {
		return best, rests
	}
	why = noLower
	crowded := b.crowded(u)
	first := 0
	for _, to := range v.ascending {
		if to.x >= from.x {
			break
		}
		if to.node == from.node || t.takes != nil && !t.takes(to) || obstacleTo(to.node, u) != free {
			if why != moves {
				why = max(why, nowhere)
			}
			continue
		}
		rank := preference(to.node, u, crowded)
		if why == moves && rank >= first {
			continue
		}
		m, h := b.gain(u, from, to, scale)
		switch {
		case h == moves:
			best, first, why = m, rank, moves
			if rank == 0 {
				return best, moves
			}
		case why != moves:
			why = max(why, h)
		}
	}
	return best, why
}

// gain is what a move would bring. The sum of the squares of usage, each times its node's size, has to fall by more than
// twice the gain times what is moved; with equal sizes and one resource that is x_a − x_b − u > gain.
func (b *Balancer) gain(u *unit, from, to *seen, scale float64) (move, hindrance) {
	load := *b.loadOf(&u.smoothed, &u.raw)
	less, more := *b.loadOf(&from.smoothed, &from.raw), *b.loadOf(&to.smoothed, &to.raw)
	less.subtract(load)
	more.add(load)
	after := b.figureOf(to.node, &more, scale)
	if b.cfg.Migrator == Overload && atLeast(after, b.cfg.Limit) {
		return move{}, atLimit
	}
	drop, rise := from.x-b.figureOf(from.node, &less, scale), after-to.x
	sizeA, sizeB := b.sizeOf(from.node), b.sizeOf(to.node)
	fall := sizeA*drop*(2*from.x-drop) - sizeB*rise*(2*to.x+rise)
	moved := max(sizeA*drop, sizeB*rise)
	if !(moved > 0) || !above(fall/(2*moved), b.cfg.Gain) {
		return move{}, tooLarge
	}
	return move{unit: u, from: from, to: to, usage: b.figureOf(from.node, &load, scale), fall: fall}, moves
}

// move lets a unit move. The figures have it at its new node from now on.
func (b *Balancer) move(m move, t *trigger, scale float64) Decision {
	f := b.said(scale)
	d := Decision{
		Period: b.period, Kind: Moves, Unit: m.unit.ID, From: m.from.ID, To: m.to.ID, Usage: f * m.usage, FromUsage: f * m.from.x, ToUsage: f * m.to.x,
		Why: fmt.Sprintf("%s; squares fall by %s", t.why(m.from), figure(f*f*m.fall)),
	}
	m.from.detach(m.unit)
	m.to.attach(m.unit)
	m.unit.restsUntil = b.period + b.cfg.Settle
	return d
}

// kept says of every node over the trigger why none of its units moves, unless it said so the round before.
func (b *Balancer) kept(v *view, t *trigger, scale float64) (list []Decision) {
	for i := len(v.ascending) - 1; i >= 0; i-- {
		from := v.ascending[i]
		if !t.gives(from) {
			continue
		}
		var counts [hindrances]int
		for _, u := range from.units {
			_, why := b.moveOf(u, from, v, t, scale)
			counts[why]++
		}
		said := from.keptAt == b.period-1 && from.kept == counts
		from.keptAt, from.kept = b.period, counts
		if said {
			continue
		}
		var parts []string
		for h, n := range counts {
			if n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, hindranceNames[h]))
			}
		}
		list = append(list, Decision{Period: b.period, Kind: Keeps, From: from.ID, FromUsage: b.said(scale) * from.x,
			Why: fmt.Sprintf("%s; of its units %s", t.why(from), strings.Join(parts, ", "))})
	}
	return list
}

// separate divides the units that have been above a limit for long enough, and places what comes of them.
func (b *Balancer) separate() (list []Decision) {
	for _, u := range append([]*unit(nil), b.units...) {
		if u.on != nil && u.on.known && u.above >= b.cfg.Readings && u.restsUntil < b.period {
			list = append(list, b.divide(u)...)
		}
	}
	return list
}

// divide puts several units in the place of one. The first stays, the others are placed by the policy.
func (b *Balancer) divide(u *unit) []Decision {
	times, bandwidth := b.cfg.Separate.over(&u.raw)
	what := "message rate"
	if bandwidth {
		what = "bandwidth"
	}
	d := Decision{Period: b.period, Kind: Separates, Unit: u.ID, From: u.on.ID}
	over := fmt.Sprintf("%s is %s times what it may be", what, figure(times))
	by := make([]float64, len(u.parts))
	for i, p := range u.parts {
		by[i] = p.Messages
		if bandwidth {
			by[i] = p.Bytes
		}
	}
	if len(u.Parts) == 1 {
		by = []float64{1} // one operator has all there is
	}
	s, err := Separate(u.Parts, by, times)
	if err == nil {
		d.Into = s.units(u)
		err = b.taken(d.Into)
	}
	if err != nil {
		u.above = 0 // said once for so many readings
		d.Kind, d.Into, d.Why = Leaves, nil, fmt.Sprintf("%s; %v", over, err)
		return []Decision{d}
	}
	d.Why = over + "; " + s.describe(u.Parts)
	on := u.on
	b.Withdraw(u.ID)
	list := []Decision{d}
	for i, next := range d.Into {
		made := b.insert(next)
		if i == 0 {
			on.attach(made)
			made.restsUntil = b.period + b.cfg.Settle
			continue
		}
		list = append(list, b.place(made, Places, on.ID))
	}
	return list
}

// taken says which of some units there is already.
func (b *Balancer) taken(units []Unit) error {
	for i := range units {
		if b.byUnit[units[i].ID] != nil {
			return fmt.Errorf("there is a unit %s already", units[i].ID)
		}
	}
	return nil
}
