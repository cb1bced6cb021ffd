package op

import (
	"fmt"
	"strings"

	"fednode/query/expr"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// joinKind declares join: pairs of rows of two streams that agree in their keys, lie in one window or near in time, and
// satisfy a condition.
//
//	left = "active"
//	right = "scanning"
//	on = ["src"]                       # or { lcol = "rcol" }; a null key matches nothing
//	type = "inner"                     # left, full, semi, anti
//	window = "same"                    # equal window_start and window_end; or within, an interval:
//	within = "5s"                      # or { before = "30d", after = "0s" }: right.stime in [left - before, left + after]
//	where = "left.a < right.b"         # beyond the keys
//	limit = 1_000_000                  # rows of both sides that may still find partners at one instant
//	columns = { conns = "left.conns" } # in place of the columns that are neither window nor key
//
// A pair has the stime of its later row, a semi-joined row that of its first match; a row that is emitted for lack of a
// match has the last instant at which one was possible. Order: stime, window, keys, place in left, place in right.
func joinKind() Kind {
	return Kind{Name: "join", MinInputs: 2, MaxInputs: 2, TwoSided: true, Build: buildJoin}
}

// joinType is which rows a join yields.
type joinType uint8

const (
	innerJoin joinType = iota
	leftJoin
	fullJoin
	semiJoin
	antiJoin
)

var joinTypeNames = [...]string{"inner", "left", "full", "semi", "anti"}

// joinDecl is a checked declaration.
type joinDecl struct {
	typ    joinType
	keys   [2][]int // per side the columns compared, windows first
	same   bool     // the first two keys are window_start and window_end
	before int64    // a right row may be as much earlier than the left one, in microseconds
	after  int64    // or as much later
	where  *expr.Program
	limit  int64 // rows of both sides that may still find partners, 0 for no limit
	in     [2]*tuple.Schema
	pair   *pairSchema
	layout *joinLayout
}

func buildJoin(r *spec.Reader, in []Input) *Plan {
	before := markProblems(r)
	d := &joinDecl{in: [2]*tuple.Schema{in[0].Schema, in[1].Schema}}
	d.typ = readJoinType(r)
	d.readTime(r, in)
	d.readKeys(r, in)
	d.limit = r.Int("limit", 0, 1, 1<<40)
	if before.more(r) {
		know(r, "where", "columns") // they cannot be judged without the keys, but are no unknown keys
		return nil
	}
	d.pair = newPairSchema(d)
	d.where = condition(r, "where", false, d.pair.schema)
	d.layout = readJoinLayout(r, d, in)
	if before.more(r) {
		return nil
	}
	span := d.before + d.after
	return &Plan{
		Kind:        "join",
		Ports:       []Port{{Schema: d.layout.schema}},
		Convergence: Convergent,
		Span:        max(span, 1),
		State:       d.stateText(),
		Blocking:    d.typ != fullJoin,
		Reads:       d.reads(),
		Detail:      d.detail(),
		New:         func() Operator { return newJoin(d) },
	}
}

func readJoinType(r *spec.Reader) joinType {
	name := r.OneOf("type", "inner", joinTypeNames[:]...)
	for i, n := range joinTypeNames {
		if n == name {
			return joinType(i)
		}
	}
	return innerJoin
}

// maxSpan bounds declared times: stimes with one added stay far from the ends of the range.
const maxSpan = 100 * 366 * tuple.Day

// readTime reads which rows are near enough: window or within.
func (d *joinDecl) readTime(r *spec.Reader, in []Input) {
	window := r.Value("window", false, spec.String, spec.TableKind)
	within := r.Value("within", false, spec.String, spec.TableKind)
	switch {
	case window != nil && within != nil:
		r.Errorf("within", "keep one of them", "`window` and `within` exclude each other")
	case window != nil && window.Kind == spec.String:
		if r.OneOf("window", "same", "same") == "same" {
			d.same = true
			d.readWindows(r, in)
		}
	case window != nil:
		d.readInterval(r, window.Table)
	case within != nil && within.Kind == spec.String:
		d.before = r.Duration("within", 0, 0, maxSpan)
		d.after = d.before
	case within != nil:
		d.readInterval(r, within.Table)
	case !r.T.Has("window") && !r.T.Has("within"):
		r.P.Add(r.T.Pos, r.T.KeyPath("within"), "add `window = \"same\"`, or how far apart rows may lie: `within = \"5s\"`",
			"nothing bounds the state: every row could match one that comes much later")
	}
}

func (d *joinDecl) readInterval(r *spec.Reader, t *spec.Table) {
	sub := spec.Read(t, r.P)
	if !t.Has("before") && !t.Has("after") {
		r.P.Add(t.Pos, t.Path, "as in { before = \"30d\", after = \"0s\" }", "`before` or `after` is missing")
	}
	d.before = sub.Duration("before", 0, 0, maxSpan)
	d.after = sub.Duration("after", 0, 0, maxSpan)
	sub.Done()
}

func (d *joinDecl) readWindows(r *spec.Reader, in []Input) {
	for side, input := range in {
		if start, end, ok := windowColumns(r, "window", input); ok {
			d.keys[side] = append(d.keys[side], start, end)
		}
	}
}

func (d *joinDecl) readKeys(r *spec.Reader, in []Input) {
	on := r.Value("on", true, spec.Array, spec.String, spec.TableKind)
	if on == nil {
		return
	}
	if on.Kind == spec.TableKind {
		for _, e := range on.Table.Entries {
			on.Table.Lookup(e.Key)
			if e.Value.Kind != spec.String {
				r.P.Add(e.Value.Pos, on.Table.KeyPath(e.Key), "", "expected the name of a column of `%s`, got %s", in[1].Name, e.Value.Kind)
				continue
			}
			d.readKey(r, in, keyNames{left: e.Key, leftPos: e.Pos, right: e.Value.Str, rightPos: e.Value.Pos})
		}
	} else {
		for _, v := range r.Strings("on", true) {
			d.readKey(r, in, keyNames{left: v.Str, leftPos: v.Pos, right: v.Str, rightPos: v.Pos})
		}
	}
	if len(on.Array) == 0 && on.Table == nil && on.Str == "" || on.Table != nil && len(on.Table.Entries) == 0 {
		r.Errorf("on", "name the columns that must be equal", "`on` is empty, so every row would match every other")
	}
}

// keyNames are the two columns of one equality.
type keyNames struct {
	left, right       string
	leftPos, rightPos spec.Pos
}

func (d *joinDecl) readKey(r *spec.Reader, in []Input, k keyNames) {
	left, okLeft := columnNamed(r, "on", k.leftPos, k.left, in[0])
	right, okRight := columnNamed(r, "on", k.rightPos, k.right, in[1])
	if !okLeft || !okRight {
		return
	}
	if contains(d.keys[0], left) {
		if !d.same || !contains(d.keys[0][:2], left) { // naming the window once more changes nothing
			r.P.Add(k.leftPos, r.T.KeyPath("on"), "", "the column `%s` is named twice", k.left)
		}
		return
	}
	if msg, hint := comparable(in[0].Schema.Field(left), in[1].Schema.Field(right)); msg != "" {
		r.P.Add(k.leftPos, r.T.KeyPath("on"), hint, "`%s` of `%s` and `%s` of `%s` cannot be equal: %s", k.left, in[0].Name, k.right, in[1].Name, msg)
		return
	}
	d.keys[0], d.keys[1] = append(d.keys[0], left), append(d.keys[1], right)
}

// comparable says why values of two columns mean different things, and what to do about it; "" if they do not.
func comparable(a, b tuple.Field) (msg, hint string) {
	switch {
	case a.Type != b.Type:
		return fmt.Sprintf("one is %v, the other %v", a.Type, b.Type), "convert one with a map"
	case a.Form != b.Form:
		return fmt.Sprintf("one is %s, the other %s", formText(a), formText(b)), "ask for an export in the same form"
	case a.Form != tuple.Plain && a.Key == ownKey:
		return "pseudonyms under a key of their owner's own match nothing else", "ask for an export under a contract's key"
	case a.Key != b.Key:
		return fmt.Sprintf("one is a %s, the other a %s", formText(a), formText(b)), "ask for exports under one key and version"
	}
	return "", ""
}

// ownKey names a key that nobody shares.
const ownKey = "own"

func (d *joinDecl) stateText() string {
	if d.same {
		return "rows of windows that are not complete on both sides"
	}
	return fmt.Sprintf("left rows of the last %s, right rows of the last %s", spanText(d.after), spanText(d.before))
}

func spanText(us int64) string { return string(tuple.AppendDuration(nil, us)) }

func (d *joinDecl) reads() [][]string {
	used := [2][]int{d.keys[0], d.keys[1]}
	for _, f := range d.layout.sources {
		used[f.side] = append(used[f.side][:len(used[f.side]):len(used[f.side])], f.column)
	}
	if d.where != nil {
		for _, c := range d.where.Columns() {
			f := d.pair.from[c]
			used[f.side] = append(used[f.side][:len(used[f.side]):len(used[f.side])], f.column)
		}
	}
	return [][]string{namesOf(d.in[0], used[0]), namesOf(d.in[1], used[1])}
}

func (d *joinDecl) detail() string {
	var b strings.Builder
	b.WriteString(joinTypeNames[d.typ] + " on ")
	keys := d.keys
	if d.same {
		keys = [2][]int{d.keys[0][2:], d.keys[1][2:]}
	}
	for i := range keys[0] {
		if i > 0 {
			b.WriteString(", ")
		}
		l, r := d.in[0].Field(keys[0][i]).Name, d.in[1].Field(keys[1][i]).Name
		b.WriteString(l)
		if l != r {
			b.WriteString(" = " + r)
		}
	}
	if d.same {
		b.WriteString(" in the same window")
	} else {
		fmt.Fprintf(&b, " within %s before and %s after", spanText(d.before), spanText(d.after))
	}
	if d.where != nil {
		b.WriteString(" where " + d.where.String())
	}
	return b.String()
}
