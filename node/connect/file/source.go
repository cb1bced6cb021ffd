package file

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fednode/node/connect"
	"fednode/node/connect/format"
	"fednode/query/spec"
)

// Kind returns the connector kind "file".
func Kind() connect.Kind {
	return connect.Kind{Name: "file", Source: readSource, Sink: readSink}
}

// sourceConfig is a checked declaration.
type sourceConfig struct {
	stream   *connect.Stream
	patterns []string
	format   format.Options
	follow   bool
}

// readSource reads path, follow and the keys of the format.
func readSource(r *spec.Reader, s *connect.Stream) *connect.SourcePlan {
	before := len(r.P.Errors)
	c := sourceConfig{stream: s}
	for _, v := range r.Strings("path", true) {
		if v.Str == "" {
			r.P.Add(v.Pos, r.T.KeyPath("path"), "", "a path is empty")
			continue
		}
		c.patterns = append(c.patterns, v.Str)
	}
	name := ""
	if len(c.patterns) > 0 {
		name = c.patterns[0]
	}
	if name == "" {
		name = "-" // the missing path is reported already, and not the format on top of it
	}
	c.format, _ = format.ReadOptions(r, name)
	c.follow = r.Bool("follow", false)
	if c.follow {
		c.checkFollow(r)
	}
	if len(r.P.Errors) > before {
		return nil
	}
	return c.plan()
}

func (c *sourceConfig) checkFollow(r *spec.Reader) {
	const hint = "read it to its end, without `follow`"
	switch {
	case len(c.patterns) > 1 || len(c.patterns) == 1 && strings.ContainsAny(c.patterns[0], "*?["):
		r.Errorf("follow", "declare a stream for each", "one file can be followed, not several")
	case len(c.patterns) == 1 && c.patterns[0] == "-":
		r.Errorf("follow", hint, "standard input cannot be followed")
	case !c.format.Text() && c.format.Format != "":
		r.Errorf("follow", hint, "the format %s cannot be followed", c.format.Format)
	case len(c.patterns) == 1 && format.CompressionOf(c.patterns[0]) != format.Plain:
		r.Errorf("follow", hint, "a compressed file cannot be followed")
	}
}

func (c *sourceConfig) plan() *connect.SourcePlan {
	how := "read to the end"
	if c.follow {
		how = "followed"
	}
	cfg := *c
	return &connect.SourcePlan{
		Bounded: !c.follow, Live: c.follow, Disordered: c.format.Format == format.Zeek,
		Detail: fmt.Sprintf("file %s, %s, %s", strings.Join(c.patterns, " "), c.format.Format, how),
		Files: func(dir string) []string {
			files, _ := expand(dir, cfg.patterns) // opening them tells what is wrong
			return files
		},
		New: func(env connect.Env) connect.Source { return &source{cfg, env} },
		WithPath: func(path string) *connect.SourcePlan {
			other := cfg
			other.patterns, other.follow = []string{path}, false
			other.format = formatFor(path, cfg.format)
			return other.plan()
		},
	}
}

// formatFor returns the declared format, or another that the name of a file tells.
func formatFor(path string, declared format.Options) format.Options {
	if name, ok := format.Detect(path); ok && name != declared.Format {
		return format.DefaultOptions(name)
	}
	return declared
}

// NewSource returns a bounded source of files without a declaration: what `query run --source NAME=PATH` puts in the
// place of any other. "" as o.Format means that the name tells.
func NewSource(s *connect.Stream, path string, o format.Options, env connect.Env) (connect.Source, error) {
	if o.Format == "" {
		name, ok := format.Detect(path)
		if path == "-" {
			name, ok = format.JSONL, true
		}
		if !ok {
			return nil, fmt.Errorf("file: the name %q does not tell the format; expected an extension such as .csv, .jsonl, .log or .arrow", path)
		}
		o = format.DefaultOptions(name)
	}
	return &source{sourceConfig{stream: s, patterns: []string{path}, format: o}, env}, nil
}

type source struct {
	sourceConfig
	env connect.Env
}

// Open returns a reader.
func (s *source) Open(ctx context.Context, pos []byte) (connect.Reader, error) {
	if s.follow {
		return newFollow(s.stream, s.format, &s.env, inDir(s.env.Dir, s.patterns[0]), pos)
	}
	if len(s.patterns) == 1 && s.patterns[0] == "-" {
		return s.openStdin(ctx, pos)
	}
	files, err := expand(s.env.Dir, s.patterns)
	if err != nil {
		return nil, fmt.Errorf("file: %w", err)
	}
	return newBounded(s.stream, s.format, &s.env, files, pos)
}

func (s *source) openStdin(ctx context.Context, pos []byte) (connect.Reader, error) {
	switch {
	case s.env.Stdin == nil:
		return nil, errors.New("file: there is no standard input to read here; name a file")
	case pos != nil:
		return nil, errors.New("file: standard input cannot be read again from a position")
	}
	r, err := newBounded(s.stream, s.format, &s.env, nil, nil)
	if err != nil {
		return nil, err
	}
	r.stdin = newStdin(ctx, s.env.Stdin)
	return r, nil
}
