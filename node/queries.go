package node

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/libp2p/go-libp2p/core/peer"
	"go.uber.org/zap"

	"fednode/node/api"
	"fednode/node/bind"
	"fednode/node/descriptor"
	"fednode/node/p2p"
	"fednode/node/wire"
	"fednode/query"
)

// queries holds what the node knows of deployed queries, its own and those it works for, and runs its part of each.
type queries struct {
	n    *Node
	docs descriptor.Documents
	book *descriptor.Book

	// started: what was stored has been started.
	started atomic.Bool

	// work are descriptors that have been adopted, by id; the run loop starts, changes and stops what they say.
	work *worklist

	mu      sync.Mutex
	running map[string]*deployment // by id, org/query
	failed  map[string]string      // why a query does not run here as its descriptor says
	asked   map[uint64]question    // by request
	// request is the number of the last one. The first is of the time at which the node started: an answer to a request of
	// the process before this one is none to ours.
	request uint64
}

func newQueries(n *Node) (*queries, error) {
	q := &queries{n: n, docs: descriptor.Documents{DB: n.store}, work: newWorklist(), running: make(map[string]*deployment),
		failed: make(map[string]string), asked: make(map[uint64]question), request: uint64(n.started.UnixNano())}
	q.book = descriptor.NewBook(n.registry, q.docs)
	lapses, err := q.book.Load(n.now())
	for _, l := range lapses {
		n.log.Warn("descriptor is not in force", zap.String("query", l.Query), zap.Error(l.Err))
	}
	return q, err
}

