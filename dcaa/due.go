package dcaa

// Tick lets time pass.
func (i *Intake) Tick(now Instant) { i.choose(now) }

// Due is when Tick has something to do if nothing else happens before.
func (i *Intake) Due(now Instant) Instant {
	due := Never
	if at := i.AbandonAt(); at > now {
		due = at
	}
	if at := i.starvedAt(now); at > now && i.lender(now) >= 0 {
		due = min(due, at)
	}
	for n := range i.producers {
		p := &i.producers[n]
		if !p.up {
			continue
		}
		if p.retryAt > now {
			due = min(due, p.retryAt)
		}
		if at := p.overdueAt(i.cfg.Settings).Add(1); at > now {
			due = min(due, at)
		}
		if at := p.outrunAt(i.cfg.Settings).Add(1); at > now {
			due = min(due, at)
		}
		if p.dry && p.askAt > now {
			due = min(due, p.askAt)
		}
		if p.lost && p.meanUntil > now {
			due = min(due, p.meanUntil)
		}
		for _, at := range []Instant{p.pretence.believeAt, p.silence.believeAt} {
			if at > now {
				due = min(due, at)
			}
		}
		if at := p.movedAt.Add(lead(i.cfg.Settings)).Add(1); p.status.Holding > 0 && at > now {
			due = min(due, at)
		}
		if at := p.gaveUp.Add(lead(i.cfg.Settings)).Add(1); p.gaveUp != Never && at > now {
			due = min(due, at)
		}
	}
	if i.data != nil {
		// Nothing else may happen until a stall has lasted long enough.
		if at := i.forbearsUntil(now); at > now {
			due = min(due, at)
		}
		if at := i.data.claimsAt.Add(patience); at > now {
			due = min(due, at)
		}
	}
	for _, c := range append(i.doubted(), i.loan) {
		if c == nil || len(i.producers) < 2 {
			continue
		}
		if at := c.cameAt.Add(patience); at > now {
			due = min(due, at)
		}
	}
	for _, c := range []*conn{i.data, i.next, i.loan} {
		if c == nil || !c.open {
			continue
		}
		if at := i.idleAt(c).Add(1); at > now {
			due = min(due, at)
		}
	}
	return due
}
