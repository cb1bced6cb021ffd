package descriptor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"

	"fednode/node/trust"
	"fednode/query"
)

// Limits of what a descriptor says.
const (
	maxAssignments = 4096
	maxReplicas    = 16 // of one fragment
	maxStreams     = 256
	maxLabels      = 1024 // bytes
)

// check refuses a descriptor that no node could act on.
func (d *Descriptor) check() error {
	if err := d.checkFields(); err != nil {
		return err
	}
	plan, err := d.Plan()
	if err != nil {
		return err
	}
	if err := d.checkAssignments(plan); err != nil {
		return err
	}
	return d.checkStreams(plan)
}

func (d *Descriptor) checkFields() error {
	if err := first(
		trust.CheckName("query of a descriptor", d.Query),
		trust.CheckName("organisation of a descriptor", d.Org),
		d.checkNode("home", d.Home.Org, d.Home.Node),
		d.checkPeer("writer", d.Writer),
	); err != nil {
		return err
	}
	switch {
	case d.Term == 0 || d.Epoch == 0:
		return d.refuse(trust.ErrMalformed, "revision", fmt.Sprintf("term %d, epoch %d", d.Term, d.Epoch), "both from 1", "")
	case d.State != Running && d.State != Stopped:
		return d.refuse(trust.ErrMalformed, "state", quote(string(d.State)), "running or stopped", "")
	case d.Created <= 0:
		return d.refuse(trust.ErrMalformed, "created", d.Created.String(), "a time after 1970", "")
	case d.Home.Org != d.Org:
		return d.refuse(trust.ErrIdentity, "home", "organisation "+quote(d.Home.Org), "the owner, "+d.Org, "")
	case len(d.Home.Labels) > maxLabels:
		return d.refuse(ErrTooLarge, "labels of home", fmt.Sprintf("%d bytes", len(d.Home.Labels)), fmt.Sprintf("at most %d", maxLabels), "")
	case len(d.Assignments) > maxAssignments || len(d.Streams) > maxStreams:
		return d.refuse(ErrTooLarge, "", fmt.Sprintf("%d assignments, %d streams", len(d.Assignments), len(d.Streams)),
			fmt.Sprintf("at most %d and %d", maxAssignments, maxStreams), "")
	}
	return nil
}

// first returns the first error.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *Descriptor) checkNode(part, org, node string) error {
	return first(trust.CheckName("organisation in "+part, org), trust.CheckName("node in "+part, node))
}

// checkPeer accepts a peer id in its one usual spelling only: revisions are ordered by it.
func (d *Descriptor) checkPeer(part, text string) error {
	id, err := peer.Decode(text)
	if err != nil || id.String() != text {
		return d.refuse(trust.ErrMalformed, part, quote(text), "a peer id such as 12D3KooW…", "")
	}
	return nil
}

// checkAssignments wants every fragment run by somebody, no other fragment, and the list in its order.
func (d *Descriptor) checkAssignments(plan *query.Plan) error {
	replicas := make(map[string]int, len(plan.Fragments))
	for _, f := range plan.Fragments {
		replicas[f.Name] = 0
	}
	peers := make(map[[2]string]bool, len(d.Assignments))
	for i, a := range d.Assignments {
		part := "assignment of fragment " + quote(a.Fragment)
		if err := first(d.checkNode(part, a.Org, a.Node), d.checkPeer(part, a.Peer)); err != nil {
			return err
		}
		n, known := replicas[a.Fragment]
		switch {
		case !known:
			return d.refuse(ErrAssignment, part, "no such fragment", fragmentNames(plan), "have it deployed again")
		case i > 0 && compareAssignments(d.Assignments[i-1], a) >= 0:
			return d.refuse(trust.ErrMalformed, part, "not after the one before it", "order of fragment, organisation, node and peer", "")
		case peers[[2]string{a.Fragment, a.Peer}]:
			return d.refuse(ErrAssignment, part, "peer "+a.Peer+" twice", "different peers", "")
		case n == maxReplicas:
			return d.refuse(ErrTooLarge, part, "more replicas", fmt.Sprintf("at most %d", maxReplicas), "")
		}
		replicas[a.Fragment]++
		peers[[2]string{a.Fragment, a.Peer}] = true
	}
	for _, f := range plan.Fragments {
		if replicas[f.Name] == 0 {
			return d.refuse(ErrAssignment, "fragment "+quote(f.Name), "nobody to run it", "an assignment", "have it deployed again")
		}
	}
	return nil
}

func fragmentNames(plan *query.Plan) string {
	const shown = 8
	var names []string
	for _, f := range plan.Fragments[:min(shown, len(plan.Fragments))] {
		names = append(names, f.Name)
	}
	if len(plan.Fragments) > shown {
		names = append(names, "…")
	}
	return "one of " + strings.Join(names, ", ")
}

// checkStreams wants origins of the query's streams only, in order of name, each in the organisation that has the stream.
func (d *Descriptor) checkStreams(plan *query.Plan) error {
	sources := map[string]bool{}
	for _, s := range plan.Diagram.Streams {
		sources[s.StreamName(d.Org, d.Query)] = true
	}
	for i, s := range d.Streams {
		part := "origin of stream " + quote(s.Stream)
		if err := first(d.checkNode(part, s.Org, s.Node), d.checkPeer(part, s.Peer)); err != nil {
			return err
		}
		owner, _, _ := strings.Cut(s.Stream, "/")
		switch {
		case !sources[s.Stream]:
			return d.refuse(ErrAssignment, part, "no such stream", "a stream of the diagram", "have it deployed again")
		case i > 0 && d.Streams[i-1].Stream >= s.Stream:
			return d.refuse(trust.ErrMalformed, part, "not after the one before it", "order of name", "")
		case s.Org != owner:
			return d.refuse(trust.ErrIdentity, part, "organisation "+quote(s.Org), owner, "")
		}
	}
	return nil
}

func compareAssignments(a, b Assignment) int {
	return cmp.Or(cmp.Compare(a.Fragment, b.Fragment), cmp.Compare(a.Org, b.Org), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Peer, b.Peer))
}

func compareOrigins(a, b StreamOrigin) int { return cmp.Compare(a.Stream, b.Stream) }

// sorted returns the descriptor with its lists in order; d keeps its own.
func (d *Descriptor) sorted() *Descriptor {
	out := *d
	out.Assignments, out.Streams = slices.Clone(d.Assignments), slices.Clone(d.Streams)
	slices.SortFunc(out.Assignments, compareAssignments)
	slices.SortFunc(out.Streams, compareOrigins)
	return &out
}
