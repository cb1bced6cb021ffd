package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"fednode/node/connect"
	"fednode/node/connect/push"
)

const (
	// maxKey bounds an idempotency key.
	maxKey = 256
	// shownRejects bounds the rejects in an answer.
	shownRejects = 10
	// bodyWithin bounds how long one body may hold its place, however its sender drips.
	bodyWithin = 2 * time.Minute
)

// pushRows takes a body of rows. Only so many are read at once: who comes when all places are taken is told to come
// again, and so is who pushes into a stream that has as much waiting as it takes.
func (s *Server) pushRows(w http.ResponseWriter, r *http.Request) error {
	name, err := s.streamName(r.PathValue("stream"))
	if err != nil {
		return err
	}
	key := r.Header.Get("Idempotency-Key")
	if len(key) > maxKey {
		return invalid(fmt.Sprintf("the idempotency key has %d bytes", len(key)), fmt.Sprintf("at most %d", maxKey))
	}
	to, err := s.backend.PushTarget(name)
	if err != nil {
		return err
	}
	select {
	case s.pushes <- struct{}{}:
		defer func() { <-s.pushes }()
	default:
		return busy("as many bodies are being read as may be")
	}
	blocks, err := s.decode(w, r, to.Shape)
	if err != nil {
		return err
	}
	result := pushResult(blocks) // before the inbox owns them
	if err := s.deliver(w, r, to.Inbox, key, blocks); err != nil {
		return err
	}
	s.answer(w, http.StatusOK, result)
	return nil
}

// decode reads a body in whole: one that is damaged adds no row.
func (s *Server) decode(w http.ResponseWriter, r *http.Request, shape *connect.Stream) ([]*connect.Block, error) {
	o, err := push.FormatOf(r.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	// What is compressed is not larger than what it holds, but for a few bytes; so nobody sends more for nothing.
	body := http.MaxBytesReader(w, r.Body, s.cfg.MaxBody+1<<10)
	ctx, cancel := context.WithTimeout(r.Context(), bodyWithin)
	defer cancel()
	blocks, err := push.Decode(ctx, shape, o, "body", patient{s, w, body}, s.cfg.MaxBody)
	if err != nil {
		return nil, bodyError(err)
	}
	return blocks, nil
}

// deliver hands blocks to the stream and waits until they are durable.
func (s *Server) deliver(w http.ResponseWriter, r *http.Request, to Inbox, key string, blocks []*connect.Block) error {
	s.extendBy(w, s.cfg.Durable+s.cfg.Patience)
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Durable)
	defer cancel()
	err := to.Push(ctx, key, blocks)
	if errors.Is(err, context.DeadlineExceeded) {
		return &httpError{status: http.StatusServiceUnavailable, Code: "unavailable", retryAfter: retryUnavailable,
			Message: fmt.Sprintf("the rows were not durable within %s; they may become so", s.cfg.Durable),
			Hint:    "send the body again under the same Idempotency-Key; without one rows may come in twice"}
	}
	return err
}

func pushResult(blocks []*connect.Block) PushResult {
	out := PushResult{Rejects: []Reject{}}
	for _, b := range blocks {
		out.Rows += b.Rows()
		out.Rejected += len(b.Rejects)
		for i := range b.Rejects {
			if len(out.Rejects) == shownRejects {
				break
			}
			j := &b.Rejects[i]
			out.Rejects = append(out.Rejects, Reject{Line: j.Place.Line, Offset: j.Place.Offset, Reason: j.Reason.String(), Column: j.Field, Detail: j.Detail})
		}
	}
	return out
}
