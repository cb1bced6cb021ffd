package evaluate

import (
	"fmt"
	"strings"
)

// deepest is how many nodes the longest chain of real daemons has.
const deepest = 4

// chains are those of which only the highest rate is looked for: of two to four nodes, without replicas and with. What a partner
// sends goes through a fragment there, which is the first of the chain; the others are at home, each at a daemon of its own
// as long as there are enough.
func chains() (list []setup) {
	for n := 2; n <= deepest; n++ {
		for replicas := 1; replicas <= 2; replicas++ {
			if n == 2 && replicas == 2 {
				continue // it is one of setups
			}
			list = append(list, chainOf(n, replicas))
		}
	}
	return list
}

// chainOf is a chain of n nodes: three organisations, of which two send what a fragment at home unites. With replicas home has two
// daemons to work, and one where its source and the results are.
func chainOf(n, replicas int) setup {
	s := setup{nodes: n, replicas: replicas, away: "south"}
	number := []string{2: "two", 3: "three", deepest: "four"}[n]
	s.name = fmt.Sprintf("a chain of %s without replicas", number)
	home := n - 1
	if replicas > 1 {
		s.name = fmt.Sprintf("a chain of %s with %d replicas", number, replicas)
		home = 3
	}
	s.net = fmt.Sprintf("organisations = [\"north\", \"south\", \"east\"]\nnodes = { north = %d, south = %d, east = %d }\nsources = 1\n", home, replicas, replicas)
	if replicas > 1 {
		s.net += fmt.Sprintf("replicas = %d\n", replicas)
	}
	return s
}

// operators are those of the query: a filter in each node of the chain but the first, all but the last of which let every row through.
// It returns the name of the last one as well.
func (s setup) operators(where string) (text, last string) {
	last = "conns"
	for hop := 2; hop < s.nodes; hop++ {
		name := fmt.Sprintf("hop%d", hop)
		text += operator(name, last, "n > 0")
		last = name
	}
	return text + operator("all", last, where), "all"
}

func operator(name, input, where string) string {
	return fmt.Sprintf("[operators.%s]\nkind = \"filter\"\ninput = %q\nwhere = %q\n\n", name, input, where)
}

// fragments cut a chain of more than two; where there are two, a testnet cuts it so by itself.
func (s setup) fragments() string {
	if s.nodes <= 2 {
		return ""
	}
	var b strings.Builder
	for hop := 2; hop <= s.nodes; hop++ {
		name := fmt.Sprintf("hop%d", hop)
		holds := name
		if hop == s.nodes {
			holds = "all"
		}
		fmt.Fprintf(&b, "[fragments.%s]\noperators = [%q]\n", name, holds)
		switch {
		case s.replicas > 1:
			fmt.Fprintf(&b, "replicas = %d\nplace = { org = \"north\", labels = { role = \"work\" } }\n\n", s.replicas)
		case hop == s.nodes:
			b.WriteString("place = { org = \"north\", node = \"node-1\" }\n\n")
		default:
			fmt.Fprintf(&b, "place = { org = \"north\", node = \"node-%d\" }\n\n", hop)
		}
	}
	return b.String()
}
