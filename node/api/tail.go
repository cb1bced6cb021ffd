package api

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"fednode/query/tuple"
)

// tailSuffix ends the path of a tail.
const tailSuffix = "/tail"

// tailStream follows a stream until the client leaves, the stream ends, or the rows asked for have been sent.
func (s *Server) tailStream(w http.ResponseWriter, r *http.Request) error {
	name, ok := strings.CutSuffix(r.PathValue("stream"), tailSuffix)
	if !ok {
		return &httpError{status: http.StatusNotFound, Code: "not_found", Message: quote(r.URL.Path) + " is not served", Hint: "to follow a stream ask for " + prefix + "/streams/NAME/tail; " + prefix + "/streams lists them"}
	}
	name, err := s.streamName(name)
	if err != nil {
		return err
	}
	o, err := tailOptionsOf(r)
	if err != nil {
		return err
	}
	select {
	case s.tails <- struct{}{}:
		defer func() { <-s.tails }()
	default:
		return busy("as many tails are open as may be")
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	t, err := s.backend.Tail(ctx, name, o.from)
	if err != nil {
		return err
	}
	f := &follower{s: s, w: w, out: http.NewResponseController(w), options: o, format: o.newFormat()}
	w.Header().Set("Content-Type", f.format.contentType())
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		t.Close()
		return nil
	}
	frames := make(chan *tuple.Frame, 1) // one is sent while the next is fetched
	var puller sync.WaitGroup
	puller.Go(func() { pull(ctx, t, frames) })
	defer puller.Wait()
	defer cancel()
	return f.follow(ctx, frames)
}

// pull fetches frames until ctx ends. frames is then closed.
func pull(ctx context.Context, t Tail, frames chan<- *tuple.Frame) {
	defer t.Close()
	defer close(frames)
	for {
		f, err := t.Next(ctx)
		if err != nil {
			return // ctx has ended
		}
		select {
		case frames <- f:
		case <-ctx.Done():
			return
		}
	}
}

// tailOptions is what a client asks of a tail.
type tailOptions struct {
	from       TailFrom
	rows       uint64 // 0 is all
	boundaries bool
	lines      bool // JSON lines instead of events
}

// The modes of a tail.
const (
	modeStable = "stable"
	modeLatest = "latest"
)

func tailOptionsOf(r *http.Request) (o tailOptions, err error) {
	if o.boundaries, err = boolParam(r, "boundaries"); err != nil {
		return o, err
	}
	if text := r.URL.Query().Get("rows"); text != "" {
		if o.rows, err = strconv.ParseUint(text, 10, 64); err != nil || o.rows == 0 {
			return o, invalid("rows is "+quote(text), "expected a whole number from 1")
		}
	}
	switch mode := r.URL.Query().Get("mode"); mode {
	case "", modeStable:
	case modeLatest:
		o.from.Latest = true
	default:
		return o, invalid("mode is "+quote(mode), "expected stable or latest")
	}
	o.lines = wantsLines(r.Header.Values("Accept"))
	from := r.URL.Query().Get("from")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		from = last
	}
	switch from {
	case "", "now":
	case "beginning":
		o.from.Beginning = true
	default:
		o.from.After, err = ParseTupleID(from)
	}
	if err != nil {
		return o, invalid(quote(from)+" is no place in a stream", "expected now, beginning, ID or GENERATION:ID")
	}
	return o, nil
}

// wantsLines reports whether a client accepts JSON lines by name.
func wantsLines(accept []string) bool {
	for _, part := range strings.Split(strings.Join(accept, ","), ",") {
		switch kind, _, _ := mime.ParseMediaType(part); kind {
		case jsonLines, "application/ndjson", "application/jsonl":
			return true
		}
	}
	return false
}

func (o tailOptions) newFormat() tailFormat {
	switch {
	case o.lines && o.from.Latest:
		return &eventLineFormat{}
	case o.lines:
		return &lineFormat{}
	}
	return &eventFormat{}
}

// flushAt is how much of a tail is gathered before it is sent, if frames follow one another closely.
const flushAt = 32 << 10

// follower writes one tail.
type follower struct {
	s       *Server
	w       http.ResponseWriter
	out     *http.ResponseController
	options tailOptions
	format  tailFormat
	buf     []byte
	sent    uint64 // rows
}

// follow writes frames until there is no reason to go on. A client that is gone, or takes nothing for too long, is one.
func (f *follower) follow(ctx context.Context, frames <-chan *tuple.Frame) error {
	beat := time.NewTicker(f.s.cfg.Heartbeat)
	defer beat.Stop()
	for first := true; ; first = false {
		if first || len(frames) == 0 {
			if err := f.flush(); err != nil {
				return err
			}
		}
		select {
		case fr, open := <-frames:
			if !open {
				return f.end()
			}
			done, err := f.frame(fr)
			if err != nil {
				return err
			}
			if done {
				return f.end()
			}
			beat.Reset(f.s.cfg.Heartbeat)
		case <-beat.C:
			f.buf = f.format.beat(f.buf)
		case <-f.s.closing:
			return f.flush()
		case <-ctx.Done():
			return nil
		}
	}
}

// frame writes what a frame brings; done means that nothing more is wanted, or will come.
func (f *follower) frame(fr *tuple.Frame) (done bool, err error) {
	switch fr.Kind {
	case tuple.Insertion, tuple.Tentative:
		return f.rows(fr)
	case tuple.Boundary:
		if fr.Time == tuple.MaxTime {
			return true, nil
		}
		if f.options.boundaries {
			f.buf = f.format.boundary(f.buf, StreamTime(fr.Time))
		}
	case tuple.Gap:
		f.buf = f.format.gap(f.buf, LostRows{From: StreamTime(fr.Time), To: StreamTime(fr.To), Reason: fr.Reason})
		return fr.To == tuple.MaxTime, nil
	case tuple.Undo:
		f.buf = f.format.undo(f.buf, VoidRows{From: StreamTime(fr.Time)})
	case tuple.RecDone:
		f.buf = f.format.done(f.buf, ReplacedRows{Before: StreamTime(fr.Time)})
	}
	return false, nil
}

func (f *follower) rows(fr *tuple.Frame) (done bool, err error) {
	f.format.schema(fr.Batch.Schema)
	for k := range fr.Batch.Rows() {
		id := fr.FirstID + uint64(k)
		if fr.IDs != nil {
			id = fr.IDs[k]
		}
		if fr.Kind == tuple.Tentative {
			f.buf = f.format.tentative(f.buf, fr.Batch, fr.Batch.Row(k))
		} else {
			f.buf = f.format.row(f.buf, fr.Batch, fr.Batch.Row(k), TupleID{Generation: fr.Generation, ID: id})
		}
		if f.sent++; f.sent == f.options.rows {
			return true, nil
		}
		if len(f.buf) >= flushAt {
			if err := f.flush(); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// end says that the tail is complete.
func (f *follower) end() error {
	f.buf = f.format.end(f.buf)
	return f.flush()
}

// flush sends what is gathered. Writing fails when the client takes nothing for as long as it may.
func (f *follower) flush() error {
	f.s.extend(f.w)
	if _, err := f.w.Write(f.buf); err != nil {
		return fmt.Errorf("tail: %w", err)
	}
	f.buf = f.buf[:0]
	if err := f.out.Flush(); err != nil {
		return fmt.Errorf("tail: %w", err)
	}
	return nil
}
