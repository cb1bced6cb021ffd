package testnet

import "fmt"

// minSplit is how many streams the source that spreads its work has to be seen in before it is over the threshold: in
// each it makes 45 of more than 100 connections a minute.
const minSplit = 3

// Planted returns the sources that the generator plants as suspects and that the query therefore finds in every full
// window: one at each organisation, and one that only all of them together can see, last. It returns none where the
// traffic is not generated or the query is not the built-in one.
func (n *Net) Planted() []string {
	if n.spec.Query != "" || len(n.spec.Data) > 0 {
		return nil
	}
	var out []string
	seen := make(map[int]bool)
	for _, d := range n.daemons {
		if !seen[d.orgIndex] {
			seen[d.orgIndex] = true
			out = append(out, fmt.Sprintf("10.%d.255.5", 10+d.orgIndex))
		}
	}
	if len(n.daemons) >= minSplit {
		out = append(out, SplitSource)
	}
	return out
}

// SplitSource is the planted source that spreads its connections over all organisations.
const SplitSource = "10.9.255.1"
