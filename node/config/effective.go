package config

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"fednode/query/spec"
)

// Setting is one setting in force.
type Setting struct {
	Path  string `json:"path"`
	Value string `json:"value"`
	// Origin is file:line:column, or "default".
	Origin string `json:"origin"`
	// Effect says when a change of it counts: "restart".
	Effect string `json:"effect"`
}

// Where a setting comes from that the file does not give, and when a change counts.
const (
	OriginDefault = "default"
	effectRestart = "restart"
)

// Effective lists every setting of the file that c was read from, defaults included: first those of Fields, then what
// the file itself names (labels, hosts, streams, exports) in its order. src and env are what Read was given.
func (c *Config) Effective(src []byte, env spec.Env) []Setting {
	root := spec.ParseTOML(c.File, src, env, &spec.Problems{})
	if root == nil {
		root = spec.NewTable("", spec.Pos{})
	}
	origins := make(map[string]spec.Pos)
	var leaves []Setting
	walk(root, func(path string, e *spec.Entry) {
		origins[path] = e.Pos
		leaves = append(leaves, Setting{Path: path, Value: plain(e.Value), Origin: e.Pos.String(), Effect: effectRestart})
	})
	var out []Setting
	named := make(map[string]bool)
	for _, f := range Fields() {
		named[f.Path] = true
		s := Setting{Path: f.Path, Value: f.Value(c), Origin: OriginDefault, Effect: effectRestart}
		if pos, ok := origins[f.Path]; ok {
			s.Origin = pos.String()
		}
		out = append(out, s)
	}
	for _, l := range leaves {
		if !named[l.Path] {
			out = append(out, l)
		}
	}
	return append(out, c.hostDefaults(origins)...)
}

// hostDefaults are the keys of [[federation.host]] that the file leaves out.
func (c *Config) hostDefaults(origins map[string]spec.Pos) (out []Setting) {
	for i, h := range c.Hosts {
		for _, s := range []Setting{
			{Path: "operators", Value: "all"},
			{Path: "max_fragments", Value: strconv.Itoa(h.MaxFragments)},
			{Path: "max_memory", Value: size(h.MaxMemory)},
		} {
			s.Path = fmt.Sprintf("federation.host[%d].%s", i, s.Path)
			s.Origin, s.Effect = OriginDefault, effectRestart
			if _, given := origins[s.Path]; !given {
				out = append(out, s)
			}
		}
	}
	return out
}

// walk calls f for every key that holds no table of its own section; tables in arrays count with their number.
func walk(t *spec.Table, f func(path string, e *spec.Entry)) {
	for _, e := range t.Entries {
		path := t.KeyPath(e.Key)
		switch {
		case e.Value.Kind == spec.TableKind:
			walk(e.Value.Table, f)
		case e.Value.Kind == spec.Array && len(e.Value.Array) > 0 && e.Value.Array[0].Kind == spec.TableKind:
			walkArray(path, e.Value.Array, f)
		default:
			f(path, e)
		}
	}
}

// walkArray names the keys of the i-th table path[i].key, whatever path the tables carry themselves.
func walkArray(path string, tables []*spec.Value, f func(path string, e *spec.Entry)) {
	for i, v := range tables {
		if v.Kind != spec.TableKind {
			continue
		}
		walk(v.Table, func(inner string, e *spec.Entry) {
			inner = strings.TrimPrefix(strings.TrimPrefix(inner, v.Table.Path), ".")
			f(fmt.Sprintf("%s[%d].%s", path, i, inner), e)
		})
	}
}

// plain prints a value as people write it, strings without quotes.
func plain(v *spec.Value) string {
	switch v.Kind {
	case spec.Int:
		return strconv.FormatInt(v.Int, 10)
	case spec.Float:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	case spec.Bool:
		return strconv.FormatBool(v.Bool)
	case spec.Array:
		parts := make([]string, len(v.Array))
		for i, e := range v.Array {
			parts[i] = plain(e)
		}
		return strings.Join(parts, ", ")
	case spec.TableKind:
		parts := make([]string, len(v.Table.Entries))
		for i, e := range v.Table.Entries {
			parts[i] = e.Key + " = " + plain(e.Value)
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return v.Str
}

// relative undoes what path did, so that a value prints as it is written.
func (c *Config) relative(p string) string {
	if p == "" {
		return ""
	}
	if rel, err := filepath.Rel(c.Dir, p); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return p
}

func (c *Config) relativeUnix(a string) string {
	if path, ok := cutUnix(a); ok {
		return "unix:" + c.relative(path)
	}
	return a
}
