package config

import (
	"time"

	"fednode/node/export"
	"fednode/query"
	"fednode/query/expr"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// exports reads [exports.NAME].
func (c *Config) exports(r *spec.Reader, keys func(string) (*export.Key, error)) {
	for _, e := range r.T.Entries {
		r.T.Lookup(e.Key)
		if e.Value.Kind != spec.TableKind {
			r.P.Add(e.Pos, r.T.KeyPath(e.Key), "write [exports."+e.Key+"]", "expected a table, got %s", e.Value.Kind)
			continue
		}
		c.export(e.Key, spec.Read(e.Value.Table, r.P), keys)
	}
}

func (c *Config) export(name string, r *spec.Reader, keys func(string) (*export.Key, error)) {
	x := &export.Export{Name: name}
	if !query.ValidName(name) {
		r.P.Add(r.T.Pos, r.T.Path, query.NameRule, "`%s` is not a name", name)
	}
	stream, _ := r.NeedString("stream")
	x.Stream = c.Node.Org + "/" + stream
	for _, v := range r.Strings("to", false) {
		if !query.ValidName(v.Str) {
			r.P.Add(v.Pos, r.T.KeyPath("to"), query.NameRule, "`%s` is not the name of an organisation", v.Str)
		}
		x.To = append(x.To, v.Str)
	}
	if len(x.To) == 0 {
		r.P.Warn(r.T.Pos, r.T.Path, "add to = [\"ORG\"]", "the export names no organisation: nobody gets it")
	}
	x.Purpose = r.String("purpose", "")
	x.Expires = date(r, "expires")
	x.History = r.Duration("history", 0, 0, 36500*tuple.Day)
	readRate(r, x)
	where := r.Value("where", false, spec.String)
	columns := r.Table("columns", true)
	r.Done()
	s := c.stream(stream)
	if s == nil {
		var names []string
		for _, s := range c.Streams {
			names = append(names, s.Name)
		}
		if stream != "" {
			r.Errorf("stream", spec.DidYouMean(stream, names), "no stream `%s` in [streams]", stream)
		}
		return
	}
	if where != nil {
		x.Where = compileWhere(r, where, s.Schema)
	}
	if columns != nil {
		readColumns(spec.Read(columns, r.P), x, s.Schema, keys)
	}
	if r.P.OK() {
		if _, err := x.Schema(s.Schema); err != nil {
			r.P.Add(r.T.Pos, r.T.Path, "", "%v", err)
		}
	}
	c.Exports = append(c.Exports, x)
}

// stream returns the node's stream of a name.
func (c *Config) stream(name string) *query.Stream {
	for _, s := range c.Streams {
		if s.Name == name {
			return s
		}
	}
	return nil
}

func compileWhere(r *spec.Reader, v *spec.Value, s *tuple.Schema) *expr.Program {
	p, errs := expr.Compile(v.Str, s)
	for _, e := range errs {
		r.P.Add(v.At(e.Offset), r.T.KeyPath("where"), e.Hint, "%s", e.Msg)
	}
	if len(errs) == 0 && p.Type().Kind != tuple.Bool {
		r.P.Add(v.Pos, r.T.KeyPath("where"), "write a condition", "`where` is %v, not a boolean", p.Type())
	}
	return p
}

// readRate reads max_rate = { rows = "50k/s", bytes = "20MiB/s" }.
func readRate(r *spec.Reader, x *export.Export) {
	t := r.Table("max_rate", false)
	if t == nil {
		return
	}
	rr := spec.Read(t, r.P)
	x.Rate.Rows, x.Rate.Bytes = rate(rr, "rows"), rate(rr, "bytes")
	rr.Done()
}

// date reads the day on which something ends; the zero time if it is not there.
func date(r *spec.Reader, key string) time.Time {
	v := r.Value(key, false, spec.String, spec.DateTime)
	if v == nil {
		return time.Time{}
	}
	t, err := time.Parse(time.DateOnly, v.Str)
	if err != nil {
		r.Errorf(key, "", "`%s` is not a day; write one such as 2027-12-31", v.Str)
	}
	return t
}

// readColumns reads which columns leave, and in which form: name = "keep" | "drop" | { form = …, … }.
func readColumns(r *spec.Reader, x *export.Export, s *tuple.Schema, keys func(string) (*export.Key, error)) {
	byName := make(map[string]export.Column)
	for _, e := range r.T.Entries {
		r.T.Lookup(e.Key)
		if _, ok := s.Index(e.Key); !ok {
			r.P.Add(e.Pos, r.T.KeyPath(e.Key), spec.DidYouMean(e.Key, s.Names()), "no column `%s` in stream `%s`", e.Key, x.Stream)
			continue
		}
		if c, ok := readColumn(r, e, keys); ok {
			byName[e.Key] = c
		}
	}
	for _, f := range s.Fields() {
		if c, ok := byName[f.Name]; ok {
			x.Columns = append(x.Columns, c)
		}
	}
	if len(x.Columns) == 0 {
		r.P.Add(r.T.Pos, r.T.Path, "add a line such as ts = \"keep\"", "no column leaves")
	}
}

var forms = map[string]tuple.Form{"keep": tuple.Plain, "hash": tuple.Hashed, "truncate": tuple.Truncated, "pseudonym": tuple.Pseudonym}

func readColumn(r *spec.Reader, e *spec.Entry, keys func(string) (*export.Key, error)) (c export.Column, ok bool) {
	names := []string{"keep", "drop", "hash", "truncate", "pseudonym"}
	c.Name = e.Key
	form := e.Value.Str
	t := spec.NewTable(r.T.KeyPath(e.Key), e.Value.Pos)
	if e.Value.Kind == spec.TableKind {
		t = e.Value.Table
	} else if e.Value.Kind != spec.String {
		r.P.Add(e.Value.Pos, r.T.KeyPath(e.Key), "", "expected a form or a table with a form, got %s", e.Value.Kind)
		return c, false
	}
	cr := spec.Read(t, r.P)
	if e.Value.Kind == spec.TableKind {
		v := cr.Value("form", true, spec.String)
		if v == nil {
			return c, false
		}
		form = v.Str
	}
	if form == "drop" {
		cr.Done()
		return c, false
	}
	f, known := forms[form]
	if !known {
		r.P.Add(e.Value.Pos, r.T.KeyPath(e.Key), spec.DidYouMean(form, names), "`%s` is not a form", form)
		return c, false
	}
	c.Form = f
	switch f {
	case tuple.Truncated:
		c.V4, c.V6 = int(cr.Int("v4", 24, 0, 32)), int(cr.Int("v6", 48, 0, 128))
	case tuple.Pseudonym, tuple.Hashed:
		if cr.Bool("prefix_preserving", false) && f == tuple.Pseudonym {
			c.Form = tuple.PrefixPseudonym
		}
		key, err := keys(cr.String("key", OwnKey))
		if err != nil {
			cr.Errorf("key", "", "%v", err)
			return c, false
		}
		c.Key = key
	}
	cr.Done()
	return c, true
}
