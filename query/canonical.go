package query

import (
	"crypto/sha256"
	"sort"
	"strconv"
	"strings"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// Canonical returns the diagram as a query file in one fixed form: what a descriptor carries, and what its hash covers.
// Connectors and their keys, which may hold secrets and concern only the query's own nodes, are left out: own streams
// become streams of org, and of an output's sink only that there is one. Parsing it gives a diagram with the same canonical form.
//
// Sections and keys are in order of name but where their order has a meaning.
func (d *Diagram) Canonical(org string) []byte {
	w := &canonicalWriter{}
	w.settings(&d.Settings)
	for _, s := range d.Streams {
		w.stream(s, org, d.Settings.Name)
	}
	operators := append([]*Operator(nil), d.Operators...)
	sort.Slice(operators, func(i, j int) bool { return operators[i].Name < operators[j].Name })
	for _, o := range operators {
		w.header("operators", o.Name)
		w.table(o.table, nil)
	}
	for _, o := range d.Outputs {
		w.header("outputs", o.Name)
		w.text("connector", o.canonicalConnector())
		w.text("input", o.Input.Name())
		w.place(o.Place)
	}
	for _, f := range d.Fragments {
		w.header("fragments", f.Name)
		names := make([]string, len(f.Operators))
		for i, o := range f.Operators {
			names[i] = quote(o.Name)
		}
		sort.Strings(names)
		w.line("operators", "["+strings.Join(names, ", ")+"]")
		w.place(f.Place)
		w.line("replicas", strconv.Itoa(f.Replicas))
	}
	return []byte(w.b.String())
}

// someSink stands for the connector of an output that has a sink at the query's home.
const someSink = "sink"

// HasSink reports whether the query's home delivers the output to a sink: its host must not drop results that the sink has
// not had. Without one the output is a stream that others subscribe to.
func (o *Output) HasSink() bool { return o.Connector != foreignConnector }

func (o *Output) canonicalConnector() string {
	if o.HasSink() {
		return someSink
	}
	return foreignConnector
}

// Hash identifies what the query computes, and for whom: the SHA-256 of its canonical form.
func (d *Diagram) Hash(org string) [sha256.Size]byte { return sha256.Sum256(d.Canonical(org)) }

// ContentHash identifies the whole declaration, connectors' keys included: two files with the same content need no new
// deployment. It does not leave the node.
func (d *Diagram) ContentHash(org string) [sha256.Size]byte {
	w := &canonicalWriter{}
	w.b.Write(d.Canonical(org))
	for _, s := range d.Streams {
		w.header("streams", s.Name)
		w.table(s.Keys, nil)
	}
	for _, o := range d.Outputs {
		w.header("outputs", o.Name)
		w.table(o.Keys, nil)
	}
	return sha256.Sum256([]byte(w.b.String()))
}

// fingerprint identifies what an operator's state means.
func (o *Operator) fingerprint() uint64 {
	w := &canonicalWriter{}
	w.table(o.table, []string{"input", "inputs", "left", "right", "table"})
	h := tuple.HashBytes([]byte(w.b.String()))
	for _, in := range o.Inputs {
		h = schemaHash(h, in.Schema())
	}
	return h
}

// canonicalWriter writes TOML in its one form.
type canonicalWriter struct{ b strings.Builder }

func (w *canonicalWriter) header(keys ...string) {
	if w.b.Len() > 0 {
		w.b.WriteByte('\n')
	}
	for i, k := range keys {
		keys[i] = keyText(k)
	}
	w.b.WriteString("[" + strings.Join(keys, ".") + "]\n")
}

func (w *canonicalWriter) line(key, value string) {
	w.b.WriteString(keyText(key) + " = " + value + "\n")
}

func (w *canonicalWriter) text(key, value string) { w.line(key, quote(value)) }

func (w *canonicalWriter) settings(s *Settings) {
	w.header("query")
	w.text("bucket", durationText(s.Bucket))
	w.text("consistency", string(s.Consistency))
	if s.DurableLevel > 0 {
		w.line("durable_level", strconv.Itoa(s.DurableLevel))
	}
	if s.OnFull == Converge {
		w.text("correct_window", durationText(s.CorrectWindow))
	}
	w.text("failure", string(s.Failure))
	w.text("max_delay", durationText(s.MaxDelay))
	w.text("name", s.Name)
	if s.OnFull == Converge {
		w.text("on_full", string(s.OnFull))
	}
	if s.Redo == RedoUndo {
		w.text("redo", string(s.Redo))
	}
	w.line("semantics", strconv.Itoa(s.Semantics))
	w.text("stabilization", string(s.Stabilization))
}

func (w *canonicalWriter) stream(s *Stream, org, query string) {
	w.header("streams", s.Name)
	w.text("connector", foreignConnector)
	if s.Rules.MaxFutureSkew != DefaultMaxFutureSkew {
		w.text("max_future_skew", durationText(s.Rules.MaxFutureSkew)) // a host asks this of a stream that is not its own
	}
	w.place(s.Place)
	w.text("stream", s.StreamName(org, query))
	w.header("streams", s.Name, "columns")
	for _, f := range s.Schema.Fields() {
		if f.Form == tuple.Plain {
			w.text(f.Name, f.Type.String())
			continue
		}
		v := "{form = " + quote(f.Form.String())
		if f.Key != "" {
			v += ", key = " + quote(f.Key)
		}
		w.line(f.Name, v+", type = "+quote(f.Type.String())+"}")
	}
}

func (w *canonicalWriter) place(p Place) {
	if p.IsZero() {
		return
	}
	var parts []string
	if p.Labels != "" {
		var labels []string
		for _, pair := range strings.Split(p.Labels, ",") {
			k, v, _ := strings.Cut(pair, "=")
			labels = append(labels, keyText(k)+" = "+quote(v))
		}
		parts = append(parts, "labels = {"+strings.Join(labels, ", ")+"}")
	}
	if p.Node != "" {
		parts = append(parts, "node = "+quote(p.Node))
	}
	if p.Org != "" {
		parts = append(parts, "org = "+quote(p.Org))
	}
	w.line("place", "{"+strings.Join(parts, ", ")+"}")
}

// table writes the keys of a table in order of name, without those of skip.
func (w *canonicalWriter) table(t *spec.Table, skip []string) {
	entries := append([]*spec.Entry(nil), t.Entries...)
	sort.Slice(entries, func(i, j int) bool { return entries[i].Key < entries[j].Key })
	for _, e := range entries {
		if !containsName(skip, e.Key) {
			w.line(e.Key, valueText(e.Key, e.Value))
		}
	}
}

// unordered are the tables whose keys mean the same in every order; in the others the order is that of columns.
func unordered(key string) bool {
	switch key {
	case "window", "within", "place", "labels", "emit_empty":
		return true
	}
	return false
}

// valueText writes a value on one line.
func valueText(key string, v *spec.Value) string {
	var parts []string
	switch v.Kind {
	case spec.String:
		return quote(v.Str)
	case spec.Int:
		return strconv.FormatInt(v.Int, 10)
	case spec.Float:
		return floatText(v.Float)
	case spec.Bool:
		return strconv.FormatBool(v.Bool)
	case spec.DateTime:
		return v.Str
	case spec.Array:
		for _, e := range v.Array {
			parts = append(parts, valueText("", e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	entries := append([]*spec.Entry(nil), v.Table.Entries...)
	if unordered(key) {
		sort.Slice(entries, func(i, j int) bool { return entries[i].Key < entries[j].Key })
	}
	for _, e := range entries {
		parts = append(parts, keyText(e.Key)+" = "+valueText(e.Key, e.Value))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// floatText writes a float so that it is read back as the same float.
func floatText(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	switch {
	case strings.HasSuffix(s, "Inf"):
		return strings.ToLower(strings.TrimPrefix(s, "+"))
	case s == "NaN":
		return "nan"
	case !strings.ContainsAny(s, ".e"):
		return s + ".0"
	}
	return s
}

// keyText writes a key, bare where TOML allows it.
func keyText(key string) string {
	for i := 0; i < len(key); i++ {
		c := key[i]
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return quote(key)
		}
	}
	if key == "" {
		return `""`
	}
	return key
}

// quote writes a string as TOML has it.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f:
			b.WriteString(`\u` + strings.ToUpper(strconv.FormatInt(0x10000+int64(r), 16)[1:]))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
