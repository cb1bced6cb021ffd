package failbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"fednode/testnet"
)

// Options of Run.
type Options struct {
	// Dir is a directory for the testnet's, which is removed at the end.
	Dir string
	// Command is the executable of the daemons; "" is this process's own.
	Command string
	// Runs of each failure.
	Runs int
	// Calm is how long the chain is watched without a failure.
	Calm time.Duration
	// Say is told of each step, for people.
	Say func(text string)
}

// What is measured, and with what. The query's own figures are dcaa.DefaultSettings.
const (
	rate      = 500 // rows a second of each source
	heartbeat = 100 * time.Millisecond
	miss      = 3
	bucket    = 100 * time.Millisecond
	boundary  = 100 * time.Millisecond
	slack     = 100 * time.Millisecond // that sources declare
	maxDelay  = 3 * time.Second

	killedTarget = 250 * time.Millisecond
	beyondTicks  = 5 * time.Millisecond
	cutFor       = maxDelay*3/4 - 300*time.Millisecond
)

// Times of a run.
const (
	lookEvery = 50 * time.Millisecond
	// after is how long results are watched after a failure has begun.
	after = 1500 * time.Millisecond
	// rest lets what a restart costs pass before the next failure.
	rest = time.Second
	// calmWithin is how long the federation may take to be as it was.
	calmWithin = 90 * time.Second
)

const spec = `[testnet]
organisations = ["north", "south", "east"]
nodes = { north = 3, south = 2, east = 2 }
sources = 1
replicas = 2
query = "watch.toml"
live = %d
`

const query = `[query]
name = "watch"
max_delay = "%s"

[streams.conns]
connector = "file"
path = "conns.csv"
follow = true
time = "ts"
max_out_of_order = "%s"
columns = { ts = { type = "timestamp", unit = "us" }, src = "string", n = "int64" }

[operators.all]
kind = "filter"
input = "conns"
where = "n > 0"

[outputs.rows]
input = "all"
connector = "file"
path = "rows.csv"
`

// bench is a testnet that is measured.
type bench struct {
	Options
	net             *testnet.Net
	results, source *watch
	cores           []string // nodes that run the query's own operators
	rtt             time.Duration
}

// Run starts a testnet, measures and ends it. With an error it returns what had been measured.
func Run(ctx context.Context, o Options) (list []Measure, err error) {
	b := &bench{Options: o}
	dir, err := os.MkdirTemp(o.Dir, "bench-failover-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := b.start(ctx, dir); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.net.Close()) }()
	b.source = &watch{stream: "north/conns", follow: func(ctx context.Context, each func(testnet.Event) error) error {
		return b.net.FollowStream(ctx, "north/conns", "now", each)
	}}
	b.results = &watch{stream: "rows", follow: func(ctx context.Context, each func(testnet.Event) error) error {
		return b.net.Follow(ctx, "rows", "now", each)
	}}
	watching, stop := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	defer watchers.Wait()
	defer stop()
	watchers.Go(func() { b.results.run(watching) })
	watchers.Go(func() { b.source.run(watching) })
	if err := b.ready(ctx); err != nil {
		return nil, err
	}
	if list, err = b.calm(ctx); err != nil {
		return list, err
	}
	for _, measure := range []func(context.Context) (Measure, error){b.killed, b.silent, b.cut} {
		m, err := measure(ctx)
		if len(m.Values) > 0 {
			list = append(list, m)
		}
		if err != nil {
			return list, err
		}
	}
	if gaps := b.results.lost(); gaps > 0 {
		b.Say(fmt.Sprintf("the client was told of %d gaps: nothing is kept for one that counts for nothing", gaps))
	}
	return list, nil
}

func (b *bench) start(ctx context.Context, dir string) error {
	for name, text := range map[string]string{"watch.toml": fmt.Sprintf(query, maxDelay, slack), "net.toml": fmt.Sprintf(spec, rate)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	s, err := testnet.ReadSpec(filepath.Join(dir, "net.toml"))
	if err != nil {
		return err
	}
	b.net, err = testnet.Up(ctx, s, testnet.Options{Dir: filepath.Join(dir, "net"), Command: b.Command, Say: b.Say})
	return err
}

// ready waits for the first results, and notes who runs what and how far apart nodes are.
func (b *bench) ready(ctx context.Context) error {
	if err := b.settled(ctx); err != nil {
		return err
	}
	v := b.net.View(ctx)
	for _, n := range v.Nodes {
		if n.Status == nil {
			continue
		}
		for _, q := range n.Status.Queries {
			for _, f := range q.Fragments {
				if f.Name == "core" {
					b.cores = append(b.cores, n.ID)
				}
			}
		}
	}
	if len(b.cores) != 2 {
		return fmt.Errorf("two nodes should run the query's own operators, and %d do: %v", len(b.cores), b.cores)
	}
	return nil
}
