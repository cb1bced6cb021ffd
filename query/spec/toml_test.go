package spec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// environment is what the tests' files may refer to.
func environment(name string) (string, bool) {
	v, ok := map[string]string{"DIR": "/data", "EMPTY": "", "LONG": strings.Repeat("x", 40)}[name]
	return v, ok
}

// parse reads a file and returns its tree and the problems as text.
func parse(src string) (*Table, string) {
	var p Problems
	t := ParseTOML("q.toml", []byte(src), environment, &p)
	if err := p.Err(); err != nil {
		return t, err.Error()
	}
	return t, ""
}

// render prints a tree with the place of each value.
func render(v *Value) string {
	switch v.Kind {
	case String, DateTime:
		return fmt.Sprintf("%d:%d %q", v.Pos.Line, v.Pos.Column, v.Str)
	case Int:
		return fmt.Sprintf("%d:%d %d", v.Pos.Line, v.Pos.Column, v.Int)
	case Float:
		return fmt.Sprintf("%d:%d %g", v.Pos.Line, v.Pos.Column, v.Float)
	case Bool:
		return fmt.Sprintf("%d:%d %t", v.Pos.Line, v.Pos.Column, v.Bool)
	case Array:
		parts := []string{}
		for _, e := range v.Array {
			parts = append(parts, render(e))
		}
		return fmt.Sprintf("%d:%d [%s]", v.Pos.Line, v.Pos.Column, strings.Join(parts, ", "))
	}
	return fmt.Sprintf("%d:%d %s", v.Pos.Line, v.Pos.Column, renderTable(v.Table))
}

func renderTable(t *Table) string {
	parts := []string{}
	for _, e := range t.Entries {
		parts = append(parts, fmt.Sprintf("%d:%d %s = %s", e.Pos.Line, e.Pos.Column, e.Key, render(e.Value)))
	}
	return "{" + strings.Join(parts, "; ") + "}"
}

func TestParseTOMLPlaces(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"scalars", "a = \"x\"\n  b = -7\nc=1_000\nd = 0x1f\ne = 2.5e3\nf = true\ng = 2026-11-29",
			`{1:1 a = 1:5 "x"; 2:3 b = 2:7 -7; 3:1 c = 3:3 1000; 4:1 d = 4:5 31; 5:1 e = 5:5 2500; 6:1 f = 6:5 true; 7:1 g = 7:5 "2026-11-29"}`},
		{"tables keep order", "[b]\nx = 1\n[a.c]\ny = 2\n[a]\nz = 3",
			`{1:2 b = 1:2 {2:1 x = 2:5 1}; 5:2 a = 5:2 {3:4 c = 3:4 {4:1 y = 4:5 2}; 6:1 z = 6:5 3}}`},
		{"dotted keys", "a.b.c = 1\na.b.d = 2", `{1:1 a = 1:1 {1:3 b = 1:3 {1:5 c = 1:9 1; 2:5 d = 2:9 2}}}`},
		{"arrays", "a = [ 1, # one\n  [2, 3],\n  {x = 4} , ]\nb = [ ]",
			`{1:1 a = 1:5 [1:7 1, 2:3 [2:4 2, 2:7 3], 3:3 {3:4 x = 3:8 4}]; 4:1 b = 4:5 []}`},
		{"inline tables", "a = { b.c = 1, d = { e = \"f\" } }",
			`{1:1 a = 1:5 {1:7 b = 1:7 {1:9 c = 1:13 1}; 1:16 d = 1:20 {1:22 e = 1:26 "f"}}}`},
		{"arrays of tables", "[[r]]\nn = 1\n[[r]]\nn = 2\n[r.s]\nm = 3",
			`{1:3 r = 1:3 [1:3 {2:1 n = 2:5 1}, 3:3 {4:1 n = 4:5 2; 5:4 s = 5:4 {6:1 m = 6:5 3}}]}`},
		{"a byte order mark and CRLF", "\ufeffa = 1\r\nb = 2\r\n", `{1:4 a = 1:8 1; 2:1 b = 2:5 2}`},
		{"variables", "p = \"${DIR}/x\"\nq = \"${NONE:-d}\"\nr = '$${DIR} $5'\ns = \"${EMPTY:-e}${EMPTY}\"",
			`{1:1 p = 1:5 "/data/x"; 2:1 q = 2:5 "d"; 3:1 r = 3:5 "${DIR} $5"; 4:1 s = 4:5 "e"}`},
	} {
		tree, errs := parse(c.src)
		require.Empty(t, errs, c.name)
		require.Equal(t, c.want, renderTable(tree), c.name)
	}
}

