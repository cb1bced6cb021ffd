package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"
	"go.uber.org/zap"

	"fednode/node/api"
	"fednode/node/bind"
	"fednode/node/descriptor"
	"fednode/node/p2p"
	"fednode/node/trust"
	"fednode/node/wire"
	"fednode/query"
	"fednode/query/spec"
)

// loadedQuery is a query file that was found right.
type loadedQuery struct {
	diagram    *query.Diagram
	connectors *bind.Connectors
	plan       *query.Plan
	warnings   []spec.Problem
}

// loadQuery reads and plans a query file of our own.
func (n *Node) loadQuery(file string, src []byte) (*loadedQuery, error) {
	b := bind.New(n.kinds)
	b.Databases = n.cfg.Databases
	at := query.Placement{Home: n.place()}
	d, problems := query.Parse(file, src, query.Options{Env: n.environment, Connectors: b, Placement: at, Rates: n.declaredRate})
	if err := problems.Err(); err != nil {
		return nil, err
	}
	b.Finish(d)
	return &loadedQuery{diagram: d, connectors: b, plan: query.NewPlan(d, at, problems), warnings: problems.Warnings}, nil
}

// declaredRate is how many rows a second this node's file declares a stream of our organisation to have, 0 if it says nothing.
func (n *Node) declaredRate(stream string) float64 {
	for _, s := range n.cfg.Streams {
		if n.cfg.Node.Org+"/"+s.Name == stream {
			return s.Rate()
		}
	}
	return 0
}

// ErrExists means that another query of that name runs.
var ErrExists = fmt.Errorf("a query of this name runs with other content; replace it with --replace: %w", api.ErrExists)

// Deploy deploys a query file: it plans it, asks every other host, and starts it once all have agreed. The same content
// again is a no-op; a changed one needs replace.
func (n *Node) Deploy(ctx context.Context, file string, src []byte, replace bool) (*api.DeployResult, error) {
	if n.identity.Deploy == nil {
		return nil, errNoDeployKey
	}
	l, err := n.loadQuery(file, src)
	if err != nil {
		return nil, err
	}
	id := descriptor.ID(n.cfg.Node.Org, l.diagram.Settings.Name)
	held, known := n.queries.book.Get(id)
	if known && held.State == descriptor.Running {
		same, err := n.sameContent(held, src)
		if err != nil {
			return nil, err
		}
		if same {
			return answer(held, false, l), nil
		}
		if !replace {
			return nil, ErrExists
		}
	}
	if err := n.refuseCircle(l.diagram); err != nil {
		return nil, err
	}
	d, err := n.describe(l, held)
	if err != nil {
		return nil, err
	}
	return n.putInForce(ctx, d, held, l, src)
}

func (n *Node) sameContent(held *descriptor.Verified, src []byte) (bool, error) {
	have, err := n.queries.docs.LoadSource(held.ID(), held.DiagramHash)
	if err != nil {
		return false, err
	}
	return bytes.Equal(have.Text, src), nil
}

// describe writes the descriptor of a query: who runs what.
func (n *Node) describe(l *loadedQuery, held *descriptor.Verified) (*descriptor.Descriptor, error) {
	org := n.cfg.Node.Org
	d := &descriptor.Descriptor{
		Query: l.diagram.Settings.Name, Org: org, Term: 1, Epoch: 1, Writer: n.host.ID().String(), Semantics: l.diagram.Settings.Semantics,
		State: descriptor.Running, Diagram: l.diagram.Canonical(org), Home: n.place(), Created: trust.TimeOf(n.now()),
	}
	d.DiagramHash = l.diagram.Hash(org)
	if held != nil {
		d.Term, d.Epoch, d.Created = held.Term, held.Epoch+1, held.Created
	}
	for _, f := range l.plan.Fragments {
		a, err := n.assign(l, f, held)
		if err != nil {
			return nil, err
		}
		d.Assignments = append(d.Assignments, a...)
	}
	return d, nil
}

