package seglog

import (
	"fmt"
	"strings"
)

// Recovery says what Open found.
type Recovery struct {
	Identity Identity
	Origin   Origin
	Segments int
	// LastSeq and Last are of the newest record; LastSeq is 0 for an empty log.
	LastSeq uint64
	Last    Position
	// Cut is what was cut from the end, nil if the end was whole.
	Cut *Cut
	// Damage is what is lost in the middle, as far as Open looks: between segments and in the last one. Readers report
	// what they find in the others.
	Damage []*Damage
	// SetAside are files that are no readable segment of this log, renamed and kept.
	SetAside []Aside
}

// Cut is the end of a log that was not whole: the write that a crash interrupted, or damage to it. The bytes stay in
// the file, outside the log.
type Cut struct {
	Path   string
	Offset int64
	Bytes  int64
	// After is the position of the last record that stays.
	After Position
	// Records is how many whole records were cut: they followed the broken place and nobody had been told that they are
	// stored. LastKey is the position of the last of these, After if there is none.
	Records uint64
	Last    Position
	// Acknowledged is how many records are lost that had been durable: 0 after a mere crash.
	Acknowledged uint64
}

// Aside is a file that was set aside.
type Aside struct {
	Path   string // where it is now
	Reason string
}

// Clean reports whether nothing had to be recovered.
func (r *Recovery) Clean() bool {
	return r.Cut == nil && len(r.Damage) == 0 && len(r.SetAside) == 0 && (r.Origin == Known || r.Origin == Fresh)
}

// String renders the recovery on one line.
func (r *Recovery) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "log %v %v: %d segments, last seq %d at key %v", r.Identity, r.Origin, r.Segments, r.LastSeq, r.Last)
	if c := r.Cut; c != nil {
		fmt.Fprintf(&b, "; cut %d bytes at offset %d of %q after key %v (%d whole records up to key %v, %d had been durable)",
			c.Bytes, c.Offset, c.Path, c.After, c.Records, c.Last, c.Acknowledged)
	}
	for _, d := range r.Damage {
		fmt.Fprintf(&b, "; %v", d)
	}
	for _, a := range r.SetAside {
		fmt.Fprintf(&b, "; set aside %q: %s", a.Path, a.Reason)
	}
	return b.String()
}
