package testnet

import (
	_ "embed" // the network-monitoring query
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fednode/query/spec"
)

//go:embed netmon.toml
var netmon string

// netmonFile names the built-in query in messages and in its deployment.
const netmonFile = "netmon.toml"

// How the built-in query reads files: those of Zeek by their names, others by the names of its columns.
const (
	zeekConns = `
connector = "file"
format = "zeek"
time = "ts"
max_out_of_order = "inf"
columns = { ts = "timestamp", src = { type = "string", field = "id.orig_h" }, dport = { type = "int64", field = "id.resp_p" } }
`
	plainConns = `
connector = "file"
time = "ts"
max_out_of_order = "inf"
columns = { ts = "timestamp", src = "string", dport = "int64" }
`
)

// diagram is a query file as it was written, with the one stream where data enters.
type diagram struct {
	file   string
	root   *spec.Table
	name   string // of the query
	stream string
	entry  *spec.Table // [streams.STREAM]
}

// readDiagram reads the query of a network, and changes the built-in one to read files where there are some.
func readDiagram(s *Spec) (*diagram, error) {
	file, src := netmonFile, []byte(netmon)
	if s.Query != "" {
		var err error
		if src, err = readLimited(s.Query, maxSpecBytes); err != nil {
			return nil, err
		}
		file = filepath.Base(s.Query)
	}
	d, err := parseDiagram(file, src)
	if err != nil || len(s.Data) == 0 {
		return d, err
	}
	if s.Query == "" {
		d.readFiles(s.Data[0])
	}
	return d, nil
}

func parseDiagram(file string, src []byte) (*diagram, error) {
	var p spec.Problems
	d := &diagram{file: file, root: spec.ParseTOML(file, src, os.LookupEnv, &p)}
	if d.root == nil || !p.OK() {
		return nil, p.Err()
	}
	if q := d.section("query"); q != nil {
		d.name = textOf(q, "name")
	}
	streams := d.section("streams")
	if d.name == "" || streams == nil {
		return nil, errorf(ErrSpec, "%s: expected a query with [query] name and a [streams.NAME] where data enters", file)
	}
	for _, e := range streams.Entries {
		if e.Value.Kind != spec.TableKind || textOf(e.Value.Table, "connector") == "node" {
			continue
		}
		if d.entry != nil {
			return nil, errorf(ErrSpec, "%s: data enter through %s and %s; a testnet deals out one stream", file, d.stream, e.Key)
		}
		d.stream, d.entry = e.Key, e.Value.Table
	}
	if d.entry == nil {
		return nil, errorf(ErrSpec, "%s: there is no stream where data enter", file)
	}
	return d, nil
}

// readFiles makes the built-in stream one of files such as the first.
func (d *diagram) readFiles(first string) {
	decl := plainConns
	if formatOf(first) == "zeek" {
		decl = zeekConns
	}
	var p spec.Problems
	d.entry = spec.ParseTOML(d.file, []byte(decl), nil, &p)
	d.section("streams").Put(d.stream, spec.Pos{}, &spec.Value{Kind: spec.TableKind, Table: d.entry})
}

func (d *diagram) section(name string) *spec.Table {
	if e := d.root.Lookup(name); e != nil && e.Value.Kind == spec.TableKind {
		return e.Value.Table
	}
	return nil
}

// needSection returns a section, made if it is not there.
func (d *diagram) needSection(name string) *spec.Table {
	if d.section(name) == nil {
		d.root.Put(name, spec.Pos{}, table())
	}
	return d.section(name)
}

func textOf(t *spec.Table, key string) string {
	if e := t.Lookup(key); e != nil && e.Value.Kind == spec.String {
		return e.Value.Str
	}
	return ""
}

// columns returns the names and types of the entry's columns.
func (d *diagram) columns() ([]pair, error) {
	e := d.entry.Lookup("columns")
	if e == nil || e.Value.Kind != spec.TableKind {
		return nil, errorf(ErrSpec, "%s: the stream %s declares no columns", d.file, d.stream)
	}
	var out []pair
	for _, c := range e.Value.Table.Entries {
		typ := c.Value
		if typ.Kind == spec.TableKind {
			typ = text(textOf(typ.Table, "type"))
			if c.Value.Table.Has("from") {
				typ = text("timestamp")
			}
		}
		out = append(out, pair{c.Key, typ})
	}
	return out, nil
}

// outputs returns the names of the query's outputs.
func (d *diagram) outputs() []string {
	var out []string
	if t := d.section("outputs"); t != nil {
		for _, e := range t.Entries {
			out = append(out, e.Key)
		}
	}
	return out
}

