package descriptor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fednode/node/config"
	"fednode/query"
)

// Rules decide what runs at one node, as its configuration says. The zero Hosts allow nothing to others.
type Rules struct {
	Own   string        // the node's organisation
	Peer  string        // the node's peer id
	Hosts []config.Host // [[federation.host]]
}

// Limits bound a fragment that runs here.
type Limits struct {
	// MaxMemory is how many bytes of state it may hold; 0 sets no bound of its own.
	MaxMemory int64
}

// The clauses that can be missing.
const (
	clauseAssignment = "assignment"
	clauseState      = "state"
	clauseHost       = "host"
	clauseOperators  = "operators"
	clauseFragments  = "max_fragments"
)

// MayHost decides whether a fragment of a verified descriptor may run at this node, and within which limits. running is
// how many fragments run here for the query's owner, this one not among them. The error is a *NotHostedError.
func (r Rules) MayHost(d *Descriptor, f *query.FragmentPlan, running int) (Limits, error) {
	missing := func(clause, have, need string) (Limits, error) {
		return Limits{}, &NotHostedError{Org: d.Org, Query: d.Query, Fragment: f.Name, Clause: clause, Have: have, Need: need, Host: r.Own}
	}
	if !slices.Contains(d.AssignedTo(r.Peer), f.Name) {
		return missing(clauseAssignment, assigned(d, f.Name), "peer "+r.Peer)
	}
	if d.State != Running {
		return missing(clauseState, string(d.State), string(Running))
	}
	if d.Org == r.Own {
		return Limits{}, nil
	}
	i := slices.IndexFunc(r.Hosts, func(h config.Host) bool { return h.Org == d.Org })
	if i < 0 {
		return missing(clauseHost, "", fmt.Sprintf("org = %q and operators = [%s]", d.Org, quoted(f.Kinds())))
	}
	h := &r.Hosts[i]
	if kinds := lacking(h, f); len(kinds) > 0 {
		return missing(clauseOperators, quoted(h.Operators), quoted(kinds))
	}
	if running >= h.MaxFragments {
		return missing(clauseFragments, strconv.Itoa(h.MaxFragments), strconv.Itoa(running+1))
	}
	return Limits{MaxMemory: h.MaxMemory}, nil
}

// lacking returns the kinds of the fragment's operators that a host does not allow.
func lacking(h *config.Host, f *query.FragmentPlan) []string {
	if len(h.Operators) == 0 {
		return nil
	}
	return slices.DeleteFunc(f.Kinds(), func(kind string) bool { return slices.Contains(h.Operators, kind) })
}

// assigned lists who is to run a fragment.
func assigned(d *Descriptor, fragment string) string {
	var peers []string
	for _, a := range d.Replicas(fragment) {
		peers = append(peers, "peer "+a.Peer)
	}
	if len(peers) == 0 {
		return "nobody runs it"
	}
	return strings.Join(peers, ", ")
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strconv.Quote(n)
	}
	return strings.Join(out, ", ")
}
