package expr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"fednode/query/tuple"
)

// Scripts: `table` gives columns "name type" and rows, cells parted by |, a cell of . being null; `eval` computes one
// expression a line for all rows; `select` lists the rows where a condition is true; `errors` shows what is wrong;
// `text` shows the canonical text.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/script", func(t *testing.T, path string) {
		var batch *tuple.Batch
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "table" {
				batch = readTable(t, d)
				return "ok\n"
			}
			var out strings.Builder
			for _, src := range strings.Split(d.Input, "\n") {
				fmt.Fprintf(&out, "%s\n", run(d.Cmd, src, batch))
			}
			return out.String()
		})
	})
}

func run(cmd, src string, b *tuple.Batch) string {
	p, errs := Compile(src, b.Schema)
	if cmd == "errors" || len(errs) > 0 {
		var lines []string
		for _, e := range errs {
			lines = append(lines, src+"\n  "+e.Error())
		}
		if p != nil {
			return "compiles to " + p.String()
		}
		return strings.Join(lines, "\n")
	}
	e := p.NewEval()
	switch cmd {
	case "text":
		return p.String()
	case "select":
		return fmt.Sprintf("%s: %v", src, e.Select(b, nil))
	}
	c := e.Eval(b)
	var cells []string
	for i := range c.Rows() {
		cell := string(c.AppendText(nil, i))
		switch {
		case c.IsNull(i):
			cell = "."
		case c.Type.Kind == tuple.String:
			cell = fmt.Sprintf("%q", cell)
		}
		cells = append(cells, cell)
	}
	line := fmt.Sprintf("%s: %v: %s", src, c.Type, strings.Join(cells, " | "))
	if n := e.Counters(); n != (Counters{}) {
		line += fmt.Sprintf("  (by zero %d, overflow %d)", n.DivByZero, n.Overflow)
	}
	return line
}

func readTable(t *testing.T, d *datadriven.TestData) *tuple.Batch {
	lines := strings.Split(d.Input, "\n")
	var fields []tuple.Field
	for _, col := range strings.Split(lines[0], "|") {
		words := strings.Fields(col)
		f := tuple.Field{Name: words[0]}
		var err error
		if f.Type, err = tuple.ParseType(words[1]); err != nil {
			d.Fatalf(t, "%v", err)
		}
		for form := tuple.Hashed; form <= tuple.PrefixPseudonym && len(words) > 2; form++ {
			if form.String() == words[2] {
				f.Form = form
			}
		}
		fields = append(fields, f)
	}
	bb := tuple.NewBatchBuilder(tuple.MustSchema(fields...))
	for r, line := range lines[1:] {
		for i, cell := range strings.Split(line, "|") {
			appendCell(t, d, bb, i, strings.TrimSpace(cell))
		}
		bb.EndRow(tuple.Time(r))
	}
	return bb.Take()
}

func appendCell(t *testing.T, d *datadriven.TestData, bb *tuple.BatchBuilder, i int, cell string) {
	typ := bb.Schema().Field(i).Type
	if cell == "." {
		bb.AppendNull(i)
		return
	}
	if typ.Kind == tuple.List {
		for _, w := range strings.Fields(cell) {
			bb.AppendElemBin(i, []byte(w))
		}
		bb.EndList(i)
		return
	}
	v, ok := readValue(cell, typ)
	switch k := typ.Kind; {
	case !ok:
		d.Fatalf(t, "cell %q is no %v", cell, typ)
	case k == tuple.Bool:
		bb.AppendBool(i, v.b)
	case k.IsInt():
		bb.AppendInt(i, v.i)
	case k == tuple.Float64:
		bb.AppendFloat(i, v.f)
	default:
		bb.AppendBin(i, v.s)
	}
}
