package bind

import (
	"fednode/node/ingest"
	"fednode/node/source"
	"fednode/query"
	"fednode/query/tuple"
)

// Rules turns a stream's declared rules into those of its source proxy. start is the stream time from which a source
// that never sends anything counts.
func Rules(r query.Rules, start tuple.Time) ingest.Config {
	cfg := ingest.Config{
		MaxOutOfOrder: r.MaxOutOfOrder, Lag: r.Lag, MaxFutureSkew: r.MaxFutureSkew, Advance: r.Idle == query.IdleAdvance,
		IdleAfter: r.IdleAfter, InitDelay: r.InitDelay, Start: start, BoundaryInterval: query.DefaultBoundaryInterval,
	}
	if r.Lag == query.Measured {
		cfg.Lag = ingest.Measured
	}
	switch r.Late {
	case query.LateDrop:
		cfg.Late = ingest.LateDrop
	case query.LateClamp:
		cfg.Late = ingest.LateClamp
	}
	if r.Future == query.FutureClamp {
		cfg.Future = ingest.FutureClamp
	}
	return cfg
}

// OnError turns a stream's declared policy into that of its source proxy.
func OnError(p query.ErrorPolicy) source.ErrorPolicy {
	switch p {
	case query.ErrorSkip:
		return source.ErrorSkip
	case query.ErrorFail:
		return source.ErrorFail
	}
	return source.ErrorSide
}
