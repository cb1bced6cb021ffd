package wire

import (
	"math"
	"unicode/utf8"

	"fednode/query/tuple"
	"fednode/query/tuple/arrowio/stream"
)

// Limits of what a head holds.
const (
	maxProducer = 128
	maxStream   = 512
	maxReason   = 4096
	maxMissing  = 256
	// maxPlainFrame bounds the payload of a frame without rows.
	maxPlainFrame = 512 << 10
)

// appendHead appends the head of f, whose batch has so many rows. For data frames IPC bytes follow.
func appendHead(e *tuple.Encoder, f *tuple.Frame, rows int) {
	switch f.Kind {
	case tuple.Insertion:
		e.Uint(f.Generation)
		appendStretch(e, f, rows)
	case tuple.Tentative:
		appendRun(e, f.Run)
		appendMissing(e, f.Missing)
		appendStretch(e, f, rows)
	case tuple.Boundary:
		appendBoundary(e, f)
		if f.Sum != 0 {
			e.Uint(f.Sum)
		}
	case tuple.TentativeBoundary:
		appendBoundary(e, f)
		appendRun(e, f.Run)
		appendMissing(e, f.Missing)
	case tuple.Undo, tuple.RecDone:
		appendRun(e, f.Run)
	case tuple.Gap:
		e.Time(f.Time)
		e.Time(f.To)
		e.Uint(f.Generation)
		e.Uint(f.FirstID)
		e.String(shortened(f.Reason, maxReason))
	}
}

// shortened returns what of a text fits into so many bytes. Each node that passes a GAP on puts its stream before the reason:
// what is written has to be read by the next one, however long the way is.
func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

func appendBoundary(e *tuple.Encoder, f *tuple.Frame) {
	e.Time(f.Time)
	e.Int(f.Age)
	e.Int(f.Normal)
}

func appendRun(e *tuple.Encoder, r tuple.Run) {
	e.String(r.Producer)
	e.Uint(r.Incarnation)
	e.Uint(r.N)
}

func appendMissing(e *tuple.Encoder, missing []tuple.Missing) {
	e.Uint(uint64(len(missing)))
	for _, m := range missing {
		e.String(m.Stream)
		e.Time(m.Since)
	}
}

// appendStretch writes which ids the rows have: the first, how many more the stretch has, the rows, and, where the rows
// do not have all ids of it, each one as its distance from the one before.
func appendStretch(e *tuple.Encoder, f *tuple.Frame, rows int) {
	e.Uint(f.FirstID)
	e.Uint(f.LastID - f.FirstID)
	e.Uint(uint64(rows))
	e.Bool(f.IDs != nil)
	next := f.FirstID
	for _, id := range f.IDs {
		e.Uint(id - next)
		next = id + 1
	}
}

// readHead reads the head of a frame of f.Kind into f and returns the rows announced.
func readHead(d *tuple.Decoder, f *tuple.Frame) (rows int, err error) {
	switch f.Kind {
	case tuple.Insertion:
		f.Generation = d.Uint()
		rows, err = readStretch(d, f)
	case tuple.Tentative:
		readRun(d, &f.Run)
		readMissing(d, f)
		if rows, err = readStretch(d, f); err == nil && f.IDs != nil {
			err = broken(BadIDs, "tentative rows with ids of their own")
		}
	case tuple.Boundary:
		readBoundary(d, f)
		readSum(d, f)
	case tuple.TentativeBoundary:
		readBoundary(d, f)
		readRun(d, &f.Run)
		readMissing(d, f)
	case tuple.Undo, tuple.RecDone:
		readRun(d, &f.Run)
	case tuple.Gap:
		f.Time, f.To, f.Generation, f.FirstID = d.Time(), d.Time(), d.Uint(), d.Uint()
		f.Reason = readText(d, maxReason, "reason")
		if f.Time > f.To {
			d.Fail("a gap from %v back to %v", f.Time, f.To)
		}
	}
	// The first error counts: an id rule seen broken after bytes that make no sense is not the cause.
	if d.Err() != nil {
		return 0, &ProtocolError{Code: Malformed, Reason: d.Err().Error()}
	}
	return rows, err
}

// mostAge is more microseconds than anything is old, or ahead of its time.
const mostAge = 1 << 60

func readBoundary(d *tuple.Decoder, f *tuple.Frame) {
	f.Time, f.Age, f.Normal = d.Time(), d.Int(), d.Int()
	switch {
	case f.Age > mostAge || f.Age < -mostAge:
		d.Fail("an age of %d microseconds", f.Age)
	case f.Normal > mostAge || f.Normal < 0:
		d.Fail("%d microseconds of an age are normal", f.Normal)
	}
}

// readSum reads the checksum that a boundary may end with.
func readSum(d *tuple.Decoder, f *tuple.Frame) {
	if d.Err() != nil || d.Remaining() == 0 {
		return
	}
	if f.Sum = d.Uint(); d.Err() == nil && f.Sum == 0 {
		d.Fail("a checksum of 0, which is none")
	}
}

func readText(d *tuple.Decoder, limit int, what string) string {
	b := d.Bytes()
	if len(b) > limit {
		d.Fail("a %s of %d bytes, at most %d are allowed", what, len(b), limit)
		return ""
	}
	return string(b)
}

func readRun(d *tuple.Decoder, r *tuple.Run) {
	r.Producer = readText(d, maxProducer, "producer")
	r.Incarnation, r.N = d.Uint(), d.Uint()
	if d.Err() == nil && (r.Producer == "" || r.N == 0) {
		d.Fail("a run without producer or number")
	}
}

func readMissing(d *tuple.Decoder, f *tuple.Frame) {
	n := d.Count(2)
	if n > maxMissing {
		d.Fail("%d missing inputs, at most %d are allowed", n, maxMissing)
		return
	}
	for range n {
		f.Missing = append(f.Missing, tuple.Missing{Stream: readText(d, maxStream, "stream name"), Since: d.Time()})
	}
}

func readStretch(d *tuple.Decoder, f *tuple.Frame) (rows int, err error) {
	f.FirstID = d.Uint()
	span, announced, listed := d.Uint(), d.Uint(), d.Bool()
	if d.Err() != nil {
		return 0, nil
	}
	if f.FirstID == 0 || span > math.MaxUint64-f.FirstID {
		return 0, broken(BadIDs, "ids from %d on, %d of them", f.FirstID, span)
	}
	f.LastID = f.FirstID + span
	if announced > stream.MaxRows {
		return 0, broken(OverLimit, "%d rows in a frame, at most %d are allowed", announced, stream.MaxRows)
	}
	rows = int(announced)
	if !listed {
		if span != announced-1 {
			return 0, broken(BadRows, "%d rows for ids %d to %d", rows, f.FirstID, f.LastID)
		}
		return rows, nil
	}
	return rows, readIDs(d, f, rows)
}

func readIDs(d *tuple.Decoder, f *tuple.Frame, rows int) error {
	if rows > d.Remaining() {
		d.Fail("%d ids announced, %d bytes left", rows, d.Remaining())
		return nil
	}
	f.IDs = make([]uint64, rows)
	next := f.FirstID
	for i := range f.IDs {
		skip := d.Uint()
		if d.Err() != nil {
			return nil
		}
		// next is 0 after the largest id there is.
		if next == 0 || next > f.LastID || skip > f.LastID-next {
			return broken(BadIDs, "the id of row %d is beyond %d, the last", i, f.LastID)
		}
		f.IDs[i] = next + skip
		next = f.IDs[i] + 1
	}
	return nil
}
