package source

import (
	"errors"
	"fmt"

	"fednode/dcaa"
	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/node/ingest"
	"fednode/query/tuple"
	"fednode/storage/seglog"
)

// Side is a stream of what a source has set aside, read from the source's log. Its time is the arrival, its ids count
// from 1 in each generation of the source, and it reaches back as far as the log does: nobody counts, and nothing is kept
// for its subscribers.
type Side struct {
	p    *Proxy
	kind SideKind
}

var _ flow.Stream = (*Side)(nil)

// Sides returns the side streams: <stream>.late, then <stream>.errors. They can be opened as long as the proxy can.
func (p *Proxy) Sides() []*Side { return p.sides[:] }

// Name returns the stream's full name.
func (s *Side) Name() string { return s.p.cfg.Name + s.kind.Suffix() }

// Schema returns the stream's columns.
func (s *Side) Schema() *tuple.Schema { return s.kind.Schema() }

// Head returns the position of what is durable.
func (s *Side) Head() tuple.Position {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return s.p.sideHeads[s.kind]
}

// Beat is what heartbeats say of the stream.
func (s *Side) Beat() dcaa.StreamStatus { return flow.StatusOf(s.Head()) }

// Ack does nothing: acknowledgements free nothing here.
func (s *Side) Ack(string, tuple.Position) {}

// Forget does nothing: nobody is counted.
func (s *Side) Forget(string) {}

// Open returns a cursor behind the subscriber's position.
func (s *Side) Open(sub flow.Subscriber) (flow.Cursor, error) {
	generation := s.Head().Generation
	first, err := s.first(generation)
	if err != nil {
		return nil, s.failed(err)
	}
	if sub.From.Generation == 0 {
		sub.From.Generation = generation
	}
	if sub.From.Generation != generation || sub.From.ID < first.ID {
		return nil, &dcaa.TruncatedError{Asked: sub.From, First: first}
	}
	r, err := s.seek(sub.From)
	if err != nil {
		return nil, s.failed(err)
	}
	return &sideCursor{s: s, pos: sub.From, reader: r}, nil
}

// failed names the stream in an error of the log, and says what the callers of a stream know.
func (s *Side) failed(err error) error {
	if errors.Is(err, seglog.ErrClosed) {
		return flow.ErrClosed
	}
	return fmt.Errorf("stream %s: %w", s.Name(), err)
}

func lateSchema() *tuple.Schema {
	return tuple.MustSchema(
		tuple.Field{Name: "reason", Type: tuple.Of(tuple.String)},
		tuple.Field{Name: "limit", Type: tuple.Of(tuple.Timestamp)},
		tuple.Field{Name: "time", Type: tuple.Of(tuple.Timestamp)},
		tuple.Field{Name: "row", Type: tuple.Of(tuple.String)},
	)
}

// Schema returns the columns of the side streams of a kind; docs/formats/source-record.md says what they hold.
func (k SideKind) Schema() *tuple.Schema {
	if k == Late {
		return lateSchema()
	}
	return connect.RejectSchema()
}

// MaxRowText bounds the text of a late or future row, in bytes; what is longer is cut.
const MaxRowText = 1 << 20

// AppendLate appends a row that was not accepted as a row of the late stream's schema with stime t: the reason, "late" or
// "future"; the limit; the time the row claims; and the row as a JSON object. rows is the batch that the verdict is
// about, as it came.
func AppendLate(b *tuple.BatchBuilder, v ingest.Verdict, rows *tuple.Batch, t tuple.Time) {
	row := int(v.Row)
	b.AppendBin(0, []byte(reasonOf(v)))
	b.AppendInt(1, int64(v.Limit))
	b.AppendInt(2, int64(rows.Time[row]))
	text := appendRowJSON(nil, rows, row)
	b.AppendBin(3, text[:min(len(text), MaxRowText)])
	b.EndRow(t)
}

func reasonOf(v ingest.Verdict) string {
	if v.Late {
		return "late"
	}
	return "future"
}

// appendRowJSON appends a row as a JSON object of its columns.
func appendRowJSON(dst []byte, b *tuple.Batch, row int) []byte {
	dst = append(dst, '{')
	for i, f := range b.Schema.Fields() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(tuple.AppendJSONString(dst, []byte(f.Name)), ':')
		dst = b.Cols[i].AppendJSON(dst, row, tuple.FloatString)
	}
	return append(dst, '}')
}
