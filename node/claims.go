package node

import (
	"maps"
	"strings"
	"sync"

	"fednode/node/descriptor"
)

// counts returns a function that says whether a subscriber may still come: one of a query that runs and reads the stream.
// Those of other organisations may always; they lapse. What the descriptors say is found out when it is first asked.
func (q *queries) counts() func(stream, subscriber string) bool {
	claimed := sync.OnceValue(q.claimed)
	return func(stream, subscriber string) bool {
		return !strings.HasPrefix(subscriber, q.n.own()) || claimed()[claim{stream, subscriber}]
	}
}

// claimed returns the subscriptions of all queries that are to run, as far as their descriptors are known here.
func (q *queries) claimed() map[claim]bool {
	out := make(map[claim]bool)
	for _, v := range q.book.All() {
		if v.State != descriptor.Running {
			continue
		}
		plan, err := v.Plan()
		if err != nil {
			continue // it runs nowhere here, and says why
		}
		d := &deployment{owner: v.Org, query: v.Query, home: v.Home, plan: plan, hosts: hostsOf(v)}
		maps.Copy(out, d.claims())
	}
	return out
}
