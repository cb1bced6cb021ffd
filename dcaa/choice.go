package dcaa

const second = int64(1_000_000)

// choose keeps the connections what the rules want.
func (i *Intake) choose(now Instant) {
	i.doubt(now)
	i.pretends(now)
	i.dry(now)
	far := i.furthest()
	for n := range i.producers {
		i.producers[n].follow(now, far)
		i.producers[n].reached(i.pos)
	}
	i.lenient.look(now, i.producers, i.cfg.Settings)
	i.chooseData(now)
	i.chooseCorrect(now)
	i.noteIdle(now)
	i.noteLost(now)
	i.chooseLoan(now)
}

// chooseData opens a better source of data, or the first.
func (i *Intake) chooseData(now Instant) {
	best := i.best(now)
	if i.next != nil && i.data != nil && i.timely(now, i.next.producer) {
		i.close(&i.next)
	}
	if i.next != nil {
		if best < 0 || best == i.next.producer || i.rank(now, best) <= i.rank(now, i.next.producer) {
			return
		}
		i.close(&i.next)
	}
	if best < 0 {
		return
	}
	if i.data == nil {
		i.next = i.open(now, best, i.cfg.Tentative, "")
		return
	}
	if best == i.data.producer {
		return
	}
	if i.rank(now, i.data.producer) == stalled {
		i.producers[i.data.producer].stalls()
	}
	if !i.better(now, best) {
		return
	}
	i.next = i.open(now, best, i.cfg.Tentative, i.because(now, i.data.producer))
}

// better reports whether data should move to a producer of higher rank. Nothing ranks above one that is STABLE, so it is not
// left for another while it is.
func (i *Intake) better(now Instant, n int) bool {
	have, want := i.rank(now, i.data.producer), i.rank(now, n)
	if want < have || want == have && !i.holdsMore(now, n, i.data.producer) {
		return false
	}
	if have == stalled && i.forbears(now) {
		return false
	}
	if i.timely(now, n) {
		return false
	}
	if (have == tentative || have == restless || have == late) && want == stable {
		return i.producers[n].boundary > i.pos.Time
	}
	return true
}

// best returns the producer to read from, -1 if nobody can be asked now.
func (i *Intake) best(now Instant) int {
	best := -1
	for k := range i.producers {
		n := (i.cfg.Preferred + k) % len(i.producers)
		p := &i.producers[n]
		asked := i.data != nil && i.data.producer == n || i.next != nil && i.next.producer == n
		if r := i.rank(now, n); r == unreachable || !asked && (p.retryAt > now || p.lost) {
			continue
		}
		if best < 0 || i.prefer(now, n, best) {
			best = n
		}
	}
	return best
}

// holdsMore reports whether of two that stall the first has what the second and the consumer lack: all may have lost an input at
// different moments.
func (i *Intake) holdsMore(now Instant, a, b int) bool {
	p := &i.producers[a]
	return !p.silent(now) && p.boundary > max(i.producers[b].boundary, i.pos.Time) && i.rank(now, a) == stalled && i.rank(now, b) == stalled
}

// prefer compares two producers. One of the generation that the consumer is in comes before all others; whoever is in none
// begins with the oldest. Among equals the present one stays, then comes one that holds its buckets for less, since one that
// stood still holds them for so much longer, then the one with the shorter way.
func (i *Intake) prefer(now Instant, a, b int) bool {
	if ka, kb := i.kin(now, a), i.kin(now, b); ka != kb {
		return ka
	}
	if ra, rb := i.rank(now, a), i.rank(now, b); ra != rb {
		return ra > rb
	}
	if ma, mb := i.holdsMore(now, a, b), i.holdsMore(now, b, a); ma != mb {
		return ma
	}
	if i.pos.Generation == 0 && i.older(a, b) != i.older(b, a) {
		return i.older(a, b)
	}
	if i.data != nil && (i.data.producer == a || i.data.producer == b) {
		return i.data.producer == a
	}
	ha, hb := i.producers[a].status.Holding, i.producers[b].status.Holding
	if by := lead(i.cfg.Settings); ha+by < hb || hb+by < ha {
		return ha < hb
	}
	const worth = 2000 // microseconds; less is noise
	return i.producers[a].way.RoundTrip+worth < i.producers[b].way.RoundTrip
}
