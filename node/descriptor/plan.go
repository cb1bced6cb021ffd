package descriptor

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strconv"

	"fednode/node/trust"
	"fednode/query"
	"fednode/query/spec"
)

// Plan returns the plan of the query. It is the same at every node as the one that the owner made from the original
// file: fragments, names of streams, fingerprints of operators and depths. The error is an ErrDiagram, or an ErrVersion
// if this build does not know the query's semantics.
func (d *Descriptor) Plan() (*query.Plan, error) {
	if d.Semantics < 1 || d.Semantics > query.Semantics {
		return nil, d.refuse(ErrVersion, "semantics", strconv.Itoa(d.Semantics), fmt.Sprintf("1 to %d", query.Semantics),
			"run a newer fednode here")
	}
	if sum := sha256.Sum256(d.Diagram); d.DiagramHash != sum {
		return nil, d.refuse(ErrHash, "diagram", fmt.Sprintf("%x", d.DiagramHash[:6]), fmt.Sprintf("%x", sum[:6]), "have it deployed again")
	}
	at := query.Placement{Home: d.Home}
	diagram, problems := query.Parse("descriptor of "+quote(d.ID()), d.Diagram, query.Options{Placement: at})
	if err := problems.Err(); err != nil {
		return nil, d.badDiagram("", err)
	}
	if err := d.checkDiagram(diagram); err != nil {
		return nil, err
	}
	problems = &spec.Problems{}
	plan := query.NewPlan(diagram, at, problems)
	if err := problems.Err(); err != nil {
		return nil, d.badDiagram("", err)
	}
	return plan, nil
}

func (d *Descriptor) badDiagram(got string, cause error) error {
	return &trust.Error{Kind: ErrDiagram, Place: "descriptor of " + quote(d.ID()) + ", diagram", Got: got, Cause: cause,
		Remedy: "have it deployed again by a fednode of this version"}
}

// checkDiagram compares what the descriptor says of the diagram with the diagram. In the canonical form there are no
// connectors: a descriptor can make nobody read a file or dial an address.
func (d *Descriptor) checkDiagram(diagram *query.Diagram) error {
	switch s := diagram.Settings; {
	case !bytes.Equal(diagram.Canonical(d.Org), d.Diagram):
		return d.badDiagram("", errNotCanonical)
	case s.Name != d.Query:
		return d.badDiagram("query "+quote(s.Name), nil)
	case s.Semantics != d.Semantics:
		return d.badDiagram(fmt.Sprintf("semantics %d, and %d in the descriptor", s.Semantics, d.Semantics), nil)
	}
	return nil
}
