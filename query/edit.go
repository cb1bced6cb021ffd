package query

import (
	"path"
	"sort"
	"strings"

	"fednode/query/spec"
)

// Edits are what a command line changes in a query file before it is read: Options.Edit is their Apply.
type Edits struct {
	// Sources and Sinks replace what a stream reads and an output writes by a file: NAME=PATH.
	Sources []Edit
	Sinks   []Edit
	// Set sets a key by its dotted name: query.max_delay=inf. The value is read as TOML, or else as text.
	Set []Edit
}

// Edit is one NAME=VALUE.
type Edit struct {
	Name  string
	Value string
}

// Apply changes the tree. A stream or an output that is not there is a problem.
func (e Edits) Apply(root *spec.Table, p *spec.Problems) {
	for _, s := range e.Set {
		setKey(root, s, p)
	}
	for _, s := range e.Sources {
		if t := editTarget(root, "streams", "--source", s, p); t != nil {
			replaceBy(t, "--source", s, streamKey)
			t.Remove("follow")
		}
	}
	for _, s := range e.Sinks {
		if t := editTarget(root, "outputs", "--sink", s, p); t != nil {
			replaceBy(t, "--sink", s, outputKey)
		}
	}
}

// editTarget finds the declaration that an edit names.
func editTarget(root *spec.Table, section, flag string, e Edit, p *spec.Problems) *spec.Table {
	var names []string
	if s := root.Lookup(section); s != nil && s.Value.Kind == spec.TableKind {
		for _, entry := range s.Value.Table.Entries {
			names = append(names, entry.Key)
			if entry.Key == e.Name && entry.Value.Kind == spec.TableKind {
				return entry.Value.Table
			}
		}
	}
	sort.Strings(names)
	p.Add(spec.Pos{File: flag + " " + e.Name}, "", spec.DidYouMean(e.Name, names), "the query has no [%s.%s]", section, e.Name)
	return nil
}

// replaceBy makes a declaration one of a file. The keys of the old connector stay only if it was a file of the same
// format, by its extension: they say how to read it.
func replaceBy(t *spec.Table, flag string, e Edit, shared func(string) bool) {
	old := ""
	if v := t.Lookup("path"); v != nil && v.Value.Kind == spec.String {
		old = v.Value.Str
	}
	keep := isFile(t) && extension(old) == extension(e.Value)
	for _, entry := range append([]*spec.Entry(nil), t.Entries...) {
		if !keep && !shared(entry.Key) {
			t.Remove(entry.Key)
		}
	}
	pos := spec.Pos{File: flag + " " + e.Name}
	t.Put("connector", pos, &spec.Value{Kind: spec.String, Pos: pos, Str: "file"})
	t.Put("path", pos, &spec.Value{Kind: spec.String, Pos: pos, Str: e.Value})
}

func isFile(t *spec.Table) bool {
	e := t.Lookup("connector")
	return e != nil && e.Value.Kind == spec.String && e.Value.Str == "file"
}

// extension returns the extension that tells a file's format, without that of its compression.
func extension(file string) string {
	for _, packed := range []string{".gz", ".zst"} {
		file = strings.TrimSuffix(file, packed)
	}
	return strings.ToLower(path.Ext(file))
}

// streamKey reports whether a key belongs to every stream, whatever its connector.
func streamKey(key string) bool {
	switch key {
	case "columns", "place", "time", "max_out_of_order", "lag", "late", "idle", "idle_after", "init_delay", "future",
		"max_future_skew", "on_error", "rate", "max_row", "retain":
		return true
	}
	return false
}

// outputKey reports whether a key belongs to every output, whatever its connector.
func outputKey(key string) bool { return key == "input" || key == "place" }

// setKey sets one key, opening the tables above it.
func setKey(root *spec.Table, e Edit, p *spec.Problems) {
	pos := spec.Pos{File: "--set " + e.Name}
	keys := strings.Split(e.Name, ".")
	t := root
	for _, k := range keys[:len(keys)-1] {
		next := t.Lookup(k)
		if next == nil {
			sub := spec.NewTable(t.KeyPath(k), pos)
			t.Put(k, pos, &spec.Value{Kind: spec.TableKind, Pos: pos, Table: sub})
			t = sub
			continue
		}
		if next.Value.Kind != spec.TableKind {
			p.Add(pos, e.Name, "", "`%s` is %s, not a table", k, next.Value.Kind)
			return
		}
		t = next.Value.Table
	}
	t.Put(keys[len(keys)-1], pos, editValue(pos, e.Value))
}

// editValue reads a value as TOML, or else as text.
func editValue(pos spec.Pos, text string) *spec.Value {
	var p spec.Problems
	t := spec.ParseTOML(pos.File, []byte("value = "+text), nil, &p)
	if t == nil || !p.OK() || len(t.Entries) != 1 || text == "inf" { // query files write their infinities as text
		return &spec.Value{Kind: spec.String, Pos: pos, Str: text}
	}
	v := t.Lookup("value").Value
	v.Pos = pos
	return v
}
