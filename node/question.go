package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"fednode/node/descriptor"
	"fednode/node/wire"
)

// question is a request to host fragments that has not been answered.
type question struct {
	to     peer.ID
	answer chan *wire.HostReply // capacity 1; nil: the session with the peer ended
}

// hostAnswer is how long a peer may take to check a descriptor.
const hostAnswer = 10 * time.Second

// errAskedInVain means that the peer was asked and may have restarted since: it will not answer.
var errAskedInVain = errors.New("the session ended before the answer; try again when the peer is up")

// ask asks a peer to run its part of a descriptor, and waits for the answer.
func (q *queries) ask(ctx context.Context, to peer.ID, v *descriptor.Verified) (*wire.HostReply, error) {
	asked := question{to, make(chan *wire.HostReply, 1)}
	q.mu.Lock()
	q.request++
	number := q.request
	q.asked[number] = asked
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.asked, number)
	}()
	if err := q.n.host.Send(to, &wire.Host{Request: number, Descriptor: v.Signed, Fragments: v.AssignedTo(to.String())}); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, hostAnswer)
	defer cancel()
	select {
	case r := <-asked.answer:
		if r == nil {
			return nil, errAskedInVain
		}
		return r, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("no answer within %s: %w", hostAnswer, ctx.Err())
	}
}

// hostReplied hands an answer to whoever waits for it. Only the peer that was asked can give it.
func (q *queries) hostReplied(from peer.ID, m *wire.HostReply) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if asked, ok := q.asked[m.Request]; ok && asked.to == from {
		asked.give(m)
	}
}

// sessionEnded lets nobody wait for what a peer was asked.
func (q *queries) sessionEnded(p peer.ID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, asked := range q.asked {
		if asked.to == p {
			asked.give(nil)
		}
	}
}

// give answers, unless that has been done; it does not block.
func (a question) give(m *wire.HostReply) {
	select {
	case a.answer <- m:
	default:
	}
}
