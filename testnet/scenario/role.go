package scenario

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"fednode/testnet"
)

// Roles name nodes by what they do: FRAGMENT#K is the K-th node that runs a fragment of the query, counted from 1;
// stabilising is the first node that corrects its results, or has just done so: with few rows that takes a moment only.
const stabilising = "stabilising"

// checkTarget says what is wrong with the name of a target, "" if nothing.
func checkTarget(name string) string {
	fragment, number, role := strings.Cut(name, "#")
	if !role {
		return ""
	}
	if n, err := strconv.Atoi(number); err != nil || n < 1 || n > 9 || fragment == "" {
		return fmt.Sprintf("`%s` is no replica; expected FRAGMENT#1 for the first node that runs a fragment", name)
	}
	return ""
}

// resolve replaces roles by the nodes that have them. The nodes of a fragment are those that had it first.
func (r *runner) resolve(ctx context.Context, name string) (string, error) {
	if name == stabilising {
		return r.findStabilising(ctx)
	}
	fragment, number, role := strings.Cut(name, "#")
	if !role {
		return name, nil
	}
	k, err := strconv.Atoi(number)
	if err != nil {
		return "", err
	}
	nodes := r.replicas[fragment]
	if k > len(nodes) {
		return "", fmt.Errorf("%s: fragment %s of query %s runs on %s; the fragments are %v", name, fragment, r.net.Query(), counted(len(nodes), "node"), r.replicas)
	}
	return nodes[k-1], nil
}

// findStabilising waits for a node that corrects its results.
func (r *runner) findStabilising(ctx context.Context) (string, error) {
	found := ""
	failed := make(map[string]bool)
	err := r.until(ctx, findWithin, func(v *testnet.View) bool {
		for i := range v.Nodes {
			n := &v.Nodes[i]
			corrects := outputIn(n, r.net.Query(), "stabilization")
			if corrects || failed[n.ID] && outputIn(n, r.net.Query(), "stable") {
				found = n.ID
				return true
			}
			failed[n.ID] = failed[n.ID] || outputIn(n, r.net.Query(), "upstream_failure")
		}
		return false
	})
	if err != nil {
		return "", fmt.Errorf("no node was seen to correct its results within %s", findWithin)
	}
	return found, nil
}

// fragmentNodes returns the nodes that run each fragment of a query, in the order of the view.
func fragmentNodes(v *testnet.View, query string) map[string][]string {
	out := make(map[string][]string)
	for _, n := range v.Nodes {
		if n.Status == nil {
			continue
		}
		for _, q := range n.Status.Queries {
			if q.Name != query {
				continue
			}
			for _, f := range q.Fragments {
				out[f.Name] = append(out[f.Name], n.ID)
			}
		}
	}
	return out
}

// outputIn reports whether any output of a query on a node is in a state.
func outputIn(n *testnet.NodeView, query, state string) bool {
	in, _ := outputsIn(n, query, state)
	return in > 0
}

// outputsIn counts the outputs of a query on a node that are in a state, and all of them.
func outputsIn(n *testnet.NodeView, query, state string) (in, all int) {
	if n.Status == nil {
		return 0, 0
	}
	for _, q := range n.Status.Queries {
		if q.Name != query {
			continue
		}
		for _, f := range q.Fragments {
			for _, o := range f.Outputs {
				all++
				if o.State == state {
					in++
				}
			}
		}
	}
	return in, all
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
