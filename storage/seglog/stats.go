package seglog

// Counts are totals since Open.
type Counts struct {
	Records  uint64 // made durable
	Bytes    uint64 // written for them, headers and padding included
	Syncs    uint64
	Segments uint64 // begun
	Failures uint64 // writes that failed
}

// Stats is the present state of a log.
type Stats struct {
	Counts
	Identity Identity
	Segments int
	// StoredBytes is what the segments hold; ReservedBytes is what the active one has reserved beyond that.
	StoredBytes   int64
	ReservedBytes int64
	Oldest        Position
	Durable       Position
	DurableSeq    uint64
	PendingBytes  int
}

// Stats returns a copy of the present state.
func (l *Log) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Stats{Counts: l.counts, Identity: l.id, Segments: len(l.segs), Oldest: l.oldestLocked(),
		Durable: l.durable, DurableSeq: l.durableSeq}
	for _, seg := range l.segs {
		s.StoredBytes += seg.end
	}
	if l.active != nil {
		s.ReservedBytes = max(0, l.opts.SegmentBytes-l.active.end)
	}
	if l.pending != nil {
		s.PendingBytes = len(l.pending.buf)
	}
	return s
}
