package docs

import (
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/bind"
	"fednode/node/connect/connectors"
	"fednode/query"
	"fednode/query/op"
	"fednode/query/spec"
)

const operatorsHead = `# Operators

Generated from the program: the texts are those of the table of kinds in package ` + "`query/op`" + `, the facts what the program
says of the declarations in testnet/docs/testdata/operators.toml. Refresh it with ` + "`go test ./testnet/docs -rewrite`" + `.

Every operator gives the same results whatever the batching, the machine and the wall clock. The columns mean:

- **State** is what the operator remembers and what bounds it. A declaration without a bound is refused.
- **Convergence** says how far back the state depends on the input: *stateless* not at all, *convergent* on a finite
  stretch, *divergent* on all of it. It decides how an operator can recover when old input is gone.
- **Any order**: the results are the same for every order of the rows between two boundaries, so that the rows need not be
  merged before it.
- **Blocking**: without one of its inputs the operator yields nothing.

They hold for the declaration that this page shows; other keys can change them. ` + "`fednode query explain`" + ` says it for yours.
`

// docs/operators.md is made from the kinds of operators, each with its comment and with what its plan says of itself.
func TestOperatorsPage(t *testing.T) {
	comments, keys, plans := kindComments(t), operatorKeys(t), samplePlans(t)
	var b strings.Builder
	b.WriteString(operatorsHead)
	b.WriteString("\n| kind | state | convergence | any order | blocking |\n| --- | --- | --- | --- | --- |\n")
	for _, k := range op.Kinds() {
		p := plans[k.Name]
		require.NotNil(t, p, "testdata/operators.toml has no operator %s", k.Name)
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s | %s |\n", k.Name, k.Name, p.State, p.Convergence, yes(p.OrderInsensitive), yes(p.Blocking))
	}
	for _, k := range op.Kinds() {
		require.NotEmpty(t, comments[k.Name], "%sKind has no comment", k.Name)
		fmt.Fprintf(&b, "\n## %s\n\n%s\nKeys: %s.\n", k.Name, comments[k.Name], keys[k.Name])
	}
	fresh(t, filepath.Join(root, "docs/operators.md"), b.String())
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// kindComments returns the comment of each function of package op that makes a Kind, as Markdown.
func kindComments(t *testing.T) map[string]string {
	paths, err := filepath.Glob(filepath.Join(root, "query/op/*.go"))
	require.NoError(t, err)
	out := map[string]string{}
	for _, path := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil {
				continue
			}
			if kind, ok := strings.CutSuffix(fn.Name.Name, "Kind"); ok {
				out[kind] = markdown(strings.TrimPrefix(fn.Doc.Text(), fn.Name.Name+" declares "+kind+": "))
			}
		}
	}
	return out
}

// markdown prints a Go comment; its code is TOML.
func markdown(text string) string {
	if text != "" {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	var p comment.Parser
	var b strings.Builder
	for i, block := range p.Parse(text).Content {
		if i > 0 {
			b.WriteString("\n")
		}
		if code, ok := block.(*comment.Code); ok {
			fmt.Fprintf(&b, "```toml\n%s```\n", code.Text)
			continue
		}
		b.Write((&comment.Printer{}).Comment(&comment.Doc{Content: []comment.Block{block}}))
	}
	return b.String()
}

func samples(t *testing.T) string {
	text, err := os.ReadFile("testdata/operators.toml")
	require.NoError(t, err)
	return string(text)
}

func noVariable(string) (string, bool) { return "", false }

func parseQuery(file, text string) (*query.Diagram, *spec.Problems) {
	return query.Parse(file, []byte(text), query.Options{Env: noVariable, Connectors: bind.New(connectors.Kinds())})
}

func samplePlans(t *testing.T) map[string]*op.Plan {
	text := samples(t)
	text += "\n[outputs.unread]\ninput = \"lookup\"\nconnector = \"node\"\n"
	d, p := parseQuery("operators.toml", text)
	require.NoError(t, p.Err())
	out := map[string]*op.Plan{}
	for _, o := range d.Operators {
		if o.Plan.Kind == o.Name {
			out[o.Name] = o.Plan
		}
	}
	return out
}

// operatorKeys returns the keys of each kind as a list. The program names them all when it meets a key that resembles
// none of them.
func operatorKeys(t *testing.T) map[string]string {
	text := strings.ReplaceAll(samples(t), "\nkind = ", "\nq9 = 1\nkind = ")
	_, p := parseQuery("operators.toml", text)
	out := map[string]string{}
	for _, e := range p.Errors {
		name, ok := strings.CutSuffix(strings.TrimPrefix(e.Path, "operators."), ".q9")
		if keys, listed := strings.CutPrefix(e.Hint, "there are: "); ok && listed {
			out[name] = "`" + strings.ReplaceAll(keys, ", ", "`, `") + "`"
		}
	}
	for _, k := range op.Kinds() {
		require.NotEmpty(t, out[k.Name], "the keys of %s are not known: %v", k.Name, p.Err())
	}
	return out
}
