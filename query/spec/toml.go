package spec

import (
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Limits of a file. Whoever needs more than these has generated the file, and can split it.
const (
	MaxFileBytes = 1 << 20
	MaxDepth     = 32
	MaxEntries   = 20_000
	MaxKeyBytes  = 256
)

// maxSyntaxErrors bounds how often the parser starts again after a syntax error: later ones are seldom new.
const maxSyntaxErrors = 20

// Env looks up a variable of the environment.
type Env func(name string) (value string, ok bool)

// ParseTOML reads a file into a table and keeps the place of every key and value. What is wrong goes to p. It returns
// nil when the syntax is broken: what could be said about the rest would mislead.
//
// In string values ${NAME} stands for the variable, ${NAME:-text} for the variable or, if it is not set or empty, the
// text, and $${ for a plain ${. A nil env leaves strings as they are.
func ParseTOML(file string, src []byte, env Env, p *Problems) *Table {
	if len(src) > MaxFileBytes {
		p.Add(Pos{File: file}, "", "split it", "the file has %d bytes; the limit is %d", len(src), MaxFileBytes)
		return nil
	}
	d := &tomlReader{places: newPlaces(file, src), src: src, env: env, p: p, origin: make(map[*Table]origin)}
	d.root = NewTable("", Pos{File: file, Line: 1, Column: 1})
	d.current = d.root
	d.run()
	if d.broken {
		return nil
	}
	return d.root
}

// tomlReader builds the tree from the parser's expressions.
type tomlReader struct {
	parser  unstable.Parser
	places  places
	src     []byte
	base    int // where in src the parser's input begins: it starts again after a syntax error
	env     Env
	p       *Problems
	root    *Table
	current *Table // what the last header opened; nil after a header that was refused, so that its keys are skipped
	origin  map[*Table]origin
	entries int
	broken  bool
	full    bool
}

// run parses expression by expression, and starts again after a syntax error.
func (d *tomlReader) run() {
	start := 0
	if len(d.src) >= 3 && string(d.src[:3]) == "\ufeff" {
		start = 3
	}
	for n := 0; n < maxSyntaxErrors && start < len(d.src); n++ {
		d.base = start
		d.parser.Reset(d.src[start:])
		end := start
		for !d.full && d.parser.NextExpression() {
			end = d.expression(d.parser.Expression())
		}
		if d.full || d.parser.Error() == nil {
			return
		}
		d.broken = true
		start = d.syntaxError(d.parser.Error(), end)
	}
}

// syntaxError records a syntax error of an expression that begins after the offset `after`, and returns where to start
// again.
func (d *tomlReader) syntaxError(err error, after int) int {
	begin := skipBlank(d.src, after)
	at := begin
	var perr *unstable.ParserError
	if errors.As(err, &perr) && len(perr.Highlight) > 0 {
		at = d.base + int(d.parser.Range(perr.Highlight).Offset)
	}
	msg := err.Error()
	if strings.HasPrefix(msg, "expected keyword") { // what begins with t, f, i or n could only have been one of four words
		msg = "expected a value"
	}
	if at >= len(d.src)-1 && begin < lineStart(d.src, at) {
		// The parser ran to the end of the file looking for a closing mark; the place to look is where it began.
		at, msg = begin, msg+" (it begins here)"
	}
	d.p.Add(d.places.at(at), "", syntaxHint(d.src, begin, at), "%s", msg)
	return nextStatement(d.src, max(at, begin))
}

// expression adds one header or key to the tree and returns the offset after it.
func (d *tomlReader) expression(n *unstable.Node) int {
	switch n.Kind {
	case unstable.Table:
		keys, end := d.keys(n.Key())
		if !d.full {
			d.current = d.openTable(keys)
		}
		return lineEnd(d.src, end)
	case unstable.ArrayTable:
		keys, end := d.keys(n.Key())
		if !d.full {
			d.current = d.openElement(keys)
		}
		return lineEnd(d.src, end)
	case unstable.KeyValue:
		return d.keyValue(d.current, n)
	}
	return d.base
}

// key is one part of a dotted key.
type key struct {
	name string
	pos  Pos
}

// keys reads a dotted key and returns the offset after it.
func (d *tomlReader) keys(it unstable.Iterator) ([]key, int) {
	var out []key
	end := d.base
	for it.Next() {
		n := it.Node()
		off := d.base + int(n.Raw.Offset)
		end = off + int(n.Raw.Length)
		if len(n.Data) > MaxKeyBytes { // every path below it would repeat it
			d.full, d.broken = true, true
			d.p.Add(d.places.at(off), "", "", "a key has %d bytes; the limit is %d", len(n.Data), MaxKeyBytes)
		}
		out = append(out, key{name: string(n.Data), pos: d.places.at(off)})
	}
	return out, end
}

// keyValue adds key = value to t, opening the tables of a dotted key, and returns the offset after the value. A nil t
// reads without adding.
func (d *tomlReader) keyValue(t *Table, n *unstable.Node) int {
	keys, end := d.keys(n.Key())
	if d.full {
		return end
	}
	last := keys[len(keys)-1]
	path := last.name
	if t != nil {
		if t = d.openDotted(t, keys[:len(keys)-1]); t != nil {
			path = t.KeyPath(last.name)
		}
	}
	v, end := d.value(n.Value(), d.valueStart(end), path)
	if t != nil && v != nil {
		d.set(t, last, v)
	}
	return end
}

// set adds a key and reports a second one of that name.
func (d *tomlReader) set(t *Table, k key, v *Value) {
	if !d.count(k.pos) {
		return
	}
	if first := t.Set(k.name, k.pos, v); first != nil {
		d.p.Add(k.pos, t.KeyPath(k.name), "", "`%s` is there twice; the first is at %s", k.name, first.Pos)
	}
}

// count counts one more entry against the limits of size and depth.
func (d *tomlReader) count(pos Pos) bool {
	d.entries++
	if d.entries <= MaxEntries {
		return true
	}
	if !d.full {
		d.full, d.broken = true, true
		d.p.Add(pos, "", "split it", "the file has more than %d keys and values", MaxEntries)
	}
	return false
}
