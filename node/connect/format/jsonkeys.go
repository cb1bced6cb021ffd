package format

import (
	"bytes"
	"strings"
)

// jsonTarget is a column, or a part of one, that a field gives its value to.
type jsonTarget struct {
	col   int
	path  bool // reached by a dotted path: the exact key has precedence
	parts int  // index of jsonParts, or -1
	part  int
}

// jsonField is one key of an object that means something, or one that has been seen and does not.
type jsonField struct {
	key     string
	token   string // the key as it mostly stands: "key":
	col     int    // the only column that wants it, whatever it is; -1: none or several, or part of one
	targets []jsonTarget
	serial  uint64    // of the record that had it last
	into    *jsonNode // the fields wanted of the object that is its value
}

// jsonNode knows the keys of one kind of object: those wanted, and the order in which keys came before, since records
// of one origin have the same keys in the same order, some left out.
type jsonNode struct {
	wanted map[string]*jsonField
	order  []*jsonField
}

// maxKnownKeys and maxKnownKey bound the memory that unwanted keys take: their number, and the length of each in bytes.
const (
	maxKnownKeys = 256
	maxKnownKey  = 64
	maxLookAhead = 24
)

// add declares that a field, an exact key or a dotted path, gives its value to a target.
func (n *jsonNode) add(field string, t jsonTarget) {
	f := n.field(field)
	f.want(t)
	t.path = true
	for i, depth := 0, 0; depth < maxDepth; depth++ {
		dot := strings.IndexByte(field[i:], '.')
		if dot < 0 {
			return
		}
		i += dot + 1
		inner := n.field(field[:i-1])
		if inner.into == nil {
			inner.into = &jsonNode{}
		}
		if strings.Count(field, ".") > 8 {
			// The ways to read a path double with each dot; so deep, only whole steps count.
			inner.into.addSteps(field[i:], t)
			return
		}
		inner.into.add(field[i:], t)
	}
}

// addSteps declares a path of which every dot is a step.
func (n *jsonNode) addSteps(field string, t jsonTarget) {
	key, rest, more := strings.Cut(field, ".")
	f := n.field(key)
	if !more {
		f.want(t)
		return
	}
	if f.into == nil {
		f.into = &jsonNode{}
	}
	f.into.addSteps(rest, t)
}

func (n *jsonNode) field(key string) *jsonField {
	f := n.wanted[key]
	if f == nil {
		if n.wanted == nil {
			n.wanted = make(map[string]*jsonField)
		}
		f = newJSONField(key)
		n.wanted[key] = f
	}
	return f
}

func newJSONField(key string) *jsonField {
	return &jsonField{key: key, token: `"` + key + `":`, col: -1}
}

// want adds a target.
func (f *jsonField) want(t jsonTarget) {
	f.targets = append(f.targets, t)
	f.col = -1
	if len(f.targets) == 1 && t.parts < 0 {
		f.col = t.col
	}
}

// expected recognises the key at text[i:] with its colon if it is the very next one and stands without white space; after
// is then the place behind the colon, else 0.
func (n *jsonNode) expected(text []byte, i int, pos *int) (f *jsonField, after int) {
	if *pos < len(n.order) {
		f := n.order[*pos]
		if j := i + len(f.token); j < len(text) && string(text[i:j]) == f.token {
			*pos++
			return f, j
		}
	}
	return nil, 0
}

// next recognises the key at text[i:] if it is one of those expected at pos; after is then the place behind its quote,
// else 0.
func (n *jsonNode) next(text []byte, i int, pos *int) (f *jsonField, after int) {
	for p, end := *pos, min(len(n.order), *pos+maxLookAhead); p < end; p++ {
		f := n.order[p]
		if j := i + len(f.key); j < len(text) && text[j] == '"' && string(text[i:j]) == f.key {
			*pos = p + 1
			return f, j + 1
		}
	}
	return nil, 0
}

// find looks a key up and remembers that it comes at pos.
func (n *jsonNode) find(key []byte, pos *int) *jsonField {
	f := n.wanted[string(key)]
	if f == nil && (len(key) > maxKnownKey || len(n.order) >= maxKnownKeys) {
		return nil
	}
	if bytes.ContainsAny(key, `"\`) {
		return f // it never stands in the text as it is, so it must not be recognised by that
	}
	for p, o := range n.order {
		if o.key == string(key) {
			*pos = p + 1 // it has changed its place; the order learned first stays
			return o
		}
	}
	if len(n.order) >= 2*maxKnownKeys {
		return f
	}
	if f == nil {
		f = newJSONField(string(key))
	}
	p := min(*pos, len(n.order))
	n.order = append(n.order, nil)
	copy(n.order[p+1:], n.order[p:])
	n.order[p] = f
	*pos = p + 1
	return f
}
