package testnet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Options of Up.
type Options struct {
	// Dir is the network's directory, which must be empty, not there, or hold what a network that ended has left, which is
	// removed; "" makes one that Close removes.
	Dir string
	// Command is the executable of the daemons; "" is this process's own.
	Command string
	// Say is told of each step, for people; it may be nil.
	Say func(step string)
	// Quiet networks are wired but no query is deployed.
	Quiet bool
}

// Net is a network that runs.
type Net struct {
	// Fixed after Up.
	spec    Spec
	dir     string
	own     bool // the directory is removed at the end
	query   string
	stream  string // of the query as it was written
	outputs []string
	text    string // of the deployed query
	file    string
	daemons []*daemon
	feeds   []*feed // by node; nil where no live source is
	fabric  fabric
	lock    *os.File
	control *http.Server
	served  sync.WaitGroup
	state   state

	closed sync.Once

	orders sync.Mutex // one order at a time; taken before faults
	faults sync.Mutex // what is in force changes under it: an order to a process may take long, and faults end meanwhile
	ending bool       // changes under both
	shown  sync.Mutex // guards active, which only who holds faults changes; taken after it
	active []*inForce
}

// Up makes a network, starts its daemons, connects them, and deploys the query at the first organisation. When it fails
// nothing of it runs any more; the directory stays, for its logs.
func Up(ctx context.Context, s Spec, o Options) (*Net, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	d, err := readDiagram(&s)
	if err != nil {
		return nil, err
	}
	n := &Net{spec: s, dir: o.Dir, query: d.name, stream: d.stream, outputs: d.outputs(), file: d.file}
	if err := n.up(ctx, d, &o); err != nil {
		n.own = false
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Net) up(ctx context.Context, d *diagram, o *Options) error {
	if err := n.claim(); err != nil {
		return err
	}
	if o.Command == "" {
		var err error
		if o.Command, err = os.Executable(); err != nil {
			return fmt.Errorf("testnet: %w", err)
		}
	}
	f, err := newFabric(n.spec.Mode, n.pids)
	if err != nil {
		return err
	}
	n.fabric = f
	for _, p := range layout(&n.spec, n.dir) {
		n.daemons = append(n.daemons, &daemon{place: p, command: o.Command, fabric: f})
	}
	n.feeds = make([]*feed, len(n.daemons))
	o.Say(fmt.Sprintf("making keys, certificates and trust of %s", plural(len(n.daemons), "node")))
	if err := n.write(d); err != nil {
		return err
	}
	n.fabric.begin()
	o.Say("starting " + plural(len(n.daemons), "daemon"))
	if err := n.startAll(ctx); err != nil {
		return err
	}
	if err := n.serveControl(); err != nil {
		return err
	}
	o.Say("connecting them")
	if err := n.connect(ctx); err != nil {
		return err
	}
	if o.Quiet {
		return nil
	}
	o.Say(fmt.Sprintf("deploying query %s at %s", n.query, n.daemons[0].id))
	if err := n.Deploy(ctx); err != nil {
		return err
	}
	for _, f := range n.feeds {
		if f != nil {
			f.grow()
		}
	}
	return nil
}

// pids returns the process ids of all nodes; 0 where none was started.
func (n *Net) pids() []int {
	out := make([]int, len(n.daemons))
	for i, d := range n.daemons {
		if p, _, _ := d.now(); p != nil {
			out[i] = p.pid
		}
	}
	return out
}

func (n *Net) places() []place {
	out := make([]place, len(n.daemons))
	for i, d := range n.daemons {
		out[i] = d.place
	}
	return out
}

func (n *Net) startAll(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, d := range n.daemons {
		g.Go(func() error { return d.start(ctx) })
	}
	return g.Wait()
}

// inForce returns the faults in force.
func (n *Net) inForce() []*inForce {
	n.shown.Lock()
	defer n.shown.Unlock()
	return n.active
}

// Deploy deploys the network's query, and the further ones, at the first node.
func (n *Net) Deploy(ctx context.Context) error {
	_, c, _ := n.daemons[0].now()
	if _, err := c.deploy(ctx, n.file, n.text); err != nil {
		return fmt.Errorf("deploying %s: %w", n.query, err)
	}
	for _, file := range n.spec.Queries {
		src, err := readLimited(file, maxSpecBytes)
		if err != nil {
			return err
		}
		if _, err := c.deploy(ctx, filepath.Base(file), string(src)); err != nil {
			return fmt.Errorf("deploying %s: %w", file, err)
		}
	}
	return nil
}

// Dir is the network's directory.
func (n *Net) Dir() string { return n.dir }

// Own reports whether the network chose its directory itself: Find finds it without being told where.
func (n *Net) Own() bool { return n.own }

// Query is the name of the deployed query, Outputs the names of its outputs.
func (n *Net) Query() string { return n.query }

// Outputs returns the names of the query's outputs.
func (n *Net) Outputs() []string { return n.outputs }

// Nodes returns the nodes' ids; the first is where results arrive.
func (n *Net) Nodes() []string {
	var out []string
	for _, d := range n.daemons {
		out = append(out, d.id)
	}
	return out
}

// find returns a node by its id, or as ORG/NODE.
func (n *Net) find(id string) (*daemon, error) {
	found, err := n.resolve(id)
	if err != nil {
		return nil, err
	}
	if len(found) > 1 {
		return nil, errorf(ErrNone, "%s has several nodes; name one of %s", id, strings.Join(n.Nodes(), ", "))
	}
	return n.daemons[found[0]], nil
}

// Kill ends a node's process at once.
func (n *Net) Kill(node string) error { return n.apply(context.Background(), FaultKill, node) }

// Stop ends a node's process in order.
func (n *Net) Stop(node string) error { return n.apply(context.Background(), FaultEnd, node) }

// Restart starts a node again, after stopping it if it runs, and returns when it is ready and has met the others.
func (n *Net) Restart(ctx context.Context, node string) error {
	return n.apply(ctx, FaultRestart, node)
}

func (n *Net) apply(ctx context.Context, kind, node string) error {
	_, err := n.Apply(ctx, Fault{Kind: kind, Targets: []string{node}})
	return err
}

// PID returns the process id of a node's present or last process.
func (n *Net) PID(id string) (int, error) {
	d, err := n.find(id)
	if err != nil {
		return 0, err
	}
	p, _, _ := d.now()
	return p.pid, nil
}

// API returns where a node's API is, and the file of its token.
func (n *Net) API(id string) (url, tokenFile string, err error) {
	d, err := n.find(id)
	if err != nil {
		return "", "", err
	}
	_, _, at := d.now()
	return at.API, filepath.Join(d.dir, "api.token"), nil
}

// Close ends all daemons in order, and returns after they are gone. A second call does nothing.
func (n *Net) Close() (err error) {
	n.closed.Do(func() { err = n.close() })
	return err
}

func (n *Net) close() error {
	var errs []error
	if n.control != nil {
		errs = append(errs, n.control.Close())
		n.served.Wait()
	}
	n.orders.Lock()
	defer n.orders.Unlock()
	n.faults.Lock()
	defer n.faults.Unlock()
	n.ending = true
	if n.fabric != nil {
		errs = append(errs, n.drop(func(*inForce) bool { return true }))
	}
	for _, f := range n.feeds {
		if f != nil {
			errs = append(errs, f.end())
		}
	}
	var g errgroup.Group
	for _, d := range n.daemons {
		if d.running() {
			g.Go(d.stop)
		}
	}
	errs = append(errs, g.Wait())
	for _, d := range n.daemons {
		if _, c, _ := d.now(); c != nil {
			c.close()
		}
	}
	if n.fabric != nil {
		errs = append(errs, n.fabric.close())
	}
	return errors.Join(append(errs, n.release())...)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// settleWithin is how long a node that was started again may take to meet the others.
const settleWithin = 30 * time.Second

// QueryFile is the file of the query as it was written, "" if it is the built-in one. Stream is the name of its stream.
func (n *Net) QueryFile() (file, stream string) { return n.spec.Query, n.stream }

// Command is the executable of the daemons.
func (n *Net) Command() string { return n.daemons[0].command }

// Home is the directory of the node where results arrive.
func (n *Net) Home() string { return n.daemons[0].dir }

// Mode is ModeProcess or ModeNetns.
func (n *Net) Mode() string { return n.spec.Mode }
