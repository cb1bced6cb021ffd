package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.uber.org/zap"

	"fednode/node/api"
	"fednode/node/bind"
	"fednode/node/client"
	"fednode/node/connect"
	"fednode/node/connect/push"
	"fednode/node/flow"
	"fednode/node/fragment"
	"fednode/node/source"
	"fednode/query"
	"fednode/query/tuple"
	"fednode/storage/seglog"
)

// host is the node that runs a fragment.
type host struct {
	Org, Node string
}

// deployment is what of one query runs on this node.
type deployment struct {
	n     *Node
	owner string // organisation
	query string
	home  query.Place // the owner's node that has the sinks
	plan  *query.Plan
	hosts map[string][]host // of each fragment: one a replica, in order
	// connectors of the owner's own file; nil where the query runs for somebody else.
	connectors *bind.Connectors
	term       uint64
	epoch      uint64
	// limits of each fragment that runs here for a partner: bytes of state.
	memory map[string]int64

	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu        sync.Mutex
	sources   []*source.Proxy
	fragments map[string]*supervised
	sinks     []*client.Proxy
}

// start opens everything of the query that belongs on this node and lets it run until stop.
func (d *deployment) start(ctx context.Context) error {
	ctx, d.cancel = context.WithCancel(ctx)
	d.fragments = make(map[string]*supervised)
	if err := d.open(ctx); err != nil {
		return errors.Join(err, d.stop())
	}
	return nil
}

func (d *deployment) open(ctx context.Context) error {
	for _, f := range d.plan.Fragments {
		for _, o := range f.Outputs {
			d.n.streams.route(o.Stream, d.places(f.Name))
		}
	}
	if d.owner == d.n.cfg.Node.Org {
		if err := d.openSources(ctx); err != nil {
			return err
		}
	}
	for _, f := range d.plan.Fragments {
		if slices.Contains(d.hosts[f.Name], d.n.self()) {
			d.superviseFragment(ctx, f)
		}
	}
	if d.connectors != nil {
		return d.openSinks(ctx)
	}
	return nil
}

func (d *deployment) places(fragment string) []query.Place {
	var out []query.Place
	for _, h := range d.hosts[fragment] {
		out = append(out, query.Place{Org: h.Org, Node: h.Node})
	}
	return out
}

// nodesOf returns the nodes that run replicas of a fragment, "org/node".
func (d *deployment) nodesOf(fragment string) []string {
	var out []string
	for _, h := range d.hosts[fragment] {
		out = append(out, h.Org+"/"+h.Node)
	}
	return out
}

// hostedBy reports whether a replica of a fragment runs at an organisation.
func (d *deployment) hostedBy(fragment, org string) bool {
	return slices.ContainsFunc(d.hosts[fragment], func(h host) bool { return h.Org == org })
}

// openSources starts the source proxies of streams that the query itself declares.
func (d *deployment) openSources(ctx context.Context) error {
	if d.connectors == nil {
		return nil
	}
	for _, s := range d.plan.Diagram.Streams {
		src, ok := d.connectors.Sources[s.Name]
		if !ok || s.Foreign != "" {
			continue
		}
		name := s.StreamName(d.owner, d.query)
		p, err := d.n.openSource(s, src, name, filepath.Join(d.n.cfg.Node.DataDir, "queries", d.query, s.Name))
		if err != nil {
			return err
		}
		d.sources = append(d.sources, p)
		d.n.streams.putSource(p, d.permitSource(name))
		d.tasks.Go(func() { d.n.report(p.Run(ctx), "source", name) })
	}
	return nil
}

// permitSource lets a query's own source go to the organisations that its owner has placed a reading fragment with.
func (d *deployment) permitSource(stream string) func(string) error {
	return func(org string) error {
		for _, f := range d.plan.Fragments {
			for _, in := range f.Inputs {
				if in.Stream == stream && d.hostedBy(f.Name, org) {
					return nil
				}
			}
		}
		return fmt.Errorf("stream %s is read by no fragment of query %s that runs at %s", stream, d.query, org)
	}
}

// permitOutput says who may have an output of a fragment that runs here: the query's owner, and hosts of fragments that
// read it; and only as far as our exports let everything go there from which it is made.
func (d *deployment) permitOutput(f *query.FragmentPlan, stream string) func(string) error {
	return func(org string) error {
		if org != d.owner && !d.reads(org, stream) {
			return fmt.Errorf("stream %s belongs to query %s of %s, and no fragment at %s reads it", stream, d.query, d.owner, org)
		}
		return d.exportsAllow(f, org)
	}
}

// exportsAllow says whether our exports let everything go to an organisation from which a fragment's results are made: nil,
// or a *export.DeniedError.
func (d *deployment) exportsAllow(f *query.FragmentPlan, org string) error {
	for _, name := range d.sourcesOf(f) {
		if !strings.HasPrefix(name, d.n.cfg.Node.Org+"/") || d.ownSource(name) {
			continue
		}
		if _, err := d.n.streams.exported(name, org); err != nil {
			return err
		}
	}
	return nil
}

