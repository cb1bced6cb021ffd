package pipebench

import (
	"context"
	"errors"
	"path/filepath"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"fednode/dcaa"
	"fednode/node/client"
	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/node/fragment"
	"fednode/node/ingest"
	"fednode/node/source"
	"fednode/node/windowbench"
	dataflow "fednode/query"
	"fednode/query/tuple"
	"fednode/storage"
)

// pipe is a source proxy, a fragment and a client proxy behind each other.
type pipe struct {
	probe  *windowbench.Probe
	store  *storage.Store
	source *source.Proxy
	runner *fragment.Runner
	client *client.Proxy
}

func open(dir string) (p *pipe, err error) {
	p = &pipe{probe: windowbench.New()}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if p.store, err = storage.Open(filepath.Join(dir, "store"), storage.Options{}); err != nil {
		return p, err
	}
	points, err := storage.NewRecoveryPoints(p.store)
	if err != nil {
		return p, err
	}
	rules := ingest.Config{MaxFutureSkew: ingest.Unbounded, Start: tuple.MinTime, BoundaryInterval: ingest.DefaultBoundaryInterval}
	if p.source, err = source.Open(source.Config{
		Name: "bench/ticks", Schema: windowbench.Schema(), Dir: filepath.Join(dir, "log"), HasTime: true, Rules: rules, Source: p.probe.Source(),
		Clock: connect.SystemClock{}, Log: zap.NewNop(), Acks: forgetful{},
	}); err != nil {
		return p, err
	}
	streams := directory{p.source.Name(): p.source}
	if p.runner, err = openFragment(streams, fragment.Store{Points: points}); err != nil {
		return p, err
	}
	out := p.runner.Outputs()[0]
	streams[out.Name()] = out
	p.client = client.New(client.Config{
		Upstream: client.Upstream{Stream: out.Name(), Producers: []string{self}, Self: self, Settings: dcaa.DefaultSettings(), Network: joined{streams}, Clock: connect.SystemClock{}},
		Name:     sinkName, NewSink: p.probe.Sink, Positions: forgetful{}, Log: zap.NewNop(),
	})
	return p, nil
}

// sinkName is the client proxy's name as a subscriber.
const sinkName = "bench/node/bench/out"

func openFragment(streams directory, points fragment.Points) (*fragment.Runner, error) {
	d, problems := dataflow.Parse("bench", windowbench.Query("bench", "bench/ticks"), dataflow.Options{})
	if err := problems.Err(); err != nil {
		return nil, err
	}
	plan := dataflow.NewPlan(d, dataflow.Placement{Home: dataflow.Place{Org: "bench", Node: "node"}, Local: true}, problems).Fragments[0]
	cfg := fragment.Config{
		Name: "bench/bench/" + plan.Name, Subscriber: "bench/node/bench/" + plan.Name, Plan: plan, Points: points,
		Self: self, Incarnation: 1, Producers: make(map[string][]string), Settings: dcaa.DefaultSettings(), Network: joined{streams},
		Clock: connect.SystemClock{}, Log: zap.NewNop(), Readers: map[string][]string{plan.Outputs[0].Stream: {sinkName}},
	}
	for _, in := range plan.Inputs {
		cfg.Producers[in.Stream] = []string{self}
	}
	for _, u := range plan.Unions {
		cfg.Places = append(cfg.Places, dcaa.Place{Depth: u.Depth, Path: u.Path})
	}
	return fragment.Open(cfg)
}

// self is the node of the pipe.
const self = "bench/node"

// joined is the pipe's streams as a fragment reaches them: all at one node that is always up.
type joined struct{ directory }

// OpenFrom opens a stream.
func (j joined) OpenFrom(ctx context.Context, _, stream string, s flow.Subscriber) (flow.Cursor, error) {
	return j.Open(ctx, stream, s)
}

// Ack passes on what a subscriber has.
func (j joined) Ack(stream, subscriber string, _ []string, p tuple.Position) {
	j.directory.Ack(stream, subscriber, p)
}

// Watch tells once that the node is up, and how its streams stand.
func (j joined) Watch(_ []string, note func(flow.News)) (stop func()) {
	note(flow.News{Name: self, Up: true})
	return func() {}
}

// Tell does nothing: there is no other replica.
func (joined) Tell(string, string, dcaa.PermissionMessage) {}

// run lets everything run until ctx ends; ended waits for that and frees what is open.
func (p *pipe) run(ctx context.Context) (ended func() error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return p.source.Run(ctx) })
	g.Go(func() error { return p.runner.Run(ctx) })
	g.Go(func() error { return p.client.Run(ctx) })
	return func() error { return errors.Join(g.Wait(), p.close()) }
}

func (p *pipe) close() error {
	var errs []error
	if p.source != nil {
		errs = append(errs, p.source.Close())
	}
	if p.store != nil {
		errs = append(errs, p.store.Close())
	}
	return errors.Join(errs...)
}

// directory finds the streams of the pipe.
type directory map[string]flow.Stream

// Open returns a cursor of a stream.
func (d directory) Open(_ context.Context, stream string, s flow.Subscriber) (flow.Cursor, error) {
	st := d[stream]
	if st == nil {
		return nil, &flow.RefusedError{Stream: stream, Reason: "no such stream"}
	}
	c, err := st.Open(s)
	if err != nil {
		return nil, err
	}
	return flow.Project(c, stream, s.Schema), nil
}

// Ack passes on what a subscriber has.
func (d directory) Ack(stream, subscriber string, p tuple.Position) {
	if st := d[stream]; st != nil {
		st.Ack(subscriber, p)
	}
}

// forgetful keeps nothing: a measurement is not resumed.
type forgetful struct{}

func (forgetful) Load(string) (map[string]tuple.Position, error)             { return nil, nil }
func (forgetful) Store(string, map[string]tuple.Position) error              { return nil }
func (forgetful) SavePosition(_, _ string, _ tuple.Position, _ []byte) error { return nil }
func (forgetful) LoadPosition(_, _ string) (tuple.Position, []byte, bool, error) {
	return tuple.Position{}, nil, false, nil
}
