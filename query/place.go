package query

import (
	"sort"
	"strings"

	"fednode/query/spec"
)

// Place is where something runs: an organisation, a node of it, labels that the node must carry. The zero Place leaves
// it open. Places are compared as values.
type Place struct {
	Org  string
	Node string
	// Labels are "key=value" pairs in order, joined by commas.
	Labels string
}

// String prints org/node{labels}, "anywhere" for the zero Place.
func (p Place) String() string {
	var b strings.Builder
	b.WriteString(p.Org)
	if p.Node != "" {
		if p.Org != "" {
			b.WriteByte('/')
		}
		b.WriteString(p.Node)
	}
	if p.Labels != "" {
		b.WriteString("{" + p.Labels + "}")
	}
	if b.Len() == 0 {
		return "anywhere"
	}
	return b.String()
}

// IsZero reports whether the place is left open.
func (p Place) IsZero() bool { return p == Place{} }

// LabelMap returns the labels by key.
func (p Place) LabelMap() map[string]string {
	m := map[string]string{}
	for _, pair := range strings.Split(p.Labels, ",") {
		if k, v, ok := strings.Cut(pair, "="); ok {
			m[k] = v
		}
	}
	return m
}

// at returns the place with what it leaves open taken from home: no organisation is home's, and any node of home's
// organisation is home itself.
func (p Place) at(home Place) Place {
	if p.Org == "" {
		p.Org = home.Org
	}
	if p.Org == home.Org && p.Node == "" && p.Labels == "" {
		p.Node, p.Labels = home.Node, home.Labels
	}
	return p
}

// readPlace reads a place: a table of org, node and labels.
func readPlace(r *spec.Reader, key string) Place {
	t := r.Table(key, false)
	if t == nil {
		return Place{}
	}
	pr := spec.Read(t, r.P)
	p := Place{Org: pr.String("org", ""), Node: pr.String("node", "")}
	for _, k := range []string{"org", "node"} {
		if v := pr.String(k, ""); v != "" && !ValidName(v) {
			pr.Errorf(k, NameRule, "`%s` is not a name", v)
		}
	}
	if labels := pr.Table("labels", false); labels != nil {
		p.Labels = readLabels(labels, r.P)
	}
	pr.Done()
	return p
}

// readLabels joins labels in order of their keys.
func readLabels(t *spec.Table, p *spec.Problems) string {
	var pairs []string
	for _, e := range t.Entries {
		t.Lookup(e.Key)
		switch {
		case e.Value.Kind != spec.String:
			p.Add(e.Value.Pos, t.KeyPath(e.Key), "", "expected a string, got %s", e.Value.Kind)
		case strings.ContainsAny(e.Key+e.Value.Str, ",={}"):
			p.Add(e.Value.Pos, t.KeyPath(e.Key), "", "a label has no comma, equals sign or brace")
		default:
			pairs = append(pairs, e.Key+"="+e.Value.Str)
		}
	}
	sort.Strings(pairs)
	return strings.Join(pairs, ",")
}
