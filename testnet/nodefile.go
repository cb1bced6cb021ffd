package testnet

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"fednode/query/spec"
)

// configFile is the daemon's configuration in its directory.
const configFile = "node.toml"

// writeNodeFile writes the node.toml of a node: where it listens, its stream, an export to all partners, and leave for the
// first organisation to run fragments here. path is its share of the data, "" where they are generated.
func writeNodeFile(s *Spec, d *diagram, n place, nodes int, path string, at *ports) error {
	root := spec.NewTable("", spec.Pos{})
	put := func(key string, v *spec.Value) { root.Put(key, spec.Pos{}, v) }
	put("node", table(pair{"org", text(n.org)}, pair{"name", text(n.name)}))
	listen := []pair{{"p2p", text(at.p2p)}, {"api", text(at.api)}}
	if at.announce != "" {
		listen = append(listen, pair{"announce", texts(at.announce)})
	}
	put("listen", table(listen...))
	put("checkpoint", table(pair{"interval", text("1s")})) // a node that is killed should not have much to repeat
	put("limits", table(pair{"disk_reserve", text("64MiB")}))
	if n.feeds(s) {
		if err := putStream(s, d, n, nodes, path, put); err != nil {
			return err
		}
	}
	out := "# " + n.org + "/" + n.name + ", a node of a testnet.\n\n" + render(root)
	if n.orgIndex > 0 {
		out += fmt.Sprintf("\n[[federation.host]]\norg = %s\n", tomlString(s.Organisations[0]))
	}
	if err := os.WriteFile(filepath.Join(n.dir, configFile), []byte(out), 0o644); err != nil {
		return fmt.Errorf("testnet: %w", err)
	}
	return nil
}

// putStream puts the node's stream, and its export to all partners.
func putStream(s *Spec, d *diagram, n place, nodes int, path string, put func(string, *spec.Value)) error {
	source, err := d.sourceOf(s, n, nodes, path)
	if err != nil {
		return err
	}
	stream := d.streamOf(n)
	put("streams", table(pair{stream, &spec.Value{Kind: spec.TableKind, Table: source}}))
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
	put("exports", table(pair{stream, table(pair{"stream", text(stream)}, pair{"to", texts(partners...)},
		pair{"purpose", text("query " + d.name)}, pair{"columns", table(columns...)})}))
	return nil
}
