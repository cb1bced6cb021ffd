package node

import (
	"context"
	"fmt"
	"slices"

	"fednode/node/api"
	"fednode/node/fragment"
)

// reader is what of a query reads a stream here.
type reader struct {
	stream string
	// producer is the node that it reads from; "" if there is none.
	producer string
	diverged []string
	accept   func(producer string)
}

// readersHere lists what of a deployment reads here, the fragments and the sinks.
func (d *deployment) readersHere() []reader {
	d.mu.Lock()
	sinks := slices.Clone(d.sinks)
	var running []*fragment.Runner
	for _, s := range d.fragments {
		s.mu.Lock()
		if s.runner != nil {
			running = append(running, s.runner)
		}
		s.mu.Unlock()
	}
	d.mu.Unlock()
	var list []reader
	for _, r := range running {
		st := r.Status()
		for _, in := range st.Inputs {
			list = append(list, reader{stream: in.Stream, producer: in.Producer, diverged: in.Diverged, accept: r.Accept})
		}
	}
	for _, p := range sinks {
		st := p.Status()
		list = append(list, reader{stream: st.Stream, producer: st.Producer, diverged: st.Diverged, accept: p.Accept})
	}
	return list
}

// AcceptReplica lets what of a query runs here read again from a node whose rows differ from those of another one. It fails
// with api.ErrInvalid if nobody here holds it for DIVERGED, and with api.ErrUnavailable while one of the replicas that it
// differs from is read: then the two would be compared again at once.
func (b *backend) AcceptReplica(_ context.Context, name, producer string) error {
	v, err := b.known(name)
	if err != nil {
		return err
	}
	id := v.ID()
	b.n.queries.mu.Lock()
	d := b.n.queries.running[id]
	b.n.queries.mu.Unlock()
	if d == nil {
		return fmt.Errorf("%w: nothing of query %s runs at this node; ask one that shows DIVERGED", api.ErrInvalid, id)
	}
	return accept(d.readersHere(), id, producer)
}

// accept lets those that hold a producer for DIVERGED read from it again.
func accept(readers []reader, query, producer string) error {
	var wanted []reader
	for _, r := range readers {
		if !slices.Contains(r.diverged, producer) {
			continue
		}
		if r.producer != "" {
			return fmt.Errorf("%w: %s is read from %s, which differs from %s; if %[3]s is wrong, stop it first", api.ErrUnavailable, r.stream, r.producer, producer)
		}
		wanted = append(wanted, r)
	}
	if len(wanted) == 0 {
		return fmt.Errorf("%w: nothing of query %s at this node holds %q for DIVERGED; fednode query show lists who is", api.ErrInvalid, query, producer)
	}
	for _, r := range wanted {
		r.accept(producer)
	}
	return nil
}
