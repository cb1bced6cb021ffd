package dcaa

// chooseCorrect takes corrections from a replica that makes them while the data connection is not stable.
func (i *Intake) chooseCorrect(now Instant) {
	wanted := -1
	if i.data != nil && i.rank(now, i.data.producer) != stable {
		for n := range i.producers {
			p := &i.producers[n]
			if n == i.data.producer || i.next != nil && n == i.next.producer || p.lost {
				continue
			}
			if i.rank(now, n) == correcting && p.boundary > i.pos.Time && (i.corrects(n) || p.retryAt <= now) {
				wanted = n
				break
			}
		}
	}
	switch {
	case i.correct != nil && i.keepCorrect(now, wanted):
	case i.correct != nil:
		i.close(&i.correct)
	}
	if i.correct == nil && wanted >= 0 {
		i.correct = i.open(now, wanted, false, "")
	}
}

func (i *Intake) corrects(n int) bool { return i.correct != nil && i.correct.producer == n }

// keepCorrect keeps a connection for corrections as long as data is not stable and it may still bring some.
func (i *Intake) keepCorrect(now Instant, wanted int) bool {
	if i.data == nil || wanted >= 0 && wanted != i.correct.producer {
		return i.data == nil
	}
	if i.correct.producer == i.data.producer || i.rank(now, i.data.producer) == stable && i.producers[i.data.producer].boundary <= i.pos.Time {
		return false
	}
	r := i.rank(now, i.correct.producer)
	return r == correcting || r == stable
}
