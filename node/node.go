package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"fednode/node/api"
	"fednode/node/config"
	"fednode/node/connect"
	"fednode/node/connect/connectors"
	"fednode/node/link"
	"fednode/node/member"
	"fednode/node/p2p"
	"fednode/node/source"
	"fednode/node/trust"
	"fednode/query"
	"fednode/storage"
	"fednode/storage/disk"
)

// Options of New.
type Options struct {
	Config *config.Config
	// Trust is the directory of keys, certificate and partners.
	Trust trust.Dir
	Log   *zap.Logger
	// Version of the software, for peers and people.
	Version string
	// Now is the wall clock, by which signatures are judged and streams are found to be ahead; nil is the system's.
	// Durations are measured without it.
	Now func() time.Time
	// Space measures the free space of a directory; nil asks the file system.
	Space func(dir string) (disk.Space, error)
	// Connectors that deployed queries may name; nil means all that the product has. Config has its own already.
	Connectors []connect.Kind
}

// Node is a daemon.
type Node struct {
	// Fixed after New.
	cfg      *config.Config
	log      *zap.Logger
	version  string
	kinds    []connect.Kind // that queries may name
	now      func() time.Time
	measure  func(dir string) (disk.Space, error)
	trust    trust.Dir
	identity *trust.Identity
	registry *trust.Registry
	started  time.Time
	store    *storage.Store
	points   *storage.RecoveryPoints
	streams  *streams
	watchers *watchers
	link     *link.Link
	host     *p2p.Host
	members  *member.Membership
	queries  *queries
	sources  []*source.Proxy // of [streams]

	// listening is closed once the host can be reached.
	listening chan struct{}

	mu      sync.Mutex
	inboxes map[string]api.PushTarget // of streams that take pushed rows
	tails   uint64                    // opened since the start
	// The last look at the disk.
	space    disk.Watch
	spaceAt  time.Time
	spaceErr error
}

// New opens what the node needs and checks that it can run. It starts nothing, and frees what it opened on an error.
func New(o Options) (*Node, error) {
	if o.Connectors == nil {
		o.Connectors = connectors.Kinds()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Space == nil {
		o.Space = disk.Measure
	}
	n := &Node{cfg: o.Config, log: o.Log, version: o.Version, kinds: o.Connectors, trust: o.Trust, now: o.Now, measure: o.Space, started: o.Now(), listening: make(chan struct{}), inboxes: make(map[string]api.PushTarget)}
	if err := n.open(); err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

func (n *Node) open() (err error) {
	if n.identity, err = n.trust.LoadIdentity(); err != nil {
		return err
	}
	if got, want := n.identity.Member, n.cfg.Node; got.Org != want.Org || got.Node != want.Name {
		return fmt.Errorf("%s says node %s/%s, the certificate in %s is of %s; correct [node], or enrol this node anew", n.cfg.File, want.Org, want.Name, n.trust.Path, got)
	}
	if n.registry, err = n.trust.LoadRegistry(n.cfg.Federation.ClockSkew); err != nil {
		return err
	}
	if err := os.MkdirAll(n.cfg.Node.DataDir, 0o700); err != nil {
		return fmt.Errorf("data directory: %w; set [node] data_dir to a directory that can be written", err)
	}
	if n.store, err = storage.Open(filepath.Join(n.cfg.Node.DataDir, "store"), storage.Options{Reserve: n.reserve(), Space: n.measure}); err != nil {
		return err
	}
	n.space = disk.Watch{Reserve: n.reserve()}
	if n.points, err = storage.NewRecoveryPoints(n.store); err != nil {
		return err
	}
	n.streams = newStreams(n.cfg.Node.Org, n.cfg.Exports, n.now)
	n.link = link.New(n.streams, n.log)
	n.streams.link = n.link
	n.watchers = &watchers{self: n.name(), way: n.way, list: new(listeners)}
	if err := n.openHost(); err != nil {
		return err
	}
	n.link.Attach(n.host)
	if err := n.openStreams(); err != nil {
		return err
	}
	if n.queries, err = newQueries(n); err != nil {
		return err
	}
	n.streams.shared = n.queries.shared
	return nil
}

// openStreams opens the source proxies of the node's own streams.
func (n *Node) openStreams() error {
	for _, s := range n.cfg.Streams {
		if s.Foreign != "" {
			continue // declared for its exports: another node of ours has it
		}
		src, ok := n.cfg.Connectors.Sources[s.Name]
		if !ok {
			return fmt.Errorf("stream %s: a node's stream needs a connector of its own, not `%s`", s.Name, s.Connector)
		}
		name := n.cfg.Node.Org + "/" + s.Name
		p, err := n.openSource(s, src, name, filepath.Join(n.cfg.Node.DataDir, "streams", s.Name))
		if err != nil {
			return err
		}
		n.sources = append(n.sources, p)
		n.streams.putSource(p, nil)
	}
	return nil
}

// Run runs the node until ctx ends, and returns after everything has ended in good order.
func (n *Node) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, n.close()) }()
	n.log.Info("node starting", zap.String("org", n.cfg.Node.Org), zap.String("node", n.cfg.Node.Name), zap.Stringer("peer", n.host.ID()), zap.String("version", n.version))
	g, gctx := errgroup.WithContext(ctx)
	// The host outlives what uses it, so that last acknowledgements and goodbyes still leave.
	hostCtx, stopHost := context.WithCancel(context.WithoutCancel(ctx))
	defer stopHost()
	var host sync.WaitGroup
	hostDone := make(chan error, 1)
	host.Go(func() { hostDone <- n.host.Run(hostCtx) })
	defer host.Wait()
	defer stopHost()
	g.Go(func() error {
		select {
		case err := <-hostDone:
			return err
		case <-gctx.Done():
			return nil
		}
	})
	g.Go(func() error { return n.waitListening(gctx) })
	g.Go(func() error { n.link.Run(gctx); return nil })
	g.Go(func() error { return n.members.Run(gctx) })
	g.Go(func() error { return n.keepHouse(gctx) })
	g.Go(func() error { n.beat(gctx); return nil })
	g.Go(func() error { n.forgetAbsent(gctx); return nil })
	g.Go(func() error { return n.watchPartners(gctx) })
	for _, p := range n.sources {
		g.Go(func() error { return p.Run(gctx) })
	}
	g.Go(func() error { return n.queries.run(gctx) })
	err = g.Wait()
	n.log.Info("node stopped", zap.Error(err))
	return err
}

