package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"fednode/node/connect"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// Name is the connector's name in query files.
const Name = "postgres"

// Kind returns the connector.
func Kind() connect.Kind { return connect.Kind{Name: Name, Sink: readSink} }

// maxName is how many bytes of a name PostgreSQL keeps.
const maxName = 63

// How tentative rows are treated.
const (
	tentativeOmit  = "omit"
	tentativeTag   = "tag"
	tentativeWrite = "write"
)

// sinkConfig is a checked declaration of a sink.
type sinkConfig struct {
	stream   *connect.SinkStream
	database string
	// schema is "" where the database's search path finds it.
	schema, table string
	key           []string
	tentative     string
	create        bool
	// replace puts U+FFFD for what a text cannot hold.
	replace   bool
	batchRows uint64
	timeout   time.Duration
}

// readSink reads the keys of the connector.
func readSink(r *spec.Reader, s *connect.SinkStream) *connect.SinkPlan {
	before := len(r.P.Errors)
	c := sinkConfig{stream: s}
	c.readDatabase(r)
	c.readTable(r)
	c.readKey(r)
	c.tentative = r.OneOf("tentative", tentativeOmit, tentativeOmit, tentativeTag, tentativeWrite)
	if c.tentative != tentativeOmit && !r.T.Has("key") {
		r.Errorf("tentative", `add key = ["COLUMN", …], or leave it out`, "tentative rows can be taken back only by a key")
	}
	if c.tentative != tentativeOmit && len(c.table)+len(undoSuffix) > maxName {
		r.Errorf("table", "", "the name is too long: with tentative rows it has at most %d bytes", maxName-len(undoSuffix))
	}
	c.create = r.Bool("create", true)
	c.replace = r.OneOf("text", "strict", "strict", "replace") == "replace"
	c.batchRows = uint64(r.Int("batch_rows", 50_000, 1, 1_000_000))
	c.timeout = time.Duration(r.Duration("timeout", 30*tuple.Second, tuple.Second, tuple.Hour)) * time.Microsecond
	if s.Schema != nil {
		c.checkColumns(r)
	}
	if len(r.P.Errors) > before {
		return nil
	}
	return &connect.SinkPlan{
		Detail: c.detail(), Tentative: c.tentative != tentativeOmit, CommitRows: c.batchRows,
		New: func(connect.Env) connect.Sink { return newSink(c) },
	}
}

func (c *sinkConfig) readDatabase(r *spec.Reader) {
	var ok bool
	if c.database, ok = r.NeedString("database"); !ok || c.stream.Databases == nil {
		return
	}
	if _, named := c.stream.Databases[c.database]; !named {
		hint := spec.DidYouMean(c.database, slices.Sorted(maps.Keys(c.stream.Databases)))
		if hint == "" {
			hint = "add [connect.postgres." + c.database + "] with a connection to node.toml"
		}
		r.Errorf("database", hint, "this node's file names no database `%s`", c.database)
	}
}

// readTable reads TABLE or SCHEMA.TABLE, names as they are, without quotes.
func (c *sinkConfig) readTable(r *spec.Reader) {
	text, ok := r.NeedString("table")
	if !ok {
		return
	}
	c.table = text
	if schema, table, dotted := strings.Cut(text, "."); dotted {
		c.schema, c.table = schema, table
		if schema == "" {
			c.table = ""
		}
	}
	for _, part := range []string{c.schema, c.table} {
		if part == "" && c.table == "" || len(part) > maxName || strings.ContainsAny(part, ".\"\x00") {
			r.Errorf("table", "write TABLE or SCHEMA.TABLE, without quotes; each name has at most 63 bytes", "`%s` is not the name of a table", text)
			return
		}
	}
	if c.table == positionsTable || strings.HasSuffix(c.table, undoSuffix) {
		r.Errorf("table", "choose another name", "the sink keeps a table `%s` for itself", text)
	}
}

func (c *sinkConfig) readKey(r *spec.Reader) {
	for _, v := range r.Strings("key", false) {
		if slices.Contains(c.key, v.Str) {
			r.P.Add(v.Pos, r.T.KeyPath("key"), "", "`%s` is there twice", v.Str)
			continue
		}
		c.key = append(c.key, v.Str)
		c.checkKey(r, v)
	}
	if r.T.Has("key") && len(c.key) == 0 && len(r.P.Errors) == 0 {
		r.Errorf("key", "name the columns, or leave it out", "a key has at least one column")
	}
}

// checkKey checks one column of the key, where the schema is known.
func (c *sinkConfig) checkKey(r *spec.Reader, v *spec.Value) {
	if c.stream.Schema == nil {
		return
	}
	var names []string
	for i := range c.stream.Schema.Len() {
		f := c.stream.Schema.Field(i)
		if names = append(names, f.Name); f.Name != v.Str {
			continue
		}
		if f.Type.Kind == tuple.List {
			r.P.Add(v.Pos, r.T.KeyPath("key"), "", "`%s` is a list, and cannot be part of a key", v.Str)
		}
		return
	}
	r.P.Add(v.Pos, r.T.KeyPath("key"), spec.DidYouMean(v.Str, names), "no column `%s` in the output", v.Str)
}

// The columns that a table with tag has after those of the stream.
const (
	stateColumn = "_state"
	stimeColumn = "_stime"
)

// systemColumns are names that every table has already.
var systemColumns = []string{"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"}

// checkColumns refuses names that a table cannot have.
func (c *sinkConfig) checkColumns(r *spec.Reader) {
	for i := range c.stream.Schema.Len() {
		name := c.stream.Schema.Field(i).Name
		switch {
		case slices.Contains(systemColumns, name), strings.HasPrefix(name, ownPrefix):
			r.Errorf("input", "rename it with a map", "a table cannot have a column `%s`: the name is taken", name)
		case c.tentative == tentativeTag && (name == stateColumn || name == stimeColumn):
			r.Errorf("tentative", "rename the column with a map", "tentative = \"tag\" needs the name `%s` for itself", name)
		case len(name) > maxName:
			r.Errorf("input", "rename it with a map", "the column `%s` has a name of more than %d bytes", name, maxName)
		}
	}
}

func (c *sinkConfig) detail() string {
	name := c.table
	if c.schema != "" {
		name = c.schema + "." + c.table
	}
	how := "appended"
	if len(c.key) > 0 {
		how = "by " + strings.Join(c.key, ", ")
	}
	if c.tentative != tentativeOmit {
		how += ", tentative rows too"
	}
	return fmt.Sprintf("postgres %s, table %s, %s", c.database, name, how)
}