func TestParseTOMLPaths(t *testing.T) {
	tree, errs := parse("[[a.r]]\nx = { y = [ { z = 1 } ] }")
	require.Empty(t, errs)
	r := tree.Lookup("a").Value.Table.Lookup("r").Value.Array[0].Table
	require.Equal(t, "a.r[0]", r.Path)
	x := r.Lookup("x").Value.Table
	require.Equal(t, "a.r[0].x", x.Path)
	require.Equal(t, "a.r[0].x.y[0]", x.Lookup("y").Value.Array[0].Table.Path)
}

// A value's own text is addressed byte by byte: an expression's error points into the file whatever the quoting.
func TestValueAt(t *testing.T) {
	for _, c := range []struct {
		name, src string
		find      string // in the value's text
		want      string
	}{
		{"plain", `w = "conns > x"`, "x", "1:14"},
		{"literal", `w = 'a \ x'`, "x", "1:10"},
		{"escapes", `w = "\"a\" \u00e9 > x"`, "x", "1:21"},
		{"long escape", `w = "\U0001F600\tx"`, "x", "1:18"},
		{"several lines", "w = \"\"\"\na >\n  x\"\"\"", "x", "3:3"},
		{"line ending backslash", "w = \"\"\"a \\\n   \n  > x\"\"\"", "x", "3:5"},
		{"literal lines", "w = '''\r\na\r\nx'''", "x", "3:1"},
		{"after a variable", `w = "${DIR} > x"`, "x", "1:15"},
		{"in a variable", `w = "a ${LONG} b"`, "xxx", "1:8"},
		{"escape then variable then escape", `w = "\t${DIR}\t>z"`, "z", "1:17"},
	} {
		tree, errs := parse(c.src)
		require.Empty(t, errs, c.name)
		v := tree.Lookup("w").Value
		at := v.At(strings.Index(v.Str, c.find))
		require.Equal(t, c.want, fmt.Sprintf("%d:%d", at.Line, at.Column), c.name)
	}
}

func TestParseTOMLProblems(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"unquoted text", "kind = filter", "q.toml:1:8: expected a value; text is quoted: kind = \"filter\""},
		{"unquoted duration", "[w]\ntumbling = 60s", "q.toml:2:14: strings must be quoted; text is quoted: tumbling = \"60s\""},
		{"colon", "\nwindwo: 5s", "q.toml:2:7: expected '=' after key; a key and its value are joined by `=`: windwo = \"5s\""},
		{"no value", "a =\nb = 1", "q.toml:1:4: "},
		{"several", "a = x\nb = 1\n[c\nd = 2\n[e]\nf = yes", "q.toml:1:5: unexpected character U+0078 'x' at start of value; text is quoted: a = \"x\""},
		{"unclosed array", "b = 1\na = [1,\n 2,\n", "q.toml:2:1: array is incomplete (it begins here)"},
		{"unclosed text", "a = \"\"\"x\ny = 1\n", "(it begins here)"},
		{"twice", "a = 1\na = 2", "q.toml:2:1: a: `a` is there twice; the first is at q.toml:1:1"},
		{"table twice", "[o.x]\n[o.x]", "q.toml:2:4: o.x: `x` is there twice; the first, a table, is at q.toml:1:4"},
		{"inline is closed", "a = {b = 1}\n[a.c]", "q.toml:2:2: a: `a` is there twice"},
		{"dotted over header", "[a]\nb = 1\n[c]\n[a.b.d]", "q.toml:4:4: a.b: `b` is there twice; the first, an integer, is at q.toml:2:1"},
		{"static array", "a = [1]\n[[a]]", "q.toml:2:3: a: `a` is there twice"},
		{"twice in an inline table", "a = {b = 1, b = 2}", "q.toml:1:13: a.b: `b` is there twice; the first is at q.toml:1:6"},
		{"beyond int64", "a = 9223372036854775808", "q.toml:1:5: a: `9223372036854775808` is not an integer in the range of int64; integers have 64 bits"},
		{"no variable", "p = \"x/${NOPE}/y\"", "q.toml:1:8: p: the variable NOPE is not set in the environment; set it, or give a default: ${NOPE:-…}"},
		{"no brace", "p = \"${NOPE\"", "q.toml:1:6: p: `${` has no closing brace"},
		{"no name", "p = \"${a b}\"", "`a b` is not the name of a variable"},
		{"NUL", "a = \"x\x00\"", "q.toml:1:"},
		{"not UTF-8", "a = \"\xff\"", "q.toml:1:"},
	} {
		_, errs := parse(c.src)
		require.Contains(t, errs, c.want, c.name)
	}
}

