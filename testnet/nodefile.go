package testnet

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fednode/query/spec"
)

// configFile is the daemon's configuration in its directory.
const configFile = "node.toml"

// Labels of nodes: data enter at some, the others are there to work.
const (
	roleLabel  = "role"
	roleSource = "source"
	roleWork   = "work"
)

// writeNodeFile writes the node.toml of a node: where it listens, its stream, an export to all partners, and leave for the
// first organisation to run fragments here. path is its share of the data, "" where they are generated.
func writeNodeFile(s *Spec, d *diagram, n place, all []place, path string, at *ports) error {
	root := spec.NewTable("", spec.Pos{})
	put := func(key string, v *spec.Value) { root.Put(key, spec.Pos{}, v) }
	role := roleWork
	if n.feeds(s) {
		role = roleSource
	}
	put("node", table(pair{"org", text(n.org)}, pair{"name", text(n.name)}, pair{"labels", table(pair{roleLabel, text(role)})}))
	listen := []pair{{"p2p", text(at.p2p)}, {"api", text(at.api)}}
	if at.announce != "" {
		listen = append(listen, pair{"announce", texts(at.announce)})
	}
	put("listen", table(listen...))
	put("checkpoint", table(pair{"interval", text("1s")})) // a node that is killed should not have much to repeat
	put("limits", limitsOf(s))
	streams, exports := spec.NewTable("", spec.Pos{}), spec.NewTable("", spec.Pos{})
	if n.feeds(s) {
		source, err := d.sourceOf(s, n, len(all), path)
		if err != nil {
			return err
		}
		streams.Put(d.streamOf(n), spec.Pos{}, &spec.Value{Kind: spec.TableKind, Table: source})
	}
	if s.Replicas > 1 {
		if err := d.putElsewhere(s, n, all, streams); err != nil {
			return err
		}
	}
	if err := d.putExports(s, n, streams, exports); err != nil {
		return err
	}
	for _, t := range []pair{{"streams", &spec.Value{Kind: spec.TableKind, Table: streams}}, {"exports", &spec.Value{Kind: spec.TableKind, Table: exports}}} {
		if len(t.value.Table.Entries) > 0 {
			put(t.key, t.value)
		}
	}
	out := "# " + n.org + "/" + n.name + ", a node of a testnet.\n\n" + render(root)
	if n.orgIndex > 0 {
		out += fmt.Sprintf("\n[[federation.host]]\norg = %s\n", tomlString(s.Organisations[0]))
	}
	out += s.Config
	if err := os.WriteFile(filepath.Join(n.dir, configFile), []byte(out), 0o644); err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	return nil
}

// limitsOf returns [limits]: those of the spec, and a reserve that a small disk has.
func limitsOf(s *Spec) *spec.Value {
	all := map[string]string{"disk_reserve": "64MiB"}
	maps.Copy(all, s.Limits)
	var out, partner []pair
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if of, ok := strings.CutPrefix(key, limitsPartner+"."); ok {
			partner = append(partner, pair{of, text(all[key])})
			continue
		}
		out = append(out, pair{key, text(all[key])})
	}
	if len(partner) > 0 {
		out = append(out, pair{limitsPartner, table(partner...)})
	}
	return table(out...)
}

// limitsPartner is the table of limits that hold for each partner.
const limitsPartner = "partner"

// putElsewhere puts the streams of the organisation's other nodes: a replica that runs here reads them, and their exports
// say what of its results may leave.
func (d *diagram) putElsewhere(s *Spec, n place, all []place, streams *spec.Table) error {
	columns, err := d.columns()
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.org == n.org && p.rank != n.rank && p.feeds(s) {
			streams.Put(d.streamOf(p), spec.Pos{}, table(pair{"connector", text("node")}, pair{"stream", text(n.org + "/" + d.streamOf(p))},
				pair{"time", text(textOf(d.entry, "time"))}, pair{"columns", table(columns...)}))
		}
	}
	return nil
}

// putExports puts an export to all partners of each stream.
func (d *diagram) putExports(s *Spec, n place, streams, exports *spec.Table) error {
	partners := slices.DeleteFunc(slices.Clone(s.Organisations), func(o string) bool { return o == n.org })
	if len(partners) == 0 {
		return nil
	}
	columns, err := d.columns()
	if err != nil {
		return err
	}
	for i := range columns {
		columns[i].value = text("keep")
	}
	for _, e := range streams.Entries {
		exports.Put(e.Key, spec.Pos{}, table(pair{"stream", text(e.Key)}, pair{"to", texts(partners...)},
			pair{"purpose", text("query " + d.name)}, pair{"columns", table(columns...)}))
	}
	return nil
}
