package file

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"fednode/node/connect"
	"fednode/node/connect/format"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// sinkConfig is a checked declaration of a sink.
type sinkConfig struct {
	stream *connect.SinkStream
	path   string
	format format.Options
	// tag: the file has tentative rows too, and says of each row what it is.
	tag bool
}

// readSink reads path and the keys of the format.
func readSink(r *spec.Reader, s *connect.SinkStream) *connect.SinkPlan {
	before := len(r.P.Errors)
	c := sinkConfig{stream: s}
	path, ok := r.NeedString("path")
	if !ok {
		path = "-"
	}
	c.path = path
	c.format, _ = format.ReadWriteOptions(r, path)
	c.tag = r.OneOf("tentative", "omit", "omit", "tag") == "tag"
	if c.format.Format == format.Arrow && !s.Bounded {
		r.Errorf("format", "write csv or jsonl", "an Arrow file is whole only when it is closed, so a live query cannot write one")
	}
	if len(r.P.Errors) > before {
		return nil
	}
	return c.plan()
}

func (c sinkConfig) plan() *connect.SinkPlan {
	return &connect.SinkPlan{
		Detail: fmt.Sprintf("file %s, %s", c.path, c.format.Format),
		Path:   c.path, Tentative: c.tag,
		New: func(env connect.Env) connect.Sink { return c.open(env) },
		WithPath: func(path string) (*connect.SinkPlan, error) {
			other := c
			other.path, other.format = path, formatFor(path, c.format)
			if err := other.check(); err != nil {
				return nil, err
			}
			return other.plan(), nil
		},
	}
}

// check refuses what no declaration was checked for.
func (c *sinkConfig) check() error {
	switch c.format.Format {
	case format.Zeek, format.Parquet:
		return fmt.Errorf("file: the format %s can be read, not written; expected .csv, .tsv, .jsonl or .arrow", c.format.Format)
	case format.Arrow:
		if !c.stream.Bounded {
			return errors.New("file: an Arrow file is whole only when it is closed, so a live query cannot write one; write .csv or .jsonl")
		}
	}
	return nil
}

// NewSink returns a sink without a declaration: what `query run --sink NAME=PATH` puts in the place of any other.
func NewSink(s *connect.SinkStream, path string, env connect.Env) (connect.Sink, error) {
	name, ok := format.Detect(path)
	if path == "-" {
		name, ok = format.JSONL, true
	}
	if !ok && format.IsDirectory(inDir(env.Dir, path)) {
		return nil, fmt.Errorf("file: %s is a directory; name a file in it, such as %s", path, filepath.Join(path, "out.csv"))
	}
	if !ok {
		return nil, fmt.Errorf("file: the name %q does not tell the format; expected .csv, .tsv, .jsonl or .arrow", path)
	}
	c := sinkConfig{stream: s, path: path, format: format.DefaultOptions(name)}
	if err := c.check(); err != nil {
		return nil, err
	}
	return c.open(env), nil
}

func (c sinkConfig) open(env connect.Env) connect.Sink {
	if !c.tag {
		return c.plain(env)
	}
	tag, err := newTagger(c.stream.Schema)
	if err != nil {
		return &taggedSink{wrong: err}
	}
	c.stream = &connect.SinkStream{Name: c.stream.Name, Schema: tag.schema, Bounded: c.stream.Bounded}
	return &taggedSink{tag: tag, inner: c.plain(env)}
}

// rowSink is a sink of this package.
type rowSink interface {
	connect.Sink
	// begun reports whether rows of a life before may be there.
	begun() bool
}

func (c sinkConfig) plain(env connect.Env) rowSink {
	if c.path == "-" {
		return &stdoutSink{sinkConfig: c, dst: env.Stdout}
	}
	target := inDir(env.Dir, c.path)
	s := &fileSink{sinkConfig: c, target: target, name: target}
	if c.stream.Bounded {
		s.name = target + ".part"
	}
	return s
}

// stdoutSink writes to standard output: what is out cannot be taken back, so a restart may repeat rows.
type stdoutSink struct {
	sinkConfig
	dst interface{ Write([]byte) (int, error) }
	out format.Writer
}

// Recover begins; state only tells the position.
func (s *stdoutSink) Recover(_ context.Context, state []byte) (pos tuple.Position, err error) {
	if s.dst == nil {
		return pos, errors.New("file: there is no standard output to write here; name a file")
	}
	if state != nil {
		st, err := decodeState(state)
		if err != nil {
			return pos, fmt.Errorf("file: standard output: %w", err)
		}
		pos = st.pos
	}
	s.out, err = format.NewWriter(s.dst, s.stream.Schema, s.format, state != nil)
	return pos, err
}

// begun: what a life before has written is out.
func (s *stdoutSink) begun() bool { return true }

// Write writes the rows at once.
func (s *stdoutSink) Write(_ context.Context, rows connect.SinkRows) error {
	return s.out.Write(rows.Batch)
}

// Commit returns a state that holds the position.
func (s *stdoutSink) Commit(_ context.Context, pos tuple.Position) ([]byte, error) {
	return (&sinkState{pos: pos}).encode(), nil
}

// Finish ends the format.
func (s *stdoutSink) Finish(context.Context) error { return s.out.Close() }

// Close does nothing: standard output is not ours.
func (s *stdoutSink) Close() error { return nil }
