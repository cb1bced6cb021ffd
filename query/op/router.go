package op

import (
	"fmt"
	"slices"
	"strings"

	"fednode/query/expr"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// routerKind declares router: every row goes to the first route (or to every one) whose condition is true, and, if a
// name is given for it, to the rest when there is none. Outputs are read as "operator.route".
//
//	routes = [{ name = "web", where = "dport in (80, 443)" }, { name = "dns", where = "dport = 53" }]
//	mode = "first"      # or "all"
//	rest = "other"
func routerKind() Kind {
	return Kind{Name: "router", MinInputs: 1, MaxInputs: 1, Build: buildRouter}
}

// maxRoutes bounds the conditions that every row may have to pass.
const maxRoutes = 256

func buildRouter(r *spec.Reader, in []Input) *Plan {
	before := markProblems(r)
	d := &routerDecl{first: r.OneOf("mode", "first", "first", "all") == "first"}
	var ports []Port
	var detail []string
	add := func(pos spec.Pos, key, name string) {
		for _, p := range ports {
			if p.Name == name {
				r.P.Add(pos, r.T.KeyPath(key), "", "two routes are named `%s`", name)
			}
		}
		ports = append(ports, Port{Name: name, Schema: in[0].Schema})
	}
	if v := r.Value("routes", true, spec.Array); v != nil {
		if len(v.Array) == 0 || len(v.Array) > maxRoutes {
			r.Errorf("routes", "", "%d routes; expected 1 to %d", len(v.Array), maxRoutes)
		}
		for _, e := range v.Array {
			name, where, ok := readRoute(r, e, in[0])
			if !ok {
				continue
			}
			add(e.Pos, "routes", name)
			d.where = append(d.where, where)
			detail = append(detail, fmt.Sprintf("%s: %s", name, where))
		}
	}
	if r.T.Has("rest") {
		if name, ok := r.NeedString("rest"); ok {
			add(r.T.PosOf("rest"), "rest", name)
			d.rest = true
			detail = append(detail, name+": the rest")
		}
	}
	if before.more(r) {
		return nil
	}
	return &Plan{
		Kind:             "router",
		Ports:            ports,
		OrderInsensitive: true,
		Convergence:      Stateless,
		State:            "none",
		Reads:            [][]string{nil},
		Detail:           strings.Join(detail, ", "),
		New:              func() Operator { return newRouter(d) },
	}
}

func readRoute(r *spec.Reader, v *spec.Value, in Input) (name string, where *expr.Program, ok bool) {
	if v.Kind != spec.TableKind {
		r.P.Add(v.Pos, r.T.KeyPath("routes"), "", "expected { name, where }, got %s", v.Kind)
		return "", nil, false
	}
	sub := spec.Read(v.Table, r.P)
	name, ok = sub.NeedString("name")
	where = conditionOver(sub, "where", true, in)
	sub.Done()
	return name, where, ok && where != nil
}

// routerDecl is a checked declaration; the port of the rest, if there is one, comes after those of the routes.
type routerDecl struct {
	where []*expr.Program
	first bool
	rest  bool
}

type router struct {
	stateless
	d     *routerDecl
	evals []*expr.Eval
	sel   []uint32
	left  []uint32 // rows that no route has taken yet
	taken []bool   // per column row
	in    tuple.Batch
	out   tuple.Batch
}

func newRouter(d *routerDecl) *router {
	r := &router{d: d}
	for _, w := range d.where {
		r.evals = append(r.evals, w.NewEval())
	}
	return r
}

func (r *router) Process(_ int, b *tuple.Batch, out Out) error {
	r.counters.RowsIn += uint64(b.Rows())
	r.left = r.left[:0]
	r.taken = slices.Grow(r.taken[:0], len(b.Time))[:len(b.Time)]
	clear(r.taken)
	for i := range b.Rows() {
		r.left = append(r.left, uint32(b.Row(i)))
	}
	for port, e := range r.evals {
		r.in = *b
		if r.d.first {
			if len(r.left) == 0 {
				return nil
			}
			r.in.Sel = r.left
		}
		r.sel = e.Select(&r.in, r.sel[:0])
		if err := r.send(port, b, r.sel, out); err != nil {
			return err
		}
		r.leave(r.sel)
	}
	if !r.d.rest {
		return nil
	}
	return r.send(len(r.evals), b, r.left, out)
}

func (r *router) send(port int, b *tuple.Batch, rows []uint32, out Out) error {
	if len(rows) == 0 {
		return nil
	}
	r.counters.RowsOut += uint64(len(rows))
	r.out = tuple.Batch{Schema: b.Schema, Time: b.Time, Cols: b.Cols, Sel: rows}
	return out.Batch(port, &r.out)
}

// leave removes from the rows left those that a route took. In mode "all" a route also takes rows that others took
// before, so they are marked rather than merged.
func (r *router) leave(rows []uint32) {
	for _, row := range rows {
		r.taken[row] = true
	}
	kept := r.left[:0]
	for _, row := range r.left {
		if !r.taken[row] {
			kept = append(kept, row)
		}
	}
	r.left = kept
}

func (r *router) Fork() Operator { return newRouter(r.d) }

func (r *router) Counters() Counters {
	c := r.counters
	for _, e := range r.evals {
		c = evalCounters(c, e)
	}
	return c
}
