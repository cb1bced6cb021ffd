package query

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"fednode/query/tuple"
)

// snapshotVersion is the version of the layout below: version, SUnions (name, boundary), operators (name, kind,
// fingerprint, state), each list with its length in front. An operator's state is its input boundaries, its own, and
// what the operator writes.
const snapshotVersion = 1

// Snapshot appends the state of all operators. It is called when every SUnion stands between two buckets; one may be ahead
// of another, as while an instance waits for an input that has failed. The bytes depend on the input alone, not on forks.
func (i *Instance) Snapshot(e *tuple.Encoder) {
	e.Uint(snapshotVersion)
	e.Uint(uint64(len(i.unions)))
	for u := range i.unions {
		e.String(i.side.plan.unionName(u))
		e.Time(i.unions[u].boundary)
	}
	e.Uint(uint64(len(i.nodes)))
	for n := range i.nodes {
		nd := &i.nodes[n]
		state := tuple.Encoder{B: make([]byte, 0, nd.encoded+nd.encoded/8)}
		state.Times(nd.bounds)
		state.Time(nd.boundary)
		nd.op.Snapshot(&state)
		nd.encoded = len(state.B)
		e.B = slices.Grow(e.B, len(state.B)+1024)
		operatorState{kind: nd.plan.Plan.Kind, fingerprint: nd.plan.Fingerprint, state: state.B}.write(e, nd.plan.Name)
	}
}

// unionName names an SUnion in a snapshot: by the operator it replaces, or by its stream.
func (f *FragmentPlan) unionName(u int) string {
	if name := f.Unions[u].Operator; name != "" {
		return name
	}
	return f.Inputs[f.Unions[u].Inputs[0]].Stream
}

// RestoreOptions says what Restore may do about operators that changed since the snapshot.
type RestoreOptions struct {
	// AllowChanged drops the state of operators that are gone or were declared anew, and starts those that have no state
	// empty. Without it any difference is an error.
	AllowChanged bool
}

// RestoreReport says what became of operators that changed, each list in order of name.
type RestoreReport struct {
	// Dropped had state in the snapshot that nobody takes.
	Dropped []string
	// Fresh begin without state.
	Fresh []string
}

// ChangedError says that a snapshot was made by other operators than those of the fragment.
type ChangedError struct {
	RestoreReport
	Fragment string
}

// Error names the operators and the remedy.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("the snapshot does not fit fragment %s: state of operators that are gone or changed: %s; operators without state: %s; "+
		"deploy the old query again, or allow changed state to be dropped", e.Fragment, orNone(e.Dropped), orNone(e.Fresh))
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// RestoreInstance returns an instance that goes on from a snapshot. The error is a *ChangedError, or wraps
// tuple.ErrCorrupt. It works on the same terms for a restart, a move and a changed query.
func RestoreInstance(f *FragmentPlan, out Out, d *tuple.Decoder, o RestoreOptions) (*Instance, RestoreReport, error) {
	i := newInstance(f, out)
	snap, err := readSnapshot(d)
	if err != nil {
		return nil, RestoreReport{}, err
	}
	report := i.match(snap.states)
	if !o.AllowChanged && len(report.Dropped)+len(report.Fresh) > 0 {
		return nil, report, &ChangedError{RestoreReport: report, Fragment: f.Name}
	}
	for u := range i.unions {
		if t, ok := snap.boundaries[f.unionName(u)]; ok {
			i.unions[u].boundary = t
		}
	}
	for n := range i.nodes {
		nd := &i.nodes[n]
		nd.own(nd.plan.Plan.New())
		s, ok := snap.states[nd.plan.Name]
		if !ok || !s.fits(nd.plan) {
			continue
		}
		if err := nd.restore(s.state); err != nil {
			return nil, report, fmt.Errorf("restore operator %s: %w", nd.plan.Name, err)
		}
	}
	return i, report, nil
}

// operatorState is one operator's part of a snapshot.
type operatorState struct {
	kind        string
	fingerprint uint64
	state       []byte
}

// write appends the state of the operator of a name.
func (s operatorState) write(e *tuple.Encoder, name string) {
	e.String(name)
	e.String(s.kind)
	e.Uint(s.fingerprint)
	e.Bytes(s.state)
}

// fits reports whether the state is that of an operator with the same declaration and input schemas.
func (s operatorState) fits(p *OperatorPlan) bool {
	return s.kind == p.Plan.Kind && s.fingerprint == p.Fingerprint
}

// snapshot is the frame around the operators' states: those, and how far each SUnion stands, by name.
type snapshot struct {
	states     map[string]operatorState
	boundaries map[string]tuple.Time
}

// readSnapshot reads what Snapshot has written.
func readSnapshot(d *tuple.Decoder) (snapshot, error) {
	if v := d.Uint(); d.Err() == nil && v != snapshotVersion {
		d.Fail("snapshot has version %d; this build reads version %d", v, snapshotVersion)
	}
	s := snapshot{states: map[string]operatorState{}, boundaries: map[string]tuple.Time{}}
	for n := d.Count(2); n > 0 && d.Err() == nil; n-- {
		name := d.String()
		s.boundaries[name] = d.Time()
	}
	for n := d.Count(4); n > 0 && d.Err() == nil; n-- {
		name := d.String()
		if _, twice := s.states[name]; twice {
			d.Fail("operator %s is there twice", name)
		}
		s.states[name] = operatorState{kind: d.String(), fingerprint: d.Uint(), state: d.Bytes()}
	}
	return s, d.Err()
}

// match compares the operators of a snapshot with those of the instance.
func (i *Instance) match(states map[string]operatorState) RestoreReport {
	var r RestoreReport
	taken := map[string]bool{}
	for n := range i.nodes {
		p := i.nodes[n].plan
		s, ok := states[p.Name]
		if taken[p.Name] = ok && s.fits(p); !taken[p.Name] {
			r.Fresh = append(r.Fresh, p.Name)
		}
	}
	for name := range states {
		if !taken[name] {
			r.Dropped = append(r.Dropped, name)
		}
	}
	sort.Strings(r.Fresh)
	sort.Strings(r.Dropped)
	return r
}

// restore reads one operator's state.
func (n *node) restore(state []byte) error {
	d := tuple.NewDecoder(state)
	bounds := d.Times()
	if d.Err() == nil && len(bounds) != len(n.bounds) {
		d.Fail("%d inputs instead of %d", len(bounds), len(n.bounds))
	}
	copy(n.bounds, bounds)
	n.boundary = d.Time()
	if d.Err() == nil {
		n.op.Restore(d)
	}
	return d.Close()
}
