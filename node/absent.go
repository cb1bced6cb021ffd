package node

import (
	"context"
	"strings"
	"time"

	"go.uber.org/zap"

	"fednode/node/flow"
)

// forgetAfter is how long a replica that is away is waited for while another one of the same neighbour has what it lacks.
// If it comes back later it takes over the state of that one.
const forgetAfter = 10 * time.Minute

// absentees knows since when nodes are away. It goes by the clock that only rises: the time of day may be set.
type absentees struct {
	// began is when this node did: who has not been heard since is away since then.
	began time.Time
	since map[string]time.Time // "org/node"
}

// absent returns how long a subscriber's node has been away, 0 if it is there. Names are "org/node/…".
func (s *streams) absent(subscriber, self string, now time.Time) time.Duration {
	org, rest, _ := strings.Cut(subscriber, "/")
	node, _, ok := strings.Cut(rest, "/")
	name := org + "/" + node
	if !ok || name == self || len(s.named(name)) > 0 {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	since, known := s.away.since[name]
	if !known {
		since = s.away.began
	}
	return now.Sub(since)
}

// forgetAbsent lets the streams of this node no longer wait for replicas that are away, once a second until ctx ends.
func (n *Node) forgetAbsent(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now, known := time.Now(), n.queries.replicas()
		for _, st := range n.streams.all() {
			k, ok := st.(flow.Keeper)
			if !ok {
				continue
			}
			gone := k.ForgetAbsent(func(who string) time.Duration { return n.streams.absent(who, n.name(), now) }, forgetAfter, func(who string) bool { return known[who] })
			for _, who := range gone {
				n.log.Warn("a replica that is away is no longer waited for; coming back it takes over the state of another", zap.String("stream", st.Name()), zap.String("subscriber", who))
			}
		}
	}
}
