package seglog

// First returns a reader over everything that is kept. Unlike one from Oldest it also meets records at the beginning
// whose key is that of the last truncated one, for a caller who orders records by something else than the key.
func (l *Log) First() (*Reader, error) {
	l.mu.Lock()
	closed := l.closed
	var s *segment
	if len(l.segs) > 0 {
		s = l.segs[0]
	}
	l.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	r := &Reader{log: l, next: 1}
	if s == nil {
		return r, nil
	}
	return r, r.enter(s)
}
