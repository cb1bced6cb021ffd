package p2p

import (
	"sync"

	"golang.org/x/time/rate"
)

// quotas are what each partner may use. Own nodes have none: they are limited one by one only.
type quotas struct {
	limits Limits
	own    string

	mu   sync.Mutex
	orgs map[string]*quota // one for each organisation that ever had a stream; bounded by the number of partners
}

// quota is shared by the nodes of one organisation.
type quota struct {
	limits  Limits
	bytes   *rate.Limiter // nil: no limit
	mu      sync.Mutex
	streams int
}

func newQuotas(l Limits, own string) *quotas {
	return &quotas{limits: l, own: own, orgs: make(map[string]*quota)}
}

// of returns the organisation's quota; nil for our own.
func (q *quotas) of(org string) *quota {
	if org == q.own {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	one := q.orgs[org]
	if one == nil {
		one = &quota{limits: q.limits}
		if b := q.limits.BytesPerSec; b > 0 {
			one.bytes = rate.NewLimiter(rate.Limit(b), int(min(b, 1<<30)))
		}
		q.orgs[org] = one
	}
	return one
}

// enter takes a place for one stream; false if there is none.
func (q *quota) enter() bool {
	if q == nil {
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.streams >= q.limits.StreamsPerOrg {
		return false
	}
	q.streams++
	return true
}

// leave gives the place back.
func (q *quota) leave() {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.streams--
}
