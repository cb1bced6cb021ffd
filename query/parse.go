package query

import (
	"sort"
	"strings"

	"fednode/query/op"
	"fednode/query/spec"
)

// Options is what Parse needs besides the file.
type Options struct {
	// Env gives the variables that the file refers to; nil leaves ${…} in strings alone.
	Env spec.Env
	// Kinds are the kinds of operators; nil means op.Kinds().
	Kinds []op.Kind
	// Connectors checks the connectors' names and own keys; nil leaves them unchecked.
	Connectors Connectors
	// Edit changes the tree before it is read, for a command line that replaces a source or sets a key; may be nil.
	Edit func(root *spec.Table, p *spec.Problems)
	// Placement is where the query is given; validation plans it there.
	Placement Placement
	// Rates says how many rows a second a stream that the query does not declare itself is known to have, by its name in the
	// federation, 0 if nothing is known; may be nil.
	Rates func(stream string) float64
}

// Limits of a diagram.
const (
	maxOperators = 1000
	maxStreams   = 256
	maxOutputs   = 256
	maxFragments = 256
)

// Parse reads a query file and checks everything that can be known before it runs. The problems hold all that is wrong
// and all warnings, with places; the diagram is nil if there is an error. Validation and running go through here alike.
func Parse(file string, src []byte, o Options) (*Diagram, *spec.Problems) {
	p := &spec.Problems{}
	defer p.Sort()
	root := spec.ParseTOML(file, src, o.Env, p)
	if root == nil {
		return nil, p
	}
	if o.Edit != nil {
		o.Edit(root, p)
	}
	if o.Kinds == nil {
		o.Kinds = op.Kinds()
	}
	b := &builder{o: o, p: p, d: &Diagram{File: file}, streams: map[string]*Stream{}, operators: map[string]*declared{}}
	b.read(root)
	if !p.OK() {
		return nil, p
	}
	if plan := NewPlan(b.d, o.Placement, p); plan != nil {
		checkDelay(plan, p)
		checkLoad(plan, o.Rates, p)
	}
	if !p.OK() {
		return nil, p
	}
	return b.d, p
}

// builder makes a diagram from a tree.
type builder struct {
	o         Options
	p         *spec.Problems
	d         *Diagram
	streams   map[string]*Stream // all that were declared, also those with errors
	operators map[string]*declared
}

// read reads the sections in the order in which they depend on each other.
func (b *builder) read(root *spec.Table) {
	r := spec.Read(root, b.p)
	settings := r.Table("query", true)
	streams := b.section(r, "streams", maxStreams)
	operators := b.section(r, "operators", maxOperators)
	outputs := b.section(r, "outputs", maxOutputs)
	fragments := b.section(r, "fragments", maxFragments)
	r.Done()
	if settings != nil {
		b.readSettings(settings)
	}
	for _, e := range streams {
		b.readStream(e)
	}
	b.readOperators(operators)
	for _, e := range outputs {
		b.readOutput(e)
	}
	if root.Has("query") && len(outputs) == 0 && !root.Has("outputs") {
		b.p.Add(root.Pos, "outputs", "add [outputs.NAME] with an input", "the query has no output")
	}
	for _, e := range fragments {
		b.readFragment(e)
	}
	b.checkRules()
	b.checkPlaces()
	if b.p.OK() {
		b.checkOnFull()
		b.checkBestEffort()
		b.checkCopies()
		b.markUsed()
	}
}

// section returns the tables of a section in order of name; names are checked, and all of them are marked as known.
func (b *builder) section(r *spec.Reader, key string, limit int) []*spec.Entry {
	t := r.Table(key, false)
	if t == nil {
		return nil
	}
	if len(t.Entries) > limit {
		b.p.Add(t.Pos, key, "", "%d %s; the limit is %d", len(t.Entries), key, limit)
		return nil
	}
	var out []*spec.Entry
	for _, e := range t.Entries {
		t.Lookup(e.Key)
		if !ValidName(e.Key) {
			b.p.Add(e.Pos, t.KeyPath(e.Key), NameRule, "`%s` is not a name", e.Key)
		}
		if e.Value.Kind != spec.TableKind {
			b.p.Add(e.Value.Pos, t.KeyPath(e.Key), "write ["+key+"."+e.Key+"]", "expected a table, got %s", e.Value.Kind)
			continue
		}
		out = append(out, e)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Key < out[j].Key })
	return out
}

// NameRule is what a name looks like, for messages.
const NameRule = "a name begins with a letter or _, goes on with letters, digits, _ and -, and has at most 63 characters"

// ValidName reports whether s may name a query, a stream, an operator, an output or a fragment.
func ValidName(s string) bool {
	if len(s) == 0 || len(s) > 63 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return true
}

// validForeign reports whether s is org/stream.
func validForeign(s string) bool {
	org, stream, ok := strings.Cut(s, "/")
	return ok && ValidName(org) && validForeignStream(stream)
}

// validForeignStream accepts a stream, a query's output (query/output), and a query's own stream (query.stream).
func validForeignStream(s string) bool {
	for _, sep := range []string{"/", "."} {
		if query, rest, ok := strings.Cut(s, sep); ok {
			return ValidName(query) && ValidName(rest)
		}
	}
	return ValidName(s)
}
