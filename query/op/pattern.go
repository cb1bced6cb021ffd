package op

import (
	"fmt"
	"strings"

	"fednode/query/expr"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// patternKind declares pattern: sequences of rows of one key, each step a condition that holds for so many rows, all
// within a time. Rows that no step wants are passed over.
//
//	key = ["user"]
//	within = "10m"          # from the first row of a match to its last, that included
//	steps = [{ name = "fail", where = "not ok", min = 3, max = 100 }, { name = "in", where = "ok" }]
//	select = { fails = "count(fail)", since = "first(fail.ts)", from = "in.src" }
//	after = "past-last"     # a row is part of one match; "next": of every match that begins elsewhere
//
// A step takes min to max rows, one if neither is given, and max is min if only that is. A row goes to the step at hand
// while that has room and its condition holds, else to the next one. A match is complete as soon as its last step has
// min rows, and has that row's stime. Its columns are the key, then those selected: count(step), step.column or
// last(step.column), and first(step.column).
func patternKind() Kind {
	return Kind{Name: "pattern", MinInputs: 1, MaxInputs: 1, Build: buildPattern}
}

// Bounds of a pattern, and of the attempts that one key may have open.
const (
	maxSteps    = 64
	maxRepeat   = 1 << 20
	maxAttempts = 10_000
)

// patternDecl is a checked declaration.
type patternDecl struct {
	schema   *tuple.Schema
	key      []int
	types    []tuple.Type // of the key
	within   int64
	pastLast bool
	limit    int64
	steps    []patternStep
	picks    []patternPick
}

type patternStep struct {
	name     string
	where    *expr.Program
	min, max int64
}

// patternPick is one selected value of a step.
type patternPick struct {
	step   int
	count  bool // how many rows the step took
	first  bool // of its first row, else of its last
	column int
	typ    tuple.Type
}

func buildPattern(r *spec.Reader, in []Input) *Plan {
	before := markProblems(r)
	d := &patternDecl{key: columnList(r, "key", true, in[0])}
	d.types = typesOf(in[0].Schema, d.key)
	d.within = needTime(r, "within", "a match could take for ever")
	d.pastLast = r.OneOf("after", "past-last", "past-last", "next") == "past-last"
	d.limit = r.Int("limit", 0, 1, 1<<40)
	d.readSteps(r, in[0])
	var fields []tuple.Field
	for _, c := range d.key {
		fields = append(fields, in[0].Schema.Field(c))
	}
	fields = d.readSelect(r, in[0], fields)
	if before.more(r) {
		return nil
	}
	s, err := tuple.NewSchema(fields...)
	if err != nil {
		r.Errorf("select", "choose another name", "%v", err)
		return nil
	}
	d.schema = s
	p := &Plan{
		Kind:        "pattern",
		Ports:       []Port{{Schema: s}},
		Convergence: Convergent,
		Span:        d.within + 1,
		State:       "attempts of the last " + spanText(d.within),
		Reads:       [][]string{nil},
		Detail:      d.detail(in[0].Schema),
		New:         func() Operator { return newPattern(d) },
	}
	if d.pastLast { // which rows are free for a match depends on all matches before it
		p.Convergence, p.Span = Divergent, -1
	}
	return p
}

func (d *patternDecl) readSteps(r *spec.Reader, in Input) {
	v := r.Value("steps", true, spec.Array)
	if v == nil {
		return
	}
	if len(v.Array) == 0 || len(v.Array) > maxSteps {
		r.Errorf("steps", "", "%d steps; expected 1 to %d", len(v.Array), maxSteps)
	}
	for _, e := range v.Array {
		if e.Kind != spec.TableKind {
			r.P.Add(e.Pos, r.T.KeyPath("steps"), "", "expected { name, where }, got %s", e.Kind)
			continue
		}
		d.readStep(spec.Read(e.Table, r.P), in)
	}
}

func (d *patternDecl) readStep(r *spec.Reader, in Input) {
	s := patternStep{min: r.Int("min", 1, 1, maxRepeat)}
	s.max = r.Int("max", s.min, 1, maxRepeat)
	if s.max < s.min {
		r.Errorf("max", "", "a step of %d to %d rows takes none", s.min, s.max)
	}
	s.name, _ = r.NeedString("name")
	if strings.ContainsAny(s.name, ".()") {
		r.Errorf("name", "", "the name of a step has no dots or parentheses")
	}
	for _, other := range d.steps {
		if other.name == s.name && s.name != "" {
			r.Errorf("name", "", "two steps are named `%s`", s.name)
		}
	}
	s.where = conditionOver(r, "where", true, in)
	r.Done()
	d.steps = append(d.steps, s)
}

func (d *patternDecl) detail(in *tuple.Schema) string {
	steps := make([]string, len(d.steps))
	for i, s := range d.steps {
		steps[i] = s.name
		if s.min != 1 || s.max != 1 {
			steps[i] += fmt.Sprintf("{%d,%d}", s.min, s.max)
		}
		steps[i] += " (" + s.where.String() + ")"
	}
	after := "past the last row"
	if !d.pastLast {
		after = "from every row"
	}
	return fmt.Sprintf("by %s within %s: %s, %s", listNames(in, d.key), spanText(d.within), strings.Join(steps, ", then "), after)
}
