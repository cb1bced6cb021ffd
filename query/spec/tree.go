package spec

import (
	"fmt"
	"slices"
)

// Pos is a place in a file. Line and Column count from 1, columns in bytes; the zero Pos is nowhere.
type Pos struct {
	File   string
	Line   int
	Column int
}

// String prints file:line:column.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Kind is the kind of a value.
type Kind uint8

// The kinds of values. Refused is a value that could not be read; why is recorded already.
const (
	Refused Kind = iota
	String
	Int
	Float
	Bool
	DateTime // text in Str
	Array
	TableKind
)

var kindNames = [...]string{"nothing", "a string", "an integer", "a float", "a boolean", "a date", "an array", "a table"}

// String names the kind with its article, for messages.
func (k Kind) String() string { return kindNames[k] }

// Value is one value with its place. Which field counts depends on Kind.
type Value struct {
	Kind  Kind
	Pos   Pos
	Str   string
	Int   int64
	Float float64
	Bool  bool
	Array []*Value
	Table *Table
	// Inner maps a byte offset in Str to its place in the file, for strings that span lines or hold escapes; nil means
	// that the text begins one column after Pos and has neither.
	Inner func(offset int) Pos
}

// At returns the place of byte offset of a string value.
func (v *Value) At(offset int) Pos {
	if v.Inner != nil {
		return v.Inner(offset)
	}
	p := v.Pos
	p.Column += 1 + offset
	return p
}

// Entry is one key of a table with its value.
type Entry struct {
	Key   string
	Pos   Pos // of the key
	Value *Value
	used  bool
}

// Table is an ordered set of keys. Path is its dotted name in the file, "" for the root.
type Table struct {
	Path    string
	Pos     Pos
	Entries []*Entry
	index   map[string]*Entry
}

// NewTable returns an empty table.
func NewTable(path string, pos Pos) *Table { return &Table{Path: path, Pos: pos} }

// Set adds a key, or reports the entry that already has it.
func (t *Table) Set(key string, pos Pos, v *Value) (previous *Entry) {
	if e := t.index[key]; e != nil {
		return e
	}
	if t.index == nil {
		t.index = make(map[string]*Entry)
	}
	e := &Entry{Key: key, Pos: pos, Value: v}
	t.index[key] = e
	t.Entries = append(t.Entries, e)
	return nil
}

// Put sets a key, in place of the value it had.
func (t *Table) Put(key string, pos Pos, v *Value) {
	if e := t.index[key]; e != nil {
		e.Pos, e.Value = pos, v
		return
	}
	t.Set(key, pos, v)
}

// Remove takes a key out.
func (t *Table) Remove(key string) {
	if t.index[key] == nil {
		return
	}
	delete(t.index, key)
	t.Entries = slices.DeleteFunc(t.Entries, func(e *Entry) bool { return e.Key == key })
}

// Lookup returns the entry of a key and marks it as used; nil if the key is not there.
func (t *Table) Lookup(key string) *Entry {
	e := t.index[key]
	if e != nil {
		e.used = true
	}
	return e
}

// Has reports whether the key is there, without using it.
func (t *Table) Has(key string) bool { return t.index[key] != nil }

// KeyPath returns the dotted name of a key of the table.
func (t *Table) KeyPath(key string) string {
	if t.Path == "" {
		return key
	}
	return t.Path + "." + key
}

// PosOf returns the place of a key's value, or the table's place if the key is not there.
func (t *Table) PosOf(key string) Pos {
	if e := t.index[key]; e != nil {
		return e.Value.Pos
	}
	return t.Pos
}
