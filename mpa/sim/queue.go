package sim

import "fednode/mpa"

// event is something that happens to a participant at a moment.
type event struct {
	at   mpa.Instant
	seq  uint64 // events of one moment happen in the order in which they were made
	kind eventKind
	node int32
	from int32
	msg  *mpa.Message // apart, for events change places often
	move *migration
}

type eventKind uint8

const (
	wake eventKind = iota
	deliver
	arrive
	vary
	sample
)

// queue is a heap of events.
type queue struct {
	list []event
	seq  uint64
}

func (q *queue) empty() bool { return len(q.list) == 0 }

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

func (q *queue) push(e event) {
	q.seq++
	e.seq = q.seq
	q.list = append(q.list, e)
	i := len(q.list) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !q.list[i].before(&q.list[up]) {
			break
		}
		q.list[i], q.list[up] = q.list[up], q.list[i]
		i = up
	}
}

func (q *queue) pop() event {
	first := q.list[0]
	last := len(q.list) - 1
	q.list[0] = q.list[last]
	q.list[last] = event{}
	q.list = q.list[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			break
		}
		if right := down + 1; right < last && q.list[right].before(&q.list[down]) {
			down = right
		}
		if !q.list[down].before(&q.list[i]) {
			break
		}
		q.list[i], q.list[down] = q.list[down], q.list[i]
		i = down
	}
	return first
}
