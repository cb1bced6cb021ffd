package ingest

import (
	"fednode/dcaa"
	"fednode/query/tuple"
)

// Measured is the lag of a stream that declares none: it is measured.
const Measured int64 = -1

// MostLag is the largest lag that is taken for normal without a declaration, in microseconds: a source that is that late may
// as well have failed, and each result waits so much longer for it.
const MostLag = 5 * tuple.Minute

// Lag knows by how much the rows of a source normally come after their stimes: as declared, or the least of the last minutes.
// It decides about no row.
type Lag struct {
	declared int64
	measures bool
	floor    dcaa.Floor
}

// NewLag returns the lag of a stream with event time, or without. Only live sources are measured: what was recorded or
// generated lies behind nothing. known is what an earlier life has found out, Measured if nothing.
func NewLag(cfg Config, eventTime bool, known int64, now tuple.Instant) Lag {
	l := Lag{declared: max(0, cfg.Lag), measures: cfg.Lag == Measured && cfg.Advance && eventTime}
	if l.measures && known >= 0 {
		l.floor.See(dcaa.Instant(now), min(known, MostLag))
	}
	return l
}

// Rows notes that rows up to a largest stime have come. calm says that they were all there was to read: those of a backlog
// are late because they have not been read sooner, and can only show that the lag is less than it seemed.
func (l *Lag) Rows(high, arrival tuple.Time, now tuple.Instant, calm bool) {
	if !l.measures || high == tuple.MinTime {
		return
	}
	lag := int64(0)
	if high < arrival {
		lag = int64(min(uint64(arrival)-uint64(high), uint64(MostLag)))
	}
	if calm {
		l.floor.See(dcaa.Instant(now), lag)
	} else {
		l.floor.Lower(dcaa.Instant(now), lag)
	}
}

// Value is the lag in microseconds; 0 while nothing is known.
func (l *Lag) Value() int64 {
	if v, known := l.floor.Value(); known {
		return v
	}
	return l.declared
}

// Known is what a later life may begin with: Measured if nothing is known that was measured.
func (l *Lag) Known() int64 {
	if v, known := l.floor.Value(); known {
		return v
	}
	return Measured
}
