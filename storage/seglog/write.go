package seglog

import (
	"fednode/query/tuple"
	"fednode/storage/disk"
)

// The functions here belong to whoever has set Log.flushing.

// run is what one write puts into one segment.
type run struct {
	bytes   int64
	last    frame
	maxTime tuple.Time
	places  []place // for the index; offsets in the file
}

// write puts a group of encoded records into one segment and syncs it: either all of the group becomes durable or none.
func (l *Log) write(buf []byte) error {
	size := int64(len(buf))
	if l.file == nil || l.active.end+size > l.opts.SegmentBytes && l.active.records() > 0 {
		if err := l.beginSegment(size); err != nil {
			return err
		}
	}
	if err := l.reserve(size); err != nil {
		return err
	}
	if _, err := l.file.WriteAt(buf, l.active.end); err != nil {
		return disk.Wrap("append to", l.active.path, err)
	}
	if err := l.file.Sync(); err != nil {
		return disk.Wrap("sync", l.active.path, err)
	}
	l.publish(walk(buf, l.active.end))
	return nil
}

// walk reads back what a group consists of, off being its place in the file.
func walk(buf []byte, off int64) run {
	r := run{bytes: int64(len(buf)), maxTime: tuple.MinTime}
	for at := int64(0); at < r.bytes; at += r.last.bytes() {
		r.last = readFrame(buf[at:])
		r.maxTime = max(r.maxTime, r.last.time)
		if n := len(r.places); n == 0 || off+at-r.places[n-1].off >= indexEvery {
			r.places = append(r.places, place{seq: r.last.seq, key: r.last.key, off: off + at})
		}
	}
	return r
}

// publish lets readers see the records of a run, which are durable now.
func (l *Log) publish(r run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.active
	for _, p := range r.places {
		s.note(frame{seq: p.seq, key: p.key}, p.off)
	}
	l.counts.Syncs++
	l.counts.Records += r.last.seq - s.lastSeq
	l.counts.Bytes += uint64(r.bytes)
	s.end += r.bytes
	s.lastSeq, s.lastKey, s.maxTime = r.last.seq, r.last.key, max(s.maxTime, r.maxTime)
	l.durableSeq, l.durable = s.lastSeq, s.last()
	close(l.grown)
	l.grown = make(chan struct{})
}

// reserve makes sure that the active segment has its full size on disk: after a reopening it has not.
func (l *Log) reserve(size int64) error {
	want := max(l.opts.SegmentBytes, l.active.end+size)
	if l.capacity >= want {
		return nil
	}
	if err := l.file.Allocate(want); err != nil {
		return disk.Wrap("reserve space for", l.active.path, err)
	}
	l.capacity = want
	return nil
}

// beginSegment closes the active segment and makes the next one, with room for a group of size bytes.
func (l *Log) beginSegment(size int64) error {
	if err := l.sealFile(); err != nil {
		return err
	}
	s, h := l.nextSegment()
	size = max(l.opts.SegmentBytes, headerBytes+size)
	f, err := createSegment(s.path, h, size, l.opts.OpenFile)
	if err != nil {
		return err
	}
	l.file, l.capacity = f, size
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segs = append(l.segs, s)
	l.active = s
	l.counts.Segments++
	return nil
}

// nextSegment describes the segment that follows. One without records is replaced: its name would be the same.
func (l *Log) nextSegment() (*segment, header) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.segs); n > 0 && l.segs[n-1].records() == 0 {
		l.segs = l.segs[:n-1]
	}
	s := &segment{generation: l.id.Generation, firstSeq: l.durableSeq + 1, startKey: l.durable.Key, end: headerBytes,
		lastSeq: l.durableSeq, lastKey: l.durable.Key, maxTime: tuple.MinTime, indexed: true}
	s.path = l.segmentPath(s.firstSeq)
	h := header{Log: l.id.Log, Generation: s.generation, FirstSeq: s.firstSeq, StartKey: s.startKey}
	if n := len(l.segs); n > 0 {
		p := l.segs[n-1]
		h.Prev = tail{FirstSeq: p.firstSeq, End: p.end, Key: p.lastKey, MaxTime: p.maxTime}
	}
	return s, h
}

// sealFile closes the active segment for writing and gives back what it reserved and did not use. A failure to give
// back is no reason to stop: readers go by the durable end.
func (l *Log) sealFile() error {
	if l.file == nil {
		return nil
	}
	_ = l.file.Truncate(l.active.end)
	err := disk.Wrap("close", l.active.path, l.file.Close())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.file, l.active, l.capacity = nil, nil, 0
	return err
}

// markEnd writes that everything up to here is durable: damage to a log that was closed is then never taken for an
// interrupted write. Without space the log is closed without it.
func (l *Log) markEnd() error {
	if l.file == nil || l.active.records() == 0 {
		return nil
	}
	s := l.active
	mark := frame{mark: true, seq: s.lastSeq, key: s.lastKey, durable: s.lastSeq}
	b := appendRecord(nil, l.seed, mark, nil)
	if _, err := l.file.WriteAt(b, s.end); err != nil {
		return disk.Wrap("mark the end of", s.path, err)
	}
	if err := l.file.Sync(); err != nil {
		return disk.Wrap("sync", s.path, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s.end += int64(len(b))
	return nil
}