// run starts what the stored descriptors say, and then keeps to what is adopted, until ctx ends.
func (q *queries) run(ctx context.Context) error {
	defer q.stopAll()
	for _, v := range q.book.All() {
		q.settle(ctx, v.ID())
	}
	q.started.Store(true)
	for {
		select {
		case <-q.work.ready:
			for _, id := range q.work.take() {
				q.settle(ctx, id)
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// changed asks the run loop to look at a query.
func (q *queries) changed(id string) { q.work.add(id) }

// settle makes what runs here of a query what its descriptor says.
func (q *queries) settle(ctx context.Context, id string) {
	v, ok := q.book.Get(id)
	q.mu.Lock()
	d := q.running[id]
	q.mu.Unlock()
	if d != nil && ok && d.epoch == v.Epoch && d.term == v.Term && v.State == descriptor.Running {
		return
	}
	if d != nil {
		q.halt(id, d)
	}
	if ok && v.State == descriptor.Stopped {
		if err := q.erase(v, d); err != nil {
			q.n.log.Warn("state of a stopped query not removed", zap.String("query", id), zap.Error(err))
		}
	}
	if !ok || v.State != descriptor.Running {
		q.note(id, nil)
		return
	}
	err := q.begin(ctx, v)
	q.note(id, err)
	if d != nil && err == nil {
		q.mu.Lock()
		kept := q.running[id].claims()
		q.mu.Unlock()
		d.release(kept)
	}
}

// erase removes what a stopped query has left here, also where it had not begun or a crash came between: a query of the
// same name would begin with it. d is nil if it did not run.
func (q *queries) erase(v *descriptor.Verified, d *deployment) error {
	if d == nil {
		plan, err := v.Plan()
		if err != nil {
			return err
		}
		d = &deployment{n: q.n, owner: v.Org, query: v.Query, plan: plan, hosts: hostsOf(v)}
	}
	return d.erase()
}

// hostsOf returns who runs the replicas of each fragment.
func hostsOf(v *descriptor.Verified) map[string][]host {
	hosts := make(map[string][]host, len(v.Assignments))
	for _, a := range v.Assignments {
		hosts[a.Fragment] = append(hosts[a.Fragment], host{a.Org, a.Node})
	}
	for _, list := range hosts {
		slices.SortFunc(list, func(a, b host) int {
			return cmp.Or(strings.Compare(a.Org, b.Org), strings.Compare(a.Node, b.Node))
		})
	}
	return hosts
}

// halt stops a deployment.
func (q *queries) halt(id string, d *deployment) {
	if err := d.stop(); err != nil {
		q.n.log.Warn("query stopped", zap.String("query", id), zap.Error(err))
	}
	q.mu.Lock()
	delete(q.running, id)
	q.mu.Unlock()
	q.n.streams.version.Add(1)
}

func (q *queries) stopAll() {
	q.mu.Lock()
	all := make(map[string]*deployment, len(q.running))
	for id, d := range q.running {
		all[id] = d
	}
	q.mu.Unlock()
	for id, d := range all {
		q.halt(id, d)
	}
}

// note remembers why a query does not run here, or that it does.
func (q *queries) note(id string, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.failed, id)
	if err != nil {
		q.failed[id] = err.Error()
		q.n.log.Error("query does not run here", zap.String("query", id), zap.Error(err))
	}
}

// begin starts this node's part of a query.
func (q *queries) begin(ctx context.Context, v *descriptor.Verified) error {
	plan, connectors, err := q.planOf(v)
	if err != nil {
		return err
	}
	d := &deployment{n: q.n, owner: v.Org, query: v.Query, home: v.Home, plan: plan, connectors: connectors, epoch: v.Epoch, term: v.Term,
		hosts: hostsOf(v), memory: make(map[string]int64)}
	if err := q.admit(v, plan, d); err != nil {
		return err
	}
	for _, o := range v.Streams {
		q.n.streams.route(o.Stream, []query.Place{{Org: o.Org, Node: o.Node}})
	}
	if err := d.start(ctx); err != nil {
		return err
	}
	q.mu.Lock()
	q.running[v.ID()] = d
	q.mu.Unlock()
	q.n.streams.version.Add(1)
	q.n.log.Info("query runs", zap.String("query", v.ID()), zap.Uint64("term", v.Term), zap.Uint64("epoch", v.Epoch), zap.Strings("fragments", v.AssignedTo(q.n.host.ID().String())))
	return nil
}

// planOf plans a query: at its owner from the original file, which has the connectors; elsewhere from the descriptor.
func (q *queries) planOf(v *descriptor.Verified) (*query.Plan, *bind.Connectors, error) {
	if v.Org == q.n.cfg.Node.Org && v.Home == q.n.place() {
		src, err := q.docs.LoadSource(v.ID(), v.DiagramHash)
		if err != nil {
			return nil, nil, err
		}
		l, err := q.n.loadQuery(src.File, src.Text)
		if err != nil {
			return nil, nil, err
		}
		return l.plan, l.connectors, nil
	}
	plan, err := v.Plan()
	return plan, nil, err
}

// admit checks that every fragment that is to run here may.
func (q *queries) admit(v *descriptor.Verified, plan *query.Plan, d *deployment) error {
	rules := descriptor.Rules{Own: q.n.cfg.Node.Org, Peer: q.n.host.ID().String(), Hosts: q.n.cfg.Hosts}
	running := q.runningFor(v.Org, v.ID())
	for _, name := range v.AssignedTo(rules.Peer) {
		limits, err := rules.MayHost(v.Descriptor, plan.Fragment(name), running)
		if err != nil {
			return err
		}
		d.memory[name] = limits.MaxMemory
		running++
	}
	return nil
}

// runningFor counts the fragments that run here for an organisation, those of one query not among them.
func (q *queries) runningFor(org, except string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	sum := 0
	for id, d := range q.running {
		if d.owner == org && id != except {
			sum += len(d.fragments)
		}
	}
	return sum
}

// peerUp tells a peer which descriptors that concern it are known here; it pulls what it lacks.
func (q *queries) peerUp(p p2p.Peer) {
	revisions := q.book.Revisions(func(d *descriptor.Descriptor) bool { return d.Concerns(p.Member.Org) })
	if len(revisions) > 0 {
		q.send(p.ID, &wire.Announce{Revisions: revisions})
	}
}

func (q *queries) send(to peer.ID, m wire.Message) {
	if err := q.n.host.Send(to, m); err != nil {
		q.n.log.Debug("not sent", zap.Stringer("message", m.Kind()), zap.Error(err))
	}
}

// control takes a message about descriptors. It does not block.
func (q *queries) control(p p2p.Peer, m wire.Message) {
	switch m := m.(type) {
	case *wire.Announce:
		q.announced(p, m)
	case *wire.Pull:
		q.pulled(p, m)
	case *wire.Push:
		if err := q.adopt(m.Descriptor); err != nil {
			q.n.log.Warn("descriptor refused", zap.Stringer("peer", p.Member), zap.Error(err))
		}
	case *wire.Host:
		q.send(p.ID, q.hostRequest(p, m))
	case *wire.HostReply:
		q.hostReplied(p.ID, m)
	}
}

// announced pulls what a peer has that is newer than ours.
func (q *queries) announced(p p2p.Peer, m *wire.Announce) {
	lacking, rivals := q.book.Wanted(m.Revisions)
	for _, r := range rivals {
		q.n.log.Warn(r.String())
	}
	if len(lacking) > 0 {
		q.send(p.ID, &wire.Pull{Queries: lacking})
	}
	for _, r := range m.Revisions {
		if v, ok := q.book.Get(r.Query); ok && descriptor.Compare(r, v.Revision()) < 0 && q.formerly(v, p.Member.Org) {
			q.send(p.ID, pushOf(v))
		}
	}
}

// formerly reports whether an organisation had to do with a query of ours and has not any more. Its nodes ask nobody for
// what does not concern them: one that was away when that changed has to be told, or it runs its part for ever.
func (q *queries) formerly(v *descriptor.Verified, org string) bool {
	former, err := q.docs.Former(v.ID())
	if err != nil {
		q.n.log.Warn("former hosts of a query not read", zap.String("query", v.ID()), zap.Error(err))
	}
	return slices.Contains(former, org)
}

// pulled hands over descriptors that concern the asker.
func (q *queries) pulled(p p2p.Peer, m *wire.Pull) {
	for _, id := range m.Queries {
		if v, ok := q.book.Get(id); ok && v.Concerns(p.Member.Org) {
			q.send(p.ID, pushOf(v))
		}
	}
}

func pushOf(v *descriptor.Verified) *wire.Push {
	return &wire.Push{Revision: v.Revision(), Descriptor: v.Signed}
}

// adopt takes a descriptor if it is newer than what is known. One that does not concern this organisation is refused.
func (q *queries) adopt(signed []byte) error {
	v, err := descriptor.Verify(signed, q.n.registry, q.n.now())
	if err != nil {
		return err
	}
	// One that no longer concerns us ends what we have of the query.
	held, known := q.book.Get(v.ID())
	if !known && !v.Concerns(q.n.cfg.Node.Org) {
		return fmt.Errorf("descriptor of %s does not concern %s", v.ID(), q.n.cfg.Node.Org)
	}
	if known && held.Org == q.n.cfg.Node.Org && q.book.Admissible(v) == nil {
		if err := q.docs.Supersede(held.Descriptor, v.Descriptor); err != nil {
			return err
		}
	}
	a, err := q.book.Adopt(signed, q.n.now())
	if a.Rival != nil {
		q.n.log.Warn(a.Rival.String())
	}
	if err != nil {
		return err
	}
	if a.Changed {
		q.changed(v.ID())
	}
	return nil
}

// recheck stops what no longer has a descriptor in force, and starts what has one again, after trust has changed.
func (q *queries) recheck() {
	for _, l := range q.book.Recheck(q.n.now()) {
		q.n.log.Warn("descriptor is not in force", zap.String("query", l.Query), zap.Error(l.Err))
		q.changed(l.Query)
	}
	for _, v := range q.book.All() {
		q.changed(v.ID())
	}
}

// hostRequest answers a peer that asks whether we would run fragments. Nothing changes yet: the descriptor comes once all
// hosts have agreed, and until then the query runs on as it did.
func (q *queries) hostRequest(p p2p.Peer, m *wire.Host) *wire.HostReply {
	refuse := func(reason wire.Refusal, err error) *wire.HostReply {
		q.n.log.Info("hosting refused", zap.Stringer("peer", p.Member), zap.Error(err))
		return &wire.HostReply{Request: m.Request, Reason: reason, Detail: err.Error()}
	}
	v, err := descriptor.Verify(m.Descriptor, q.n.registry, q.n.now())
	if err != nil {
		return refuse(wire.BadDescriptor, err)
	}
	plan, err := v.Plan()
	if err != nil {
		return refuse(wire.BadDescriptor, err)
	}
	probe := &deployment{memory: make(map[string]int64)}
	if v.State == descriptor.Running {
		if err := q.admit(v, plan, probe); err != nil {
			return refuse(wire.MayNotHost, err)
		}
	}
	if err := q.book.Admissible(v); err != nil {
		return refuse(wire.StaleDescriptor, err)
	}
	return &wire.HostReply{Request: m.Request, Accepted: true}
}

var errNoDeployKey = &api.RefusedError{Who: "this node", What: "a deployment", Why: "it has no deploy key; deploy at a node that holds deploy.key, or put the key here"}
