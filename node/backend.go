package node

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"fednode/node/api"
	"fednode/node/config"
	"fednode/node/connect/push"
	"fednode/node/descriptor"
	"fednode/node/fragment"
	"fednode/query/tuple"
)

// backend is the node as its API sees it.
type backend struct {
	n *Node
	// settings in force, and where the API itself can be reached.
	settings []config.Setting
	apis     func() []string
}

var _ api.Backend = (*backend)(nil)

// Backend returns the node for an API server. settings are what configuration gave; apis says where the server listens.
func (n *Node) Backend(settings []config.Setting, apis func() []string) api.Backend {
	return &backend{n: n, settings: settings, apis: apis}
}

// Ready reports whether the node listens and its stored queries have been started.
func (b *backend) Ready() bool {
	select {
	case <-b.n.listening:
		return b.n.queries.started.Load()
	default:
		return false
	}
}

// Status returns how the node stands.
func (b *backend) Status() api.Status {
	n := b.n
	s := api.Status{Node: b.nodeStatus(), Storage: b.storageStatus(), Sources: []api.SourceStatus{}, Queries: []api.QueryStatus{}}
	for _, p := range n.sources {
		s.Sources = append(s.Sources, api.SourceOf(p.Status(), n.cfg.Limits.SourceLog))
	}
	s.Queries = append(s.Queries, b.queryStatuses()...)
	var orgs []string
	for _, o := range n.registry.Orgs() {
		orgs = append(orgs, o.Name)
	}
	s.Partners = api.PartnersOf(orgs, b.Peers())
	return s
}

func (b *backend) nodeStatus() api.NodeStatus {
	n := b.n
	m := n.identity.Member
	expires := m.Expires.Std()
	s := api.NodeStatus{
		Org: m.Org, Name: m.Node, Peer: n.host.ID().String(), Version: n.version, Started: n.started.UTC(), Ready: b.Ready(), P2P: []string{}, API: b.apis(),
		MemoryLimitBytes: n.cfg.Limits.Memory, Goroutines: runtime.NumGoroutine(), CertificateExpires: &expires,
	}
	s.P2P = append(s.P2P, n.addresses()...)
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err == nil {
		s.CPUSeconds = float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
	}
	s.MemoryBytes = residentBytes()
	return s
}

// residentBytes is what the process holds resident, 0 if the system does not say.
func residentBytes() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(b), &size, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}

func (b *backend) storageStatus() api.StorageStatus {
	s := api.StorageStatus{Dir: b.n.cfg.Node.DataDir, ReserveBytes: b.n.cfg.Limits.Reserve}
	tables, values := b.n.store.Size()
	s.StoreBytes = tables + values
	if space, err := b.n.measure(b.n.cfg.Node.DataDir); err == nil {
		s.FreeBytes = space.Free
		s.Full = space.Free <= s.ReserveBytes
	}
	return s
}

func (b *backend) info(v *descriptor.Verified) api.QueryInfo {
	info := api.QueryOf(v.Descriptor)
	q := b.n.queries
	q.mu.Lock()
	defer q.mu.Unlock()
	info.Here, info.Failure = q.running[v.ID()] != nil, q.failed[v.ID()]
	return info
}

func (b *backend) queryStatus(v *descriptor.Verified) api.QueryStatus {
	s := api.QueryStatus{QueryInfo: b.info(v), Sources: []api.SourceStatus{}, Fragments: []api.FragmentStatus{}, Sinks: []api.SinkStatus{}}
	q := b.n.queries
	q.mu.Lock()
	d := q.running[v.ID()]
	q.mu.Unlock()
	if d == nil {
		return s
	}
	s.MaxDelay = api.MaxDelayOf(d.plan.Diagram.Settings.MaxDelay)
	for _, p := range d.sources {
		s.Sources = append(s.Sources, api.SourceOf(p.Status(), b.n.cfg.Limits.SourceLog))
	}
	s.Fragments = append(s.Fragments, b.fragmentStatuses(d)...)
	for _, p := range d.sinks {
		st := p.Status()
		_, output, _ := strings.Cut(st.Name, "/out.")
		s.Sinks = append(s.Sinks, api.SinkOf(output, st))
	}
	return s
}

// queryStatuses describes all queries.
func (b *backend) queryStatuses() []api.QueryStatus {
	all := b.n.queries.book.All()
	out := make([]api.QueryStatus, len(all))
	atOnce(len(all), func(i int) { out[i] = b.queryStatus(all[i]) })
	return out
}

// fragmentStatuses describes the fragments of a query that run here, in the order of its plan.
func (b *backend) fragmentStatuses(d *deployment) []api.FragmentStatus {
	var here []*supervised
	var names []string
	for _, f := range d.plan.Fragments {
		if sv := d.fragments[f.Name]; sv != nil {
			here, names = append(here, sv), append(names, f.Name)
		}
	}
	out := make([]api.FragmentStatus, len(here))
	atOnce(len(here), func(i int) { out[i] = here[i].status(names[i]) })
	return out
}

// asked is how many are asked for their status at once: one that is busy answers late, and must not keep the others.
const asked = 32

// atOnce calls do for 0 to n-1, some at a time, and returns when all have returned.
func atOnce(n int, do func(i int)) {
	var g errgroup.Group
	g.SetLimit(asked)
	for i := range n {
		g.Go(func() error { do(i); return nil })
	}
	_ = g.Wait() // do does not fail
}