// distribute turns the query over one stream into one over the streams of all nodes where data enter: the stream becomes
// the union of theirs. What a partner's nodes have to send is cut down to the query's columns by a fragment that runs
// there. With replicas every fragment has so many, on any nodes of its organisation. A query that says itself how it is cut has the
// union in the fragment that reads it.
func (d *diagram) distribute(s *Spec, nodes []place) (string, error) {
	columns, err := d.columns()
	if err != nil {
		return "", err
	}
	streams, operators := d.section("streams"), d.needSection("operators")
	if operators.Has(d.stream) {
		return "", errorf(ErrSpec, "%s: an operator and the stream are both called %s", d.file, d.stream)
	}
	own := d.ownOperators()
	streams.Remove(d.stream)
	var inputs []string
	for _, n := range nodes {
		if n.feeds(s) {
			inputs = append(inputs, d.entrance(s, n, columns))
		}
	}
	if s.Lanes {
		d.putLanes(s, nodes, inputs, columns)
	}
	d.joinReader()
	operators.Put(d.stream, spec.Pos{}, table(pair{"kind", text("union")}, pair{"inputs", texts(inputs...)}))
	if s.Replicas > 1 && own != nil {
		d.needSection("fragments").Put(coreFragment, spec.Pos{}, homeFragment(s, nodes, append(own, d.stream)))
	}
	d.placeOutputs()
	return render(d.root), nil
}

// entrance puts the stream of a node, and for a partner's what cuts it down there; it returns what is read of it.
func (d *diagram) entrance(s *Spec, n place, columns []pair) string {
	streams, operators := d.section("streams"), d.needSection("operators")
	name := "at_" + d.labelOf(n)
	for streams.Has(name) || operators.Has(name) {
		name += "_"
	}
	streams.Put(name, spec.Pos{}, table(pair{"connector", text("node")}, pair{"stream", text(n.org + "/" + d.streamOf(n))},
		pair{"time", text(textOf(d.entry, "time"))}, pair{"columns", table(columns...)}))
	if n.orgIndex == 0 {
		return name
	}
	edge := edgePrefix + strings.TrimPrefix(name, "at_")
	operators.Put(edge, spec.Pos{}, passes(name, columns))
	d.needSection("fragments").Put(edge, spec.Pos{}, d.fragment(s, n, edge))
	return edge
}

// edgePrefix begins the name of what runs at a partner for what its node sends, lanePrefix that of its lane.
const (
	edgePrefix = "edge_"
	lanePrefix = "lane_"
)

// passes is an operator that lets all rows of an input pass.
func passes(input string, columns []pair) *spec.Value {
	return table(pair{"kind", text("map")}, pair{"input", text(input)}, pair{"columns", keep(columns)})
}

// putLanes puts a lane behind each input that comes from a partner, all of them in one fragment.
func (d *diagram) putLanes(s *Spec, nodes []place, inputs []string, columns []pair) {
	var lanes []string
	for i, edge := range inputs {
		if of, partner := strings.CutPrefix(edge, edgePrefix); partner {
			inputs[i] = lanePrefix + of
			lanes = append(lanes, inputs[i])
			d.section("operators").Put(inputs[i], spec.Pos{}, passes(edge, columns))
		}
	}
	if len(lanes) > 0 {
		d.section("fragments").Put(lanesFragment, spec.Pos{}, homeFragment(s, nodes, lanes))
	}
}

// homeFragment is a fragment of operators at the first organisation.
func homeFragment(s *Spec, nodes []place, operators []string) *spec.Value {
	return table(pair{"operators", texts(operators...)}, pair{"replicas", number(int64(max(1, s.Replicas)))}, pair{"place", corePlace(s, nodes)})
}

// corePlace is where the query's own operators run: on nodes of the first organisation where no data enter, if there are
// enough, so that a fault of theirs is none of the sources or the sinks.
func corePlace(s *Spec, nodes []place) *spec.Value {
	workers := 0
	for _, n := range nodes {
		if n.orgIndex == 0 && !n.feeds(s) {
			workers++
		}
	}
	org := pair{"org", text(nodes[0].org)}
	if workers < s.Replicas {
		return table(org)
	}
	return table(org, pair{"labels", table(pair{roleLabel, text(roleWork)})})
}

// coreFragment holds the operators that the query was written with, where there are replicas.
const coreFragment = "core"

// lanesFragment holds the lanes of a network that has them.
const lanesFragment = "lanes"

// ownOperators returns the operators of the query as it was written; nil if it says itself how they are cut.
func (d *diagram) ownOperators() []string {
	if d.section("fragments") != nil {
		return nil
	}
	names := []string{}
	for _, e := range d.section("operators").Entries {
		names = append(names, e.Key)
	}
	return names
}