// permitState says who may have the state of a fragment, which holds rows of its input: organisations that run replicas of
// it, as far as our exports let that go there.
func (d *deployment) permitState(f *query.FragmentPlan) func(string) error {
	return func(org string) error {
		if !d.hostedBy(f.Name, org) {
			return fmt.Errorf("no replica of fragment %s of query %s runs at %s", f.Name, d.query, org)
		}
		return d.exportsAllow(f, org)
	}
}

// ownSource reports whether the query itself declares a source: who deploys it says by that where it goes. What another
// query makes needs an export like any stream.
func (d *deployment) ownSource(name string) bool {
	for _, s := range d.plan.Diagram.Streams {
		if s.Foreign == "" && s.StreamName(d.owner, d.query) == name {
			return true
		}
	}
	return false
}

// reads reports whether a fragment at an organisation subscribes to a stream.
func (d *deployment) reads(org, stream string) bool {
	for _, f := range d.plan.Fragments {
		for _, in := range f.Inputs {
			if in.Stream == stream && d.hostedBy(f.Name, org) {
				return true
			}
		}
	}
	return false
}

// sourcesOf returns the streams that a fragment's results are made from, however far upstream.
func (d *deployment) sourcesOf(f *query.FragmentPlan) []string {
	var out []string
	seen := make(map[string]bool)
	var walk func(f *query.FragmentPlan)
	walk = func(f *query.FragmentPlan) {
		for _, in := range f.Inputs {
			if seen[in.Stream] {
				continue
			}
			seen[in.Stream] = true
			if in.Source != nil {
				out = append(out, in.Stream)
			} else if up := d.plan.Fragment(in.Fragment); up != nil {
				walk(up)
			}
		}
	}
	walk(f)
	return out
}

// subscriber is the name under which a replica of a fragment is known upstream.
func (d *deployment) subscriber(fragment string, h host) string {
	return h.Org + "/" + h.Node + "/" + d.query + "/" + fragment
}

// subscribers are the names of all replicas of a fragment.
func (d *deployment) subscribers(fragment string) []string {
	var out []string
	for _, h := range d.hosts[fragment] {
		out = append(out, d.subscriber(fragment, h))
	}
	return out
}

// sinkName is the name under which an output's sink is known upstream.
func (d *deployment) sinkName(output string) string {
	return d.owner + "/" + d.home.Node + "/" + d.query + "/out." + output
}

// readers returns the subscribers that each output of a fragment waits for: fragments, and sinks at the query's home,
// wherever the fragment runs.
func (d *deployment) readers(f *query.FragmentPlan) map[string][]string {
	out := make(map[string][]string)
	for _, o := range f.Outputs {
		for _, down := range d.plan.Fragments {
			for _, in := range down.Inputs {
				if in.Stream == o.Stream {
					out[o.Stream] = append(out[o.Stream], d.subscribers(down.Name)...)
				}
			}
		}
	}
	for _, o := range d.plan.Outputs {
		if o.Output.HasSink() {
			out[o.Stream] = append(out[o.Stream], d.sinkName(o.Output.Name))
		}
	}
	if d.connectors == nil {
		return out // whether nobody else will read an output is for its owner to say
	}
	for _, o := range f.Outputs {
		out[o.Stream] = slices.Clip(out[o.Stream]) // an entry, also if nobody reads it
	}
	return out
}

// fragmentConfig is how a fragment runs here.
func (d *deployment) fragmentConfig(f *query.FragmentPlan) fragment.Config {
	limits := d.n.cfg.Limits
	return fragment.Config{
		Name: d.owner + "/" + d.query + "/" + f.Name, Subscriber: d.subscriber(f.Name, d.n.self()), Plan: f, Epoch: d.epoch,
		Checksums: d.n.cfg.Availability.Checksums, Self: d.n.name(), Incarnation: uint64(d.n.started.UnixNano()), Peers: d.peersOf(f.Name), Producers: d.producers(f), Settings: d.availability(), Places: d.standing(f),
		Network: fragmentNetwork{n: d.n, org: d.owner}, Points: fragment.Store{Points: d.n.points}, Clock: connect.SystemClock{}, Log: d.n.log,
		Readers: d.readers(f), Counts: d.n.queries.counts(), PointInterval: d.n.cfg.Checkpoint.Interval, OutputBytes: limits.OutputBuffer, OverflowDir: d.overflowDir(f.Name), OverflowBytes: limits.OutputSpill, Keep: d.plan.Diagram.Settings.CorrectWindow, Room: d.n.room,
		Partner: flow.Partner{Bytes: limits.Partner.Buffer, Age: limits.Partner.Age}, InputBytes: limits.InputBuffer, Own: d.n.own(), ClockSkew: d.n.cfg.Federation.ClockSkew, StateBytes: d.memory[f.Name],
	}
}

