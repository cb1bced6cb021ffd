package node

import (
	"errors"
	"time"

	"fednode/node/fragment"
	"fednode/query"
)

// restarts says how long a fragment that has ended waits before it is started again.
type restarts struct {
	next time.Duration
	// transfers are how many states it has taken over, most how many of them are a way on: one for each SUnion, since each part of
	// a state may be taken over alone. Replicas that take over more in a short time exchange theirs in circles.
	transfers, most int
}

func newRestarts(f *query.FragmentPlan) *restarts {
	return &restarts{next: restartFirst, most: max(1, len(f.Unions))}
}

// after is the pause, without jitter, after a life of some length that has ended so; 0 if there is none.
func (r *restarts) after(lived time.Duration, err error) time.Duration {
	if lived > restartCalm {
		r.next, r.transfers = restartFirst, 0
	}
	if errors.Is(err, fragment.ErrTransferred) {
		if r.transfers++; r.transfers <= r.most {
			return 0
		}
	}
	pause := r.next
	r.next = min(2*r.next, restartLast)
	return pause
}
