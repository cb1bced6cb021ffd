package pairbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"fednode/node/api"
)

// Options of Run.
type Options struct {
	// Dir holds everything that the daemons write; it is the caller's to remove.
	Dir string
	// Giver and Taker are the commands of the daemons where data enter and where they go. Each is given the node's file as
	// its last argument, knows [Kind], and must end when its standard input does.
	Giver, Taker []string
	// Records of a run, at least; Runs is 1 or more.
	Records, Runs int
}

// Result is the median of the runs.
type Result struct {
	RecordsPerSecond float64
	// Processor time of each daemon, all of it.
	GiverNsPerRecord, TakerNsPerRecord float64
	// Slowest and Fastest of the runs, in records a second.
	Slowest, Fastest float64
}

// warm is how many records pass before measuring begins: until every buffer is full and memory has its size.
const warm = 2_000_000

// standstill is how long no record may arrive before the measurement gives up.
const standstill = 20 * time.Second

// Run starts both daemons, connects them, deploys the query, and measures.
func Run(ctx context.Context, o Options) (res Result, err error) {
	p := &pair{}
	defer func() {
		if err = errors.Join(err, p.stop()); err != nil {
			err = fmt.Errorf("pairbench: %w", err)
		}
	}()
	if err := p.start(ctx, o); err != nil {
		return res, err
	}
	if _, err := p.after(ctx, moment{}, warm); err != nil {
		return res, err
	}
	var runs []Result
	for range o.Runs {
		r, err := p.run(ctx, uint64(o.Records))
		if err != nil {
			return res, err
		}
		runs = append(runs, r)
	}
	return medians(runs), nil
}

// pair is the two daemons.
type pair struct{ giver, taker *daemon }

func (p *pair) start(ctx context.Context, o Options) (err error) {
	if err := federate(o.Dir); err != nil {
		return err
	}
	if p.giver, err = start(ctx, o.Giver, filepath.Join(o.Dir, giver)); err != nil {
		return err
	}
	if p.taker, err = start(ctx, o.Taker, filepath.Join(o.Dir, taker)); err != nil {
		return err
	}
	return p.connect(ctx)
}

// connect introduces the daemons and deploys the query.
func (p *pair) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	if len(p.giver.at.P2P) == 0 {
		return errors.New("the daemon of " + giver + " listens nowhere")
	}
	body, err := json.Marshal(api.NewPeer{Address: p.giver.at.P2P[0]})
	if err != nil {
		return err
	}
	if err := p.taker.call(ctx, http.MethodPost, "/api/v1/peers", "application/json", body, nil); err != nil {
		return err
	}
	err = p.taker.await(ctx, lookEvery, func(ctx context.Context) (bool, error) {
		s, err := p.taker.status(ctx)
		return slices.ContainsFunc(s.Partners, func(p api.PartnerStatus) bool { return p.Org == giver && p.Up > 0 }), err
	})
	if err != nil {
		return fmt.Errorf("the daemons have not met: %w%s", err, p.taker.lastWords())
	}
	return p.taker.call(ctx, http.MethodPost, "/api/v1/queries?file="+url.QueryEscape(queryFile), "application/toml", []byte(queryText), nil)
}

// stop ends the one that takes first: it acknowledges what it has.
func (p *pair) stop() error {
	var errs []error
	for _, d := range []*daemon{p.taker, p.giver} {
		if d != nil {
			errs = append(errs, d.stop())
		}
	}
	http.DefaultClient.CloseIdleConnections()
	return errors.Join(errs...)
}

// moment is what has been so far.
type moment struct {
	at           time.Time
	rows         uint64  // that the client proxy has delivered
	giver, taker float64 // s of processor time
}

// run measures until so many records more have been delivered.
func (p *pair) run(ctx context.Context, records uint64) (Result, error) {
	from, err := p.look(ctx)
	if err != nil {
		return Result{}, err
	}
	to, err := p.after(ctx, from, records)
	if err != nil {
		return Result{}, err
	}
	rows := float64(to.rows - from.rows)
	return Result{
		RecordsPerSecond: rows / to.at.Sub(from.at).Seconds(),
		GiverNsPerRecord: (to.giver - from.giver) * 1e9 / rows,
		TakerNsPerRecord: (to.taker - from.taker) * 1e9 / rows,
	}, nil
}

// after waits until so many records more than at a moment have been delivered.
func (p *pair) after(ctx context.Context, m moment, records uint64) (now moment, err error) {
	last, since := m.rows, time.Now()
	err = p.taker.await(ctx, countEvery, func(ctx context.Context) (bool, error) {
		rows, _, err := p.taker.delivered(ctx)
		if rows > last {
			last, since = rows, time.Now()
		}
		if err == nil && time.Since(since) > standstill {
			err = fmt.Errorf("%d records were delivered, and then none for %s%s%s", last, standstill, p.giver.lastWords(), p.taker.lastWords())
		}
		return rows >= m.rows+records, err
	})
	if err != nil {
		return now, err
	}
	return p.look(ctx)
}

func (p *pair) look(ctx context.Context) (m moment, err error) {
	_, m.giver, err = p.giver.delivered(ctx)
	if err != nil {
		return m, err
	}
	m.rows, m.taker, err = p.taker.delivered(ctx)
	m.at = time.Now()
	return m, err
}

// delivered returns how many rows the daemon's sinks have, and its processor time in seconds.
func (d *daemon) delivered(ctx context.Context) (rows uint64, cpuSeconds float64, err error) {
	s, err := d.status(ctx)
	if err != nil {
		return 0, 0, err
	}
	for i := range s.Queries {
		for _, sink := range s.Queries[i].Sinks {
			rows += sink.Rows
		}
	}
	return rows, s.Node.CPUSeconds, nil
}

// medians takes each figure by itself.
func medians(runs []Result) Result {
	of := func(figure func(r Result) float64) (low, middle, high float64) {
		var all []float64
		for _, r := range runs {
			all = append(all, figure(r))
		}
		slices.Sort(all)
		return all[0], all[len(all)/2], all[len(all)-1]
	}
	var out Result
	out.Slowest, out.RecordsPerSecond, out.Fastest = of(func(r Result) float64 { return r.RecordsPerSecond })
	_, out.GiverNsPerRecord, _ = of(func(r Result) float64 { return r.GiverNsPerRecord })
	_, out.TakerNsPerRecord, _ = of(func(r Result) float64 { return r.TakerNsPerRecord })
	return out
}