// status describes a supervised fragment.
func (s *supervised) status(name string) api.FragmentStatus {
	s.mu.Lock()
	r, failure, next, restarts, stopped := s.runner, s.failure, s.next, s.restarts, s.stopped
	s.mu.Unlock()
	var st fragment.Status
	if r != nil {
		st = r.Status()
	}
	out := api.FragmentOf(name, st)
	out.Restarts = restarts
	if r == nil && failure != "" {
		out.State, out.Failure = api.FragmentFailed, failure
		if stopped {
			out.State = api.FragmentStopped
		} else {
			out.NextTry = &next
		}
	}
	return out
}

// Peers returns all peers.
func (b *backend) Peers() []api.PeerInfo {
	out := []api.PeerInfo{}
	for _, p := range b.n.host.Peers() {
		out = append(out, api.PeerOf(p))
	}
	return out
}

// AddPeer keeps a session with a peer from now on.
func (b *backend) AddPeer(_ context.Context, address string) error {
	if err := b.n.AddPeer(address); err != nil {
		return fmt.Errorf("%w: %w", api.ErrInvalid, err)
	}
	return nil
}

// Queries returns all queries known here.
func (b *backend) Queries() []api.QueryInfo {
	out := []api.QueryInfo{}
	for _, v := range b.n.queries.book.All() {
		out = append(out, b.info(v))
	}
	return out
}

// Query returns one query.
func (b *backend) Query(name string) (*api.QueryDetail, error) {
	v, err := b.known(name)
	if err != nil {
		return nil, err
	}
	d := &api.QueryDetail{QueryStatus: b.queryStatus(v)}
	if src, err := b.n.queries.docs.LoadSource(v.ID(), v.DiagramHash); err == nil {
		d.File = string(src.Text)
	}
	return d, nil
}

// known finds a query by its name or, if it is another organisation's, by org/name.
func (b *backend) known(name string) (*descriptor.Verified, error) {
	id := name
	if !strings.Contains(name, "/") {
		id = descriptor.ID(b.n.cfg.Node.Org, name)
	}
	v, ok := b.n.queries.book.Get(id)
	if !ok {
		return nil, ErrUnknownQuery
	}
	return v, nil
}

// Deploy deploys a query.
func (b *backend) Deploy(ctx context.Context, file string, src []byte, replace bool) (*api.DeployResult, error) {
	return b.n.Deploy(ctx, file, src, replace)
}

// StopQuery stops a query of ours.
func (b *backend) StopQuery(_ context.Context, name string) error { return b.n.StopQuery(name) }

// Streams returns the streams produced here.
func (b *backend) Streams() []api.StreamInfo {
	out := []api.StreamInfo{}
	for _, st := range b.n.streams.all() {
		info := api.StreamInfo{Name: st.Name(), Columns: api.ColumnsOf(st.Schema()), Head: api.PositionOf(st.Head())}
		if b.n.streams.isQueryStream(st.Name()) {
			info.Query = queryOfStream(st.Name())
		}
		_, info.Push = b.n.inbox(st.Name())
		_, info.Source = st.(interface{ IsSource() })
		out = append(out, info)
	}
	return out
}

// queryOfStream returns org/query of a stream named org/query/output, org/query.stream or org/query.fragment.edge.
func queryOfStream(name string) string {
	org, rest, _ := strings.Cut(name, "/")
	if i := strings.IndexAny(rest, "/."); i >= 0 {
		rest = rest[:i]
	}
	return org + "/" + rest
}

// Tail follows a stream.
func (b *backend) Tail(_ context.Context, stream string, from api.TailFrom) (api.Tail, error) {
	return b.n.tail(stream, from)
}

// PushTarget returns where pushed rows of a stream go.
func (b *backend) PushTarget(stream string) (api.PushTarget, error) {
	t, ok := b.n.inbox(stream)
	switch {
	case ok:
		return t, nil
	case b.n.streams.Find(stream) != nil:
		return t, fmt.Errorf("%w: nobody can push to %s: its connector is not http", api.ErrInvalid, stream)
	}
	return t, fmt.Errorf("%w: no stream %s here", api.ErrNotFound, stream)
}

// Exports returns what this node lets out.
func (b *backend) Exports() []api.ExportInfo {
	out := []api.ExportInfo{}
	for _, x := range b.n.cfg.Exports {
		var schema *tuple.Schema
		if st := b.n.streams.Find(x.Stream); st != nil {
			schema = st.Schema()
		}
		out = append(out, api.ExportOf(x, schema))
	}
	return out
}

// Catalog returns the streams that partners have told of.
func (b *backend) Catalog(org string) []api.Offer {
	out := []api.Offer{}
	for _, st := range b.n.streams.remoteStreams() {
		if o := api.OfferOf(st); org == "" || o.Org == org {
			out = append(out, o)
		}
	}
	return out
}

// Config returns the settings in force.
func (b *backend) Config() []api.Setting { return api.SettingsOf(b.settings) }

// inbox returns where rows pushed to a stream go.
func (n *Node) inbox(stream string) (api.PushTarget, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	t, ok := n.inboxes[stream]
	return t, ok
}

// noteInbox remembers a source that takes pushed rows.
func (n *Node) noteInbox(stream string, t api.PushTarget) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.inboxes[stream] = t
}

func (n *Node) dropInbox(stream string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.inboxes, stream)
}

var _ api.Inbox = (*push.Inbox)(nil)
