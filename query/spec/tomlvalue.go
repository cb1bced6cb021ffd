package spec

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// value converts a value that begins at the offset `at` and returns the offset after it. The parser gives no place for
// arrays, so places are found by walking along: each value begins where the blanks after the last one end. A value that
// cannot be read has the kind Refused; nil is returned where the file is left.
func (d *tomlReader) value(n *unstable.Node, at int, path string) (*Value, int) {
	return d.nested(n, at, path, 0)
}

func (d *tomlReader) nested(n *unstable.Node, at int, path string, depth int) (*Value, int) {
	v := &Value{Pos: d.places.at(at)}
	if depth > MaxDepth {
		d.tooDeep(v.Pos)
		d.full = true // leave the file: the end of this value is not known
		return nil, at
	}
	switch n.Kind {
	case unstable.Array:
		v.Kind = Array
		return v, d.array(v, n, at, path, depth)
	case unstable.InlineTable:
		v.Kind = TableKind
		return v, d.inline(v, n, at, path, depth)
	}
	end := at + int(n.Raw.Length)
	if !d.scalar(v, n, at, path) {
		*v = Value{Kind: Refused, Pos: v.Pos}
	}
	return v, end
}

// array converts the elements of an array and returns the offset after its bracket. With an element that was refused all
// of it is: without that one it would be another array.
func (d *tomlReader) array(v *Value, n *unstable.Node, at int, path string, depth int) int {
	end, refused := at+1, false
	for it := n.Children(); it.Next() && !d.full; {
		end = skipSeparators(d.src, end)
		if !d.count(d.places.at(end)) {
			return end
		}
		var el *Value
		if el, end = d.nested(it.Node(), end, elementPath(path, len(v.Array)), depth+1); el != nil {
			v.Array = append(v.Array, el)
			refused = refused || el.Kind == Refused
		}
	}
	if refused {
		*v = Value{Kind: Refused, Pos: v.Pos}
	}
	return skipSeparators(d.src, end) + 1
}

// inline converts the keys of an inline table and returns the offset after its brace.
func (d *tomlReader) inline(v *Value, n *unstable.Node, at int, path string, depth int) int {
	v.Table = NewTable(path, v.Pos)
	end := at + 1
	for it := n.Children(); it.Next() && !d.full; {
		keys, keyEnd := d.keys(it.Node().Key())
		if d.full {
			return end
		}
		t := d.openDotted(v.Table, keys[:len(keys)-1])
		last := keys[len(keys)-1]
		sub := last.name
		if t != nil {
			sub = t.KeyPath(last.name)
		}
		var el *Value
		el, end = d.nested(it.Node().Value(), d.valueStart(keyEnd), sub, depth+len(keys))
		if t != nil && el != nil {
			d.set(t, last, el)
		}
	}
	d.origin[v.Table] = fromInline
	return skipSeparators(d.src, end) + 1
}

// scalar fills v from a value without parts, and reports whether it could.
func (d *tomlReader) scalar(v *Value, n *unstable.Node, at int, path string) bool {
	raw := string(d.src[at : at+int(n.Raw.Length)])
	switch n.Kind {
	case unstable.String:
		v.Kind = String
		return d.text(v, string(n.Data), raw, at, path)
	case unstable.Bool:
		v.Kind, v.Bool = Bool, raw == "true"
	case unstable.Integer:
		v.Kind = Int
		i, err := strconv.ParseInt(strings.TrimPrefix(raw, "+"), 0, 64)
		if err != nil {
			hint := ""
			if errors.Is(err, strconv.ErrRange) {
				hint = "integers have 64 bits; write a longer number as text in quotes"
			}
			d.p.addCause(v.Pos, path, hint, "`%s` is not an integer in the range of int64", raw)
			return false
		}
		v.Int = i
	case unstable.Float:
		v.Kind = Float
		f, err := strconv.ParseFloat(strings.ReplaceAll(raw, "_", ""), 64)
		if err != nil {
			d.p.addCause(v.Pos, path, "", "`%s` is not a number in the range of float64", raw)
			return false
		}
		v.Float = f
	default:
		v.Kind, v.Str = DateTime, raw
	}
	return true
}

// text fills v from a string: its text with variables put in, and the map back to places.
func (d *tomlReader) text(v *Value, data, raw string, at int, path string) bool {
	m := decodeMap(raw)
	out, m, undefined := expand(data, m, d.env)
	v.Str = out
	if m != nil {
		places := d.places
		v.Inner = func(offset int) Pos { return places.at(at + m.source(offset)) }
	}
	for _, u := range undefined {
		d.p.addCause(d.places.at(at+u.at), path, u.hint, "%s", u.msg)
	}
	return len(undefined) == 0
}

// valueStart returns where the value begins whose key ends at the offset.
func (d *tomlReader) valueStart(keyEnd int) int {
	i := skipSpaces(d.src, keyEnd)
	if i < len(d.src) && d.src[i] == '=' {
		i++
	}
	return skipSpaces(d.src, i)
}

// elementPath names element i of an array.
func elementPath(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
