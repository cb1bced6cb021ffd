package generate

import (
	"fmt"
	"time"

	"fednode/node/connect"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// Kind returns the connector kind "generate".
func Kind() connect.Kind { return connect.Kind{Name: "generate", Source: readSource} }

// Config is a checked declaration.
type Config struct {
	Kind     string // "connections", "sensors" or "bids"
	Seed     uint64
	Rate     int64      // rows per second of event time
	Start    tuple.Time // event time of row 0
	Rows     int64      // after which it ends; 0: never
	Disorder int64      // microseconds
	// Speed is event time per time of the clock; 0: as fast as rows are taken.
	Speed float64

	// connections
	Org     int64 // which organisation's network, from 0
	Sources int64 // addresses of ordinary sources
	Shared  int64 // percent of them that all organisations have in common
}

// DefaultStart is the event time at which generators begin: fixed, so that results can be compared.
const DefaultStart = tuple.Time(1_767_225_600 * 1_000_000) // 2026-01-01T00:00:00Z

// Default returns the configuration of a kind as it is without any key.
func Default(kind string) Config {
	return Config{Kind: kind, Seed: 1, Rate: 2000, Start: DefaultStart, Disorder: 50 * tuple.Millisecond, Speed: 1, Sources: 10_000, Shared: 20}
}

// maxRate is one row a microsecond: rows of one generator do not share their places in time.
const maxRate = 1_000_000

func readSource(r *spec.Reader, s *connect.Stream) *connect.SourcePlan {
	before := len(r.P.Errors)
	c := Default(r.OneOf("kind", "connections", kindNames()...))
	c.Seed = uint64(r.Int("seed", 1, 0, 1<<62))
	c.Rate = r.Int("rate", c.Rate, 1, maxRate)
	c.Rows = r.Int("rows", 0, 0, 1<<53)
	c.Disorder = r.Duration("disorder", c.Disorder, 0, tuple.Hour)
	c.readStart(r)
	c.readSpeed(r)
	if c.Kind == "connections" {
		c.Org = r.Int("org", 0, 0, 200)
		c.Sources = r.Int("sources", c.Sources, 10, 60_000)
		c.Shared = r.Int("shared", c.Shared, 0, 100)
	}
	shape, errs := bind(c.Kind, s)
	for _, e := range errs {
		r.P.Add(r.T.Pos, r.T.KeyPath("columns."+e.Column), e.Hint, "%s", e.Msg)
	}
	if len(r.P.Errors) > before {
		return nil
	}
	return c.plan(s, shape)
}

func (c *Config) readStart(r *spec.Reader) {
	v := r.Value("start", false, spec.String, spec.DateTime)
	if v == nil {
		return
	}
	t, err := time.Parse(time.RFC3339Nano, v.Str)
	if err != nil {
		r.Errorf("start", "", "`%s` is not a time; write one such as 2026-01-01T00:00:00Z", v.Str)
		return
	}
	c.Start = tuple.TimeOf(t)
}

func (c *Config) readSpeed(r *spec.Reader) {
	v := r.Value("speed", false, spec.Int, spec.Float)
	if v == nil {
		return
	}
	c.Speed = v.Float
	if v.Kind == spec.Int {
		c.Speed = float64(v.Int)
	}
	if !(c.Speed >= 0 && c.Speed <= 1e6) {
		r.Errorf("speed", "", "the speed is out of range; expected 0 (as fast as possible) to 1000000")
	}
}

func (c Config) plan(s *connect.Stream, sh *shape) *connect.SourcePlan {
	return &connect.SourcePlan{
		Bounded: c.Rows > 0,
		Rate:    float64(c.Rate) * c.Speed,
		Detail:  fmt.Sprintf("generate %s, seed %d, %d rows/s of event time, speed %g", c.Kind, c.Seed, c.Rate, c.Speed),
		New:     func(env connect.Env) connect.Source { return &source{c, s, sh, env} },
	}
}

// NewSource returns a source without a declaration. The errors name columns that the kind does not have.
func NewSource(c Config, s *connect.Stream, env connect.Env) (connect.Source, error) {
	sh, errs := bind(c.Kind, s)
	if len(errs) > 0 {
		return nil, fmt.Errorf("generate: %w", errs[0])
	}
	return &source{c, s, sh, env}, nil
}