// overflowDir is where the outputs of a fragment put what does not fit into memory.
func (d *deployment) overflowDir(fragment string) string {
	return filepath.Join(d.n.cfg.Node.DataDir, "spill", d.owner, d.query, fragment)
}

// openSinks starts the client proxies of outputs that have a sink here.
func (d *deployment) openSinks(ctx context.Context) error {
	for _, o := range d.plan.Outputs {
		decl, ok := d.connectors.Sinks[o.Output.Name]
		if !ok {
			continue
		}
		name := d.sinkName(o.Output.Name)
		p := client.New(client.Config{
			Upstream: d.n.upstream(o.Stream, d.availability()), Name: name, NewSink: func() connect.Sink { return decl.New(o.Output, name, false, d.n.env()) },
			Tentative: decl.Plan.Tentative, CommitRows: decl.Plan.CommitRows, Positions: sinkStore{db: d.n.store, query: d.query}, Log: d.n.log,
		})
		d.sinks = append(d.sinks, p)
		d.tasks.Go(func() { d.n.report(p.Run(ctx), "sink", o.Output.Name) })
	}
	return nil
}

// stop ends everything and returns when it has ended; fragments store a last recovery point.
func (d *deployment) stop() error {
	d.cancel()
	d.tasks.Wait()
	var errs []error
	for _, p := range d.sources {
		d.n.streams.dropSource(p)
		d.n.dropInbox(p.Name())
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// erase removes what a stopped query has left on this node.
func (d *deployment) erase() error {
	var errs []error
	for _, f := range d.plan.Fragments {
		errs = append(errs, d.n.points.Delete(d.owner+"/"+d.query+"/"+f.Name))
	}
	errs = append(errs, os.RemoveAll(d.overflowDir("")))
	if d.owner == d.n.cfg.Node.Org { // a partner's query has neither sinks nor sources here, and may have the name of one of ours
		errs = append(errs, d.n.forgetPositions(d.query), os.RemoveAll(filepath.Join(d.n.cfg.Node.DataDir, "queries", d.query)))
	}
	d.release(nil)
	return errors.Join(errs...)
}

// claim is a subscriber that a stream waits for.
type claim struct{ stream, subscriber string }

// claims returns the subscriptions of all fragments and sinks of the query, wherever they run.
func (d *deployment) claims() map[claim]bool {
	out := make(map[claim]bool)
	for _, o := range d.plan.Outputs {
		if o.Output.HasSink() {
			out[claim{o.Stream, d.sinkName(o.Output.Name)}] = true
		}
	}
	for _, f := range d.plan.Fragments {
		for _, in := range f.Inputs {
			for _, name := range d.subscribers(f.Name) {
				out[claim{in.Stream, name}] = true
			}
		}
	}
	return out
}

// release lets the streams of this node no longer wait for the query's subscriptions, but for those that are kept: what a
// replaced query no longer reads, or reads under another name since its fragment has moved, would hold the log back for
// ever.
func (d *deployment) release(kept map[claim]bool) {
	for c := range d.claims() {
		if st := d.n.streams.Find(c.stream); st != nil && !kept[c] {
			st.Forget(c.subscriber)
		}
	}
}

// openSource opens the proxy of a declared stream.
func (n *Node) openSource(s *query.Stream, src bind.Source, name, dir string) (*source.Proxy, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, err
	}
	from := src.Plan.New(n.env())
	if in, ok := from.(*push.Inbox); ok {
		n.noteInbox(name, api.PushTarget{Shape: src.Shape, Inbox: in})
	}
	return source.Open(source.Config{
		Name: name, Schema: s.Schema, Dir: dir, HasTime: s.Time >= 0, Rules: bind.Rules(s.Rules, tuple.TimeOf(n.started)), OnError: bind.OnError(s.Rules.OnError),
		Source: from, Clock: connect.SystemClock{}, Log: n.log, Acks: ackStore{n.store}, Retain: s.Rules.Retain,
		Partner: source.Partner{Bytes: n.cfg.Limits.Partner.Buffer, Age: n.cfg.Limits.Partner.Age}, Own: n.own(), Room: n.room,
		MaxLogBytes: n.cfg.Limits.SourceLog, Storage: seglog.Options{SegmentBytes: sourceSegment},
	})
}

// sourceSegment is small enough that what all have acknowledged is freed soon, and large enough that files stay few.
const sourceSegment = 32 << 20

// report logs an error that ended a part of the node.
func (n *Node) report(err error, what, name string) {
	if err != nil {
		n.log.Error(what+" ended", zap.String("name", name), zap.Error(err))
	}
}