// close frees what is open. It is for the end of Run, and for a New that failed half way.
func (n *Node) close() error {
	var errs []error
	for _, p := range n.sources {
		errs = append(errs, p.Close())
	}
	if n.store != nil {
		errs = append(errs, n.store.Close())
	}
	return errors.Join(errs...)
}

// Close frees a node that never ran.
func (n *Node) Close() error {
	return errors.Join(n.host.Close(), n.close())
}

// self is this node as a host of fragments.
func (n *Node) self() host { return host{Org: n.cfg.Node.Org, Node: n.cfg.Node.Name} }

// name is this node, "org/node".
func (n *Node) name() string { return n.cfg.Node.Org + "/" + n.cfg.Node.Name }

// env is what connectors are given.
func (n *Node) env() connect.Env { return connect.Env{Dir: n.cfg.Dir, Clock: connect.SystemClock{}} }

// reserve is the free space below which the store refuses to write.
func (n *Node) reserve() disk.Reserve {
	return disk.Reserve{StopBytes: n.cfg.Limits.Reserve, ResumeBytes: n.cfg.Limits.Reserve + n.cfg.Limits.Reserve/4}
}

// own is the prefix of the names of our own organisation's subscribers.
func (n *Node) own() string { return n.cfg.Node.Org + "/" }

// room says whether the disk has room for more; it looks at most once a second.
func (n *Node) room() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if time.Since(n.spaceAt) < time.Second {
		return n.spaceErr
	}
	n.spaceAt = time.Now()
	space, err := n.measure(n.cfg.Node.DataDir)
	if err == nil {
		err = n.space.Check(n.cfg.Node.DataDir, space)
	}
	n.spaceErr = err
	return err
}

// gcEvery is how often the store frees what it no longer needs, and the certificate is looked at.
const gcEvery = 5 * time.Minute

// keepHouse does what has to be done now and then.
func (n *Node) keepHouse(ctx context.Context) error {
	tick := time.NewTicker(gcEvery)
	defer tick.Stop()
	for {
		n.renew()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		if err := n.store.GC(ctx); err != nil {
			n.log.Warn("store not compacted", zap.Error(err))
		}
	}
}

// renew takes a new certificate when two thirds of the present one have passed, where the nodes key is at hand.
func (n *Node) renew() {
	if trust.TimeOf(n.now()) < n.identity.Member.RenewAt() {
		return
	}
	renewed, err := n.trust.Renew(n.identity, n.now())
	if err != nil {
		n.log.Warn("certificate not renewed; renew it with fednode node request and sign", zap.Error(err))
		return
	}
	if renewed {
		n.log.Info("certificate renewed", zap.Stringer("until", n.identity.Member.Expires))
		if err := n.host.SetCertificate(n.identity.Certificate); err != nil {
			n.log.Warn("new certificate not shown to peers", zap.Error(err))
		}
	}
}

// place is this node as a place.
func (n *Node) place() query.Place { return query.Place{Org: n.cfg.Node.Org, Node: n.cfg.Node.Name} }
