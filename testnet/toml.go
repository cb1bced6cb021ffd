package testnet

import (
	"fmt"
	"strconv"
	"strings"

	"fednode/query/spec"
)

// render writes a tree as TOML with its keys in the order they have there: that of columns and aggregates counts.
// Tables down to the second level get a header, deeper ones stand in their line.
func render(root *spec.Table) string {
	var b strings.Builder
	section(&b, root, "", 0)
	return strings.TrimLeft(b.String(), "\n")
}

// headers is how deep tables have headers.
const headers = 2

func section(b *strings.Builder, t *spec.Table, path string, depth int) {
	for _, e := range t.Entries {
		if depth >= headers || e.Value.Kind != spec.TableKind {
			fmt.Fprintf(b, "%s = %s\n", tomlKey(e.Key), inline(e.Value))
		}
	}
	if depth >= headers {
		return
	}
	for _, e := range t.Entries {
		if e.Value.Kind != spec.TableKind {
			continue
		}
		name := path + tomlKey(e.Key)
		if depth+1 == headers || hasPlain(e.Value.Table) {
			fmt.Fprintf(b, "\n[%s]\n", name)
		}
		section(b, e.Value.Table, name+".", depth+1)
	}
}

func hasPlain(t *spec.Table) bool {
	for _, e := range t.Entries {
		if e.Value.Kind != spec.TableKind {
			return true
		}
	}
	return false
}

func inline(v *spec.Value) string {
	switch v.Kind {
	case spec.Int:
		return strconv.FormatInt(v.Int, 10)
	case spec.Float:
		return tomlFloat(v.Float)
	case spec.Bool:
		return strconv.FormatBool(v.Bool)
	case spec.DateTime:
		return v.Str
	case spec.Array:
		parts := make([]string, len(v.Array))
		for i, e := range v.Array {
			parts[i] = inline(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case spec.TableKind:
		parts := make([]string, len(v.Table.Entries))
		for i, e := range v.Table.Entries {
			parts[i] = tomlKey(e.Key) + " = " + inline(e.Value)
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return tomlString(v.Str)
}

// tomlFloat writes a number that stays a float.
func tomlFloat(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if strings.Trim(s, "-0123456789") == "" {
		s += ".0"
	}
	return strings.ToLower(s)
}

// tomlString writes a basic string. A ${ in it is read as itself again, not as a variable.
func tomlString(s string) string {
	s = strings.ReplaceAll(s, "${", "$${")
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, "\\u%04X", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func tomlKey(k string) string {
	for _, r := range k {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-') {
			return tomlString(k)
		}
	}
	if k == "" {
		return `""`
	}
	return k
}

// Values of trees that are made rather than read.

func text(s string) *spec.Value { return &spec.Value{Kind: spec.String, Str: s} }

func number(n int64) *spec.Value { return &spec.Value{Kind: spec.Int, Int: n} }

func float(f float64) *spec.Value { return &spec.Value{Kind: spec.Float, Float: f} }

func texts(list ...string) *spec.Value {
	v := &spec.Value{Kind: spec.Array}
	for _, s := range list {
		v.Array = append(v.Array, text(s))
	}
	return v
}

// table makes a table value from pairs of key and value.
func table(pairs ...pair) *spec.Value {
	t := spec.NewTable("", spec.Pos{})
	for _, p := range pairs {
		t.Put(p.key, spec.Pos{}, p.value)
	}
	return &spec.Value{Kind: spec.TableKind, Table: t}
}

type pair struct {
	key   string
	value *spec.Value
}
