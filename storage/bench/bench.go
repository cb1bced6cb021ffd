package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Config says what is measured. The zero value of a field means its default.
type Config struct {
	Records     int // in groups, a round. Default 65,536.
	Singles     int // one by one, a round. Default 500.
	RecordBytes int // default 1,024
	Group       int // records of a synced group. Default 1,024.
	Rounds      int // default 7
	Badger      bool
}

func (c Config) complete() (Config, error) {
	for _, f := range []struct {
		name     string
		value    *int
		def, max int
	}{
		{"records", &c.Records, 65_536, 100_000_000}, {"singles", &c.Singles, 500, 10_000_000},
		{"record bytes", &c.RecordBytes, 1024, 128 << 10}, {"group", &c.Group, 1024, 65_536}, {"rounds", &c.Rounds, 7, 1000},
	} {
		if *f.value == 0 {
			*f.value = f.def
		}
		if *f.value < 1 || *f.value > f.max {
			return c, fmt.Errorf("bench log: %s %d; want 1 to %d", f.name, *f.value, f.max)
		}
	}
	if c.RecordBytes*c.Group > 256<<20 {
		return c, fmt.Errorf("bench log: a group of %d records of %d bytes; want at most 256 MiB", c.Group, c.RecordBytes)
	}
	return c, nil
}

// Result is one line of the benchmark: medians over the rounds.
type Result struct {
	Name             string  `json:"name"`
	Records          int     `json:"records"` // a round
	RecordBytes      int     `json:"record_bytes"`
	Group            int     `json:"group"`
	Rounds           int     `json:"rounds"`
	NsPerRecord      float64 `json:"ns_per_record"`
	PlainNsPerRecord float64 `json:"plain_ns_per_record"`
	// Ratio is plain ns / ours: 1 is as fast as the plain file.
	Ratio            float64 `json:"ratio"`
	RecordsPerSecond float64 `json:"records_per_second"`
}

// side is one way to append durably. append writes and syncs one group; close removes nothing.
type side struct {
	append func(ctx context.Context, group [][]byte) error
	close  func() error
}

// measure is one line: a side against the plain file.
type measure struct {
	name    string
	open    func(dir string) (side, error)
	records int
	group   int
}

// Log measures in a directory of its own below dir, which it removes.
func Log(ctx context.Context, dir string, c Config) ([]Result, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	var out []Result
	for _, m := range c.measures() {
		r, err := m.run(ctx, dir, c)
		if err != nil {
			return out, fmt.Errorf("bench log: %s: %w", m.name, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func (c Config) measures() []measure {
	size := sizeName(c.RecordBytes)
	groups := fmt.Sprintf("append_%s_groups_of_%d_synced", size, c.Group)
	single := fmt.Sprintf("append_%s_one_by_one_synced", size)
	out := []measure{
		{"log_" + groups, openSegments, c.Records, c.Group},
		{"log_" + single, openSegments, c.Singles, 1},
	}
	if c.Badger {
		out = append(out, measure{"badger_" + groups, openBadger, c.Records, c.Group},
			measure{"badger_" + single, openBadger, c.Singles, 1})
	}
	return out
}

func sizeName(n int) string {
	if n%1024 == 0 {
		return fmt.Sprintf("%dKiB", n/1024)
	}
	return fmt.Sprintf("%dB", n)
}

// run interleaves the rounds of both sides, each round in fresh files.
func (m measure) run(ctx context.Context, dir string, c Config) (Result, error) {
	work, err := os.MkdirTemp(dir, "bench-log-")
	if err != nil {
		return Result{}, err
	}
	ours, plain, err := m.rounds(ctx, work, c)
	if err := errors.Join(err, os.RemoveAll(work)); err != nil {
		return Result{}, err
	}
	r := Result{Name: m.name, Records: m.records, RecordBytes: c.RecordBytes, Group: m.group, Rounds: c.Rounds,
		NsPerRecord: median(ours), PlainNsPerRecord: median(plain)}
	r.Ratio = r.PlainNsPerRecord / r.NsPerRecord
	r.RecordsPerSecond = 1e9 / r.NsPerRecord
	return r, nil
}

func (m measure) rounds(ctx context.Context, work string, c Config) (ours, plain []float64, err error) {
	group := records(m.group, c.RecordBytes)
	for i := range c.Rounds {
		for _, s := range []struct {
			open func(string) (side, error)
			into *[]float64
		}{{openPlain, &plain}, {m.open, &ours}} {
			dir := filepath.Join(work, fmt.Sprintf("%d-%d-%d", i, len(plain), len(ours)))
			ns, err := round(ctx, dir, s.open, group, m.records)
			if err != nil {
				return nil, nil, err
			}
			*s.into = append(*s.into, ns)
		}
	}
	return ours, plain, nil
}

// round appends n records in groups and returns the nanoseconds a record.
func round(ctx context.Context, dir string, open func(string) (side, error), group [][]byte, n int) (float64, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return 0, err
	}
	s, err := open(dir)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	for done := 0; done < n && err == nil; done += len(group) {
		err = s.append(ctx, group[:min(len(group), n-done)])
	}
	took := time.Since(start)
	if err := errors.Join(err, s.close(), os.RemoveAll(dir)); err != nil {
		return 0, err
	}
	return float64(took.Nanoseconds()) / float64(n), nil
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// records returns payloads that do not compress, so that no layer below gets away with less.
func records(n, size int) [][]byte {
	out := make([][]byte, n)
	x := uint64(1)
	for i := range out {
		b := make([]byte, size)
		for j := range b {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			b[j] = byte(x)
		}
		out[i] = b
	}
	return out
}
