package testnet

import (
	"context"
	"sync"
	"time"

	"fednode/node/api"
)

// The states of a node.
const (
	StateStarting = "starting"
	StateRunning  = "running"
	StateKilled   = "killed"
	StateEnded    = "ended"   // in order
	StateStopped  = "stopped" // stands still
	StateFailed   = "failed"  // ended by itself
)

// View is how a network stands at one moment.
type View struct {
	At    time.Time `json:"at"`
	Dir   string    `json:"dir"`
	Mode  string    `json:"mode"`
	Query string    `json:"query"`
	// Outputs of the query, by name.
	Outputs []string   `json:"outputs"`
	Nodes   []NodeView `json:"nodes"`
	// Results were delivered to the sinks since the first node's start.
	Results uint64 `json:"results"`
	// Released is the stream time up to which results are out.
	Released api.StreamTime `json:"released"`
	// Done: the query's streams have ended, and all results are out.
	Done bool `json:"done"`
	// Failures of fragments and sinks, by name.
	Failures []string `json:"failures"`
	// Faults in force, the oldest first.
	Faults []FaultView `json:"faults"`
}

// NodeView is how one node stands.
type NodeView struct {
	ID    string `json:"id"`
	Org   string `json:"org"`
	Node  string `json:"node"`
	State string `json:"state"`
	PID   int    `json:"pid"`
	API   string `json:"api"`
	Dir   string `json:"dir"`
	// Rows entered here; High is their largest time.
	Rows uint64         `json:"rows"`
	High api.StreamTime `json:"high"`
	// Sent rows went to other nodes, Received came from them.
	Sent     uint64 `json:"sent"`
	Received uint64 `json:"received"`
	// Peers is with how many nodes there is a session.
	Peers       int     `json:"peers"`
	MemoryBytes int64   `json:"memory_bytes"`
	CPUSeconds  float64 `json:"cpu_s"`
	// Answers: the daemon does, and the counts are its own. Status is what it said, not passed on.
	Answers bool        `json:"answers"`
	Status  *api.Status `json:"-"`
}

// View asks all daemons. Those that do not answer have no counts.
func (n *Net) View(ctx context.Context) View {
	v := View{At: time.Now(), Dir: n.dir, Mode: n.spec.Mode, Query: n.query, Outputs: n.outputs, Nodes: make([]NodeView, len(n.daemons)), Released: api.NoTime, Failures: []string{}, Faults: n.Faults()}
	var asked sync.WaitGroup
	for i, d := range n.daemons {
		asked.Go(func() { v.Nodes[i] = d.view(ctx) })
	}
	asked.Wait()
	for i := range v.Nodes {
		v.add(&v.Nodes[i], i == 0)
	}
	return v
}

func (d *daemon) view(ctx context.Context) NodeView {
	p, c, at := d.now()
	v := NodeView{ID: d.id, Org: d.org, Node: d.name, Dir: d.dir, State: d.state(), API: at.API, High: api.NoTime}
	if p != nil {
		v.PID = p.pid
	}
	if v.State != StateRunning || c == nil {
		return v
	}
	if s, err := c.status(ctx); err == nil {
		v.Status, v.Answers = s, true
	}
	return v
}

// add counts what a node's own status says.
func (v *View) add(n *NodeView, home bool) {
	s := n.Status
	if s == nil {
		return
	}
	n.MemoryBytes, n.CPUSeconds = s.Node.MemoryBytes, s.Node.CPUSeconds
	for _, p := range s.Partners {
		n.Peers += p.Up
	}
	for _, src := range s.Sources {
		n.Rows += src.Rows
		n.High = max(n.High, src.High)
	}
	for i := range s.Queries {
		v.addQuery(n, &s.Queries[i], home)
	}
}

func (v *View) addQuery(n *NodeView, q *api.QueryStatus, home bool) {
	fail := func(what, why string) {
		if why != "" {
			v.Failures = append(v.Failures, n.ID+": "+what+": "+why)
		}
	}
	fail(q.ID, q.Failure)
	for _, f := range q.Fragments {
		fail("fragment "+f.Name, f.Failure)
		for _, in := range f.Inputs {
			if home && !ownStream(n, in.Stream) {
				n.Received += in.Rows
			}
		}
		for _, o := range f.Outputs {
			if !home {
				n.Sent += o.Head.ID
			}
		}
		if home {
			v.Released = max(v.Released, f.Released)
		}
	}
	if !home || q.Name != v.Query {
		return
	}
	v.Done = len(q.Sinks) > 0
	for _, s := range q.Sinks {
		fail("output "+s.Output, s.Failure)
		v.Results += s.Rows
		if len(q.Fragments) == 0 { // it all runs elsewhere
			v.Released = max(v.Released, s.At.Boundary)
		}
		v.Done = v.Done && s.Done
	}
}

// ownStream reports whether a stream is the node's own source.
func ownStream(n *NodeView, stream string) bool {
	for _, s := range n.Status.Sources {
		if s.Stream == stream {
			return true
		}
	}
	return false
}

// Tail calls each for every row of an output of the query, with its id and as JSON, until the output has ended or ctx
// has. From says where to begin: "beginning", "now" or the id of the last row known.
func (n *Net) Tail(ctx context.Context, output, from string, each func(id string, row []byte) error) error {
	return n.follow(ctx, output, from, "stable", func(e Event) error {
		if e.Name != "" {
			return nil
		}
		return each(e.ID, e.Data)
	})
}

// Follow is like Tail for who wants the latest results: tentative ones too, and what becomes of them.
func (n *Net) Follow(ctx context.Context, output, from string, each func(Event) error) error {
	return n.follow(ctx, output, from, "latest", each)
}

// FollowStream is Follow for any stream by its full name, at the first node.
func (n *Net) FollowStream(ctx context.Context, stream, from string, each func(Event) error) error {
	return n.followAt(ctx, stream, from, "latest", each)
}

func (n *Net) follow(ctx context.Context, output, from, mode string, each func(Event) error) error {
	return n.followAt(ctx, n.daemons[0].org+"/"+n.query+"/"+output, from, mode, each)
}

func (n *Net) followAt(ctx context.Context, stream, from, mode string, each func(Event) error) error {
	_, c, _ := n.daemons[0].now()
	if c == nil {
		return errorf(ErrNone, "node %s was never up", n.daemons[0].id)
	}
	return c.tail(ctx, stream, from, mode, each)
}

// Peers asks a node what it knows of the others.
func (n *Net) Peers(ctx context.Context, node string) ([]api.PeerInfo, error) {
	d, err := n.find(node)
	if err != nil {
		return nil, err
	}
	_, c, _ := d.now()
	if c == nil {
		return nil, errorf(ErrNone, "node %s was never up", node)
	}
	return c.peers(ctx)
}