// putInForce signs a descriptor, has every other host agree, and adopts it.
func (n *Node) putInForce(ctx context.Context, d *descriptor.Descriptor, held *descriptor.Verified, l *loadedQuery, src []byte) (*api.DeployResult, error) {
	v, err := n.sign(d)
	if err != nil {
		return nil, err
	}
	for _, p := range otherHosts(v, n.host.ID()) {
		if err := n.askHost(ctx, p, v); err != nil {
			return nil, err
		}
	}
	var inForce wire.Hash
	if held != nil {
		inForce = held.DiagramHash
	}
	file := &descriptor.Source{File: l.diagram.File, Text: src, Diagram: d.DiagramHash}
	if err := n.queries.docs.SaveSource(v.ID(), file, inForce); err != nil {
		return nil, err
	}
	if err := n.queries.adopt(v.Signed); err != nil {
		return nil, err
	}
	hosts := otherHosts(v, n.host.ID())
	if held != nil {
		hosts = append(hosts, otherHosts(held, n.host.ID())...) // those that have nothing to do any more too
	}
	n.push(v, hosts)
	return answer(v, true, l), nil
}

func (n *Node) sign(d *descriptor.Descriptor) (*descriptor.Verified, error) {
	signed, err := descriptor.Sign(d, n.identity.Deploy, n.now())
	if err != nil {
		return nil, err
	}
	return descriptor.Verify(signed, n.registry, n.now())
}

// otherHosts returns the peers that run fragments of a descriptor, this node not among them.
func otherHosts(v *descriptor.Verified, self peer.ID) []peer.ID {
	var out []peer.ID
	for _, a := range v.Assignments {
		id, err := peer.Decode(a.Peer)
		if err == nil && id != self && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// askHost asks one host; a refusal names what is missing there.
func (n *Node) askHost(ctx context.Context, p peer.ID, v *descriptor.Verified) error {
	who := p.String()
	if m, ok := n.host.Member(p); ok {
		who = m.String()
	}
	r, err := n.queries.ask(ctx, p, v)
	switch {
	case errors.Is(err, p2p.ErrNotUp):
		return &api.RefusedError{Who: who, What: "query " + v.Query, Why: "the node is not up"}
	case err != nil:
		return fmt.Errorf("%s: %w", who, err)
	case !r.Accepted:
		return &api.RefusedError{Who: who, What: "query " + v.Query, Why: r.Detail}
	}
	return nil
}

func answer(v *descriptor.Verified, changed bool, l *loadedQuery) *api.DeployResult {
	return &api.DeployResult{Query: v.Query, ID: v.ID(), Term: v.Term, Epoch: v.Epoch, Changed: changed,
		Warnings: api.ProblemsOf(l.warnings), Assignments: api.AssignmentsOf(v.Assignments)}
}

// ErrUnknownQuery means that no query of that name is known here.
var ErrUnknownQuery = fmt.Errorf("no query of this name; see fednode query list: %w", api.ErrNotFound)

// StopQuery stops one of our queries everywhere. Stopping always works: hosts that cannot be reached learn it when they
// are up again.
func (n *Node) StopQuery(name string) error {
	held, ok := n.queries.book.Get(descriptor.ID(n.cfg.Node.Org, name))
	if !ok {
		return ErrUnknownQuery
	}
	if held.State == descriptor.Stopped {
		return nil
	}
	if n.identity.Deploy == nil {
		return errNoDeployKey
	}
	d := *held.Descriptor
	d.Epoch++
	d.State = descriptor.Stopped
	v, err := n.sign(&d)
	if err != nil {
		return err
	}
	if err := n.queries.adopt(v.Signed); err != nil {
		return err
	}
	n.push(v, otherHosts(v, n.host.ID()))
	return nil
}

// push hands a descriptor to hosts. One that is not up now learns of it when it is.
func (n *Node) push(v *descriptor.Verified, hosts []peer.ID) {
	slices.Sort(hosts)
	for _, p := range slices.Compact(hosts) {
		if err := n.host.Send(p, pushOf(v)); err != nil {
			n.log.Info("a host was not reached; one that has a part learns of it when it is up again", zap.String("query", v.ID()), zap.Error(err))
		}
	}
}