// joinReader puts the union that takes the stream's place into the fragment of the query that reads it, if there is one alone.
func (d *diagram) joinReader() {
	fragments := d.section("fragments")
	if fragments == nil {
		return
	}
	var readers []*spec.Value
	for _, f := range fragments.Entries {
		if f.Value.Kind != spec.TableKind {
			continue
		}
		if list := f.Value.Table.Lookup("operators"); list != nil && slices.ContainsFunc(list.Value.Array, d.reads) {
			readers = append(readers, list.Value)
		}
	}
	if len(readers) == 1 {
		readers[0].Array = append(readers[0].Array, text(d.stream))
	}
}

// reads reports whether an operator, by its name, reads the stream.
func (d *diagram) reads(operator *spec.Value) bool {
	e := d.section("operators").Lookup(operator.Str)
	return e != nil && e.Value.Kind == spec.TableKind && textOf(e.Value.Table, "input") == d.stream
}

// fragment is [fragments.NAME] of what a partner's node has to send.
func (d *diagram) fragment(s *Spec, n place, operator string) *spec.Value {
	pairs := []pair{{"operators", texts(operator)}}
	if s.Replicas > 1 {
		return table(append(pairs, pair{"replicas", number(int64(s.Replicas))}, pair{"place", table(pair{"org", text(n.org)})})...)
	}
	return table(append(pairs, pair{"place", table(pair{"org", text(n.org)}, pair{"node", text(n.name)})})...)
}

// labelOf names a node in the distributed query: by its organisation, with a number from the second node on.
func (d *diagram) labelOf(n place) string {
	label := strings.ReplaceAll(n.org, "-", "_")
	if n.rank > 0 {
		label += fmt.Sprintf("_%d", n.rank+1)
	}
	return label
}

// keep maps columns to themselves.
func keep(columns []pair) *spec.Value {
	pairs := make([]pair, len(columns))
	for i, c := range columns {
		pairs[i] = pair{c.key, text(c.key)}
	}
	return table(pairs...)
}

// streamOf is the name of a node's stream in its organisation.
func (d *diagram) streamOf(n place) string {
	if n.rank == 0 {
		return d.stream
	}
	return fmt.Sprintf("%s_%d", d.stream, n.rank+1)
}

// placeOutputs lets files of results lie in the directory of the node that writes them.
func (d *diagram) placeOutputs() {
	outputs := d.section("outputs")
	if outputs == nil {
		return
	}
	for _, e := range outputs.Entries {
		if e.Value.Kind == spec.TableKind && textOf(e.Value.Table, "connector") == "file" {
			e.Value.Table.Put("path", spec.Pos{}, text(filepath.Base(textOf(e.Value.Table, "path"))))
		}
	}
}

// sourceOf is [streams.NAME] of a node: the query's stream, as this node has it. path is its share of the data, "" where
// they are generated.
func (d *diagram) sourceOf(s *Spec, n place, nodes int, path string) (*spec.Table, error) {
	t := spec.NewTable("", spec.Pos{})
	for _, e := range d.entry.Entries {
		if !slices.Contains([]string{"place", "path"}, e.Key) {
			t.Put(e.Key, e.Pos, e.Value)
		}
	}
	connector := textOf(t, "connector")
	switch {
	case path != "" && connector == "file":
		t.Put("path", spec.Pos{}, text(path))
		if s.Live == 0 {
			t.Remove("follow")
		}
	case path != "":
		return nil, errorf(ErrSpec, "%s: the stream %s reads from `%s`, not from a file; data files need `connector = \"file\"`", d.file, d.stream, connector)
	case connector != "generate":
		return nil, errorf(ErrSpec, "%s: the stream %s reads from `%s`: give the files to deal out with --data", d.file, d.stream, connector)
	default:
		d.generate(t, s, n, nodes)
	}
	return t, nil
}

// generate gives each node traffic of its own. The more nodes share the addresses that all have in common, the more
// such addresses there are, so that none of them becomes busy by that alone.
func (d *diagram) generate(t *spec.Table, s *Spec, n place, nodes int) {
	t.Put("seed", spec.Pos{}, number(int64(s.Seed)+int64(n.index)))
	t.Put("speed", spec.Pos{}, float(s.Speed))
	if s.Rows > 0 {
		t.Put("rows", spec.Pos{}, number(s.Rows))
	}
	if kind := textOf(t, "kind"); kind == "connections" || kind == "" {
		t.Put("org", spec.Pos{}, number(int64(n.orgIndex)))
		t.Put("sources", spec.Pos{}, number(int64(min(max(10_000, 3_500*nodes), 60_000))))
	}
}
