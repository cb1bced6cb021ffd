package seglog

// Last returns the last durable record with a payload of the caller's own; ok is false if there is none. Where the
// newest record is damaged the error is a *Damage: it says what is lost, and the record returned with it is the last one
// before that, if ok.
func (l *Log) Last() (rec Record, ok bool, err error) {
	s := l.newest()
	if s == nil {
		return rec, false, nil
	}
	r := &Reader{log: l}
	if err := r.enter(s); err != nil {
		return rec, false, err
	}
	if err := r.index(); err != nil {
		return rec, false, closing(r, err)
	}
	l.mu.Lock()
	p := s.seek(func(place) bool { return true })
	l.mu.Unlock()
	r.cur.off, r.cur.seq, r.next = p.off, p.seq-1, p.seq
	for {
		next, more, damage := r.inSegment()
		if damage != nil || !more {
			return rec, ok, closing(r, damage)
		}
		next.Payload = append([]byte(nil), next.Payload...)
		rec, ok = next, true
	}
}

// newest returns the newest segment that has records, nil if none has.
func (l *Log) newest() *segment {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.segs) - 1; i >= 0; i-- {
		if l.segs[i].records() > 0 {
			return l.segs[i]
		}
	}
	return nil
}

func closing(r *Reader, err error) error {
	if c := r.Close(); err == nil {
		return c
	}
	return err
}