func TestParseTOMLGoesOnAfterSyntaxErrors(t *testing.T) {
	tree, errs := parse("a = x\nb = 1\n[c\nd = 2\n[e]\nf = yes\n")
	require.Nil(t, tree)
	require.Len(t, strings.Split(errs, "\n"), 3, errs)
}

func TestParseTOMLLimits(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"size", strings.Repeat("#", MaxFileBytes+1), "the limit is 1048576"},
		{"arrays deep", "a = " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "nested more than 32 deep"},
		{"tables deep", "a = " + strings.Repeat("{a=", 100) + "1" + strings.Repeat("}", 100), "nested more than 32 deep"},
		{"keys deep", strings.Repeat("a.", 100) + "a = 1", "nested more than 32 deep"},
		{"headers deep", "[" + strings.Repeat("a.", 100) + "a]", "nested more than 32 deep"},
		{"entries", "a = [" + strings.Repeat("1,", MaxEntries+1) + "]", "more than 20000 keys and values"},
		{"key", strings.Repeat("k", 300) + " = 1", "a key has 300 bytes"},
	} {
		tree, errs := parse(c.src)
		require.Nil(t, tree, c.name)
		require.Contains(t, errs, c.want, c.name)
	}
}

func TestTablePutRemove(t *testing.T) {
	tree, _ := parse("a = 1\nb = 2\nc = 3")
	tree.Remove("b")
	tree.Remove("nothing")
	tree.Put("c", Pos{Line: 9, Column: 1}, &Value{Kind: Bool, Bool: true})
	tree.Put("d", Pos{Line: 9, Column: 2}, &Value{Kind: Int, Int: 4})
	require.Equal(t, "{1:1 a = 1:5 1; 9:1 c = 0:0 true; 9:2 d = 0:0 4}", renderTable(tree))
}

// FuzzParseTOML: any bytes give a tree or problems, with places inside the file.
func FuzzParseTOML(f *testing.F) {
	for _, s := range []string{"a = 1", "[a.b]\nc = \"${DIR}x\"", "[[a]]\nb = {c = [1, '''\nx''']}", "a.b = \"\\u00e9\"", "a = \"\"\"\\\n x\"\"\"", "\ufeffa=1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		var p Problems
		tree := ParseTOML("f", src, environment, &p)
		if (tree == nil) && p.OK() {
			t.Fatal("no tree and no problem")
		}
		lines := strings.Count(string(src), "\n") + 1
		for _, pr := range p.Errors {
			if pr.Pos.Line > lines || pr.Pos.Column > len(src)+1 {
				t.Fatalf("place outside the file: %v", pr)
			}
		}
		if tree != nil {
			checkPlaces(t, &Value{Kind: TableKind, Table: tree, Pos: Pos{Line: 1, Column: 1}}, lines, len(src))
		}
	})
}

func checkPlaces(t *testing.T, v *Value, lines, size int) {
	at := v.Pos
	if v.Kind == String {
		at = v.At(len(v.Str))
	}
	for _, p := range []Pos{v.Pos, at} {
		if p.Line < 1 || p.Line > lines || p.Column < 1 || p.Column > size+1 {
			t.Fatalf("place outside the file: %v", p)
		}
	}
	for _, e := range v.Array {
		checkPlaces(t, e, lines, size)
	}
	if v.Table != nil {
		for _, e := range v.Table.Entries {
			checkPlaces(t, e.Value, lines, size)
		}
	}
}
