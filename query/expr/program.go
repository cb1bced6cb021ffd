package expr

import (
	"slices"

	"fednode/query/tuple"
)

// Program is a checked expression over one schema. It is immutable and may be shared.
type Program struct {
	root *plan
	text string
}

// Compile parses and type-checks src against a schema. All errors found are returned, positioned in src and sorted; the
// program is nil if there is one.
func Compile(src string, schema *tuple.Schema) (*Program, []*Error) {
	tree, err := parse(src)
	if err != nil {
		return nil, []*Error{err}
	}
	c := &checker{schema: schema}
	root := c.check(tree)
	if root != nil && root.lit == litNull {
		root = c.fail(root.pos, "write CAST(NULL AS int64), or the type you need", "the type of NULL is not known here")
	}
	if len(c.errs) > 0 {
		return nil, c.errs.sorted()
	}
	return &Program{root: root, text: tree.String()}, nil
}

// Type returns the type of the result.
func (p *Program) Type() tuple.Type { return p.root.typ }

// Columns returns the columns of the schema that the program reads, sorted.
func (p *Program) Columns() []int { return slices.Clone(p.root.cols) }

// Column reports whether the program is just one column, and which.
func (p *Program) Column() (int, bool) {
	if p.root.op == opCol {
		return p.root.col, true
	}
	return 0, false
}

// Form returns the form of the exported column whose values the result still carries, tuple.Plain if none.
func (p *Program) Form() tuple.Form { return p.root.form }

// String returns the canonical text: it compiles to an equal program.
func (p *Program) String() string { return p.text }

// NewEval returns the scratch memory of one user of the program. It is not for concurrent use.
func (p *Program) NewEval() *Eval { return newEval(p.root) }
