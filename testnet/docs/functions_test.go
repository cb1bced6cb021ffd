package docs

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/expr"
	"fednode/query/op/aggfn"
	"fednode/query/tuple"
)

const functionsHead = `# Functions

Generated from the tables of package ` + "`query/expr`" + ` and ` + "`query/op/aggfn`" + `. Refresh it with ` + "`go test ./testnet/docs -rewrite`" + `.
Expressions as a whole are described in [query-files.md](query-files.md#expressions).

A null argument gives null, where nothing else is said. An argument in brackets may be left out; one with … may be
repeated.
`

// docs/functions.md is made from the table of functions.
func TestFunctionsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(functionsHead)
	groups, byGroup := []string{}, map[string][]expr.FunctionDoc{}
	for _, f := range expr.Functions() {
		require.NotEmpty(t, f.Doc, f.Name)
		if byGroup[f.Group] == nil {
			groups = append(groups, f.Group)
		}
		byGroup[f.Group] = append(byGroup[f.Group], f)
	}
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n\n| function | gives |\n| --- | --- |\n", title(g))
		for _, f := range byGroup[g] {
			fmt.Fprintf(&b, "| `%s` | %s |\n", f.Signature, strings.ReplaceAll(f.Doc, "|", `\|`))
		}
	}
	b.WriteString(aggregatesPart(t))
	fresh(t, filepath.Join(root, "docs/functions.md"), b.String())
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

const aggregatesHead = `
## Aggregate functions

They stand in the ` + "`aggregates`" + ` of an operator of kind [` + "`aggregate`" + `](operators.md#aggregate), each over one expression:
` + "`sum(bytes * 8)`" + `. ` + "`count()`" + ` counts rows; all others skip nulls and give null over none. x stands for an expression; what
comes after it is a constant. "Any order" says whether the result is the same for every order of the rows.

| function | constants | result, by type of x | any order |
| --- | --- | --- | --- |
`

// aggregatesPart lists the aggregate functions with their result for every type that they take.
func aggregatesPart(t *testing.T) string {
	var b strings.Builder
	b.WriteString(aggregatesHead)
	for _, name := range aggfn.Names() {
		shape, ok := aggfn.Shape(name)
		require.True(t, ok)
		var constants []string
		var values []float64
		for _, p := range aggfn.Params(name) {
			constants = append(constants, fmt.Sprintf("%s: %s", p.Name, rangeText(p)))
			values = append(values, p.Hi)
		}
		results, anyOrder := aggregateResults(name, values)
		require.NotEmpty(t, results, name)
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", shape, strings.Join(constants, ", "), results, anyOrder)
	}
	return b.String()
}

func rangeText(p aggfn.Param) string {
	text := fmt.Sprintf("%d to %d", int64(p.Lo), int64(p.Hi))
	if p.Integer {
		return "whole, " + text
	}
	return text
}

var argTypes = []tuple.Type{
	tuple.Of(tuple.Bool), tuple.Of(tuple.Int64), tuple.Of(tuple.Float64), {Kind: tuple.Decimal, Scale: 2},
	tuple.Of(tuple.String), tuple.Of(tuple.Bytes), tuple.Of(tuple.Timestamp), tuple.Of(tuple.Duration),
	tuple.Of(tuple.IP), tuple.Of(tuple.CIDR), {Kind: tuple.List, Elem: tuple.String},
}

// aggregateResults groups the argument types by what the result is: "float64 for int64; the type of x for float64".
func aggregateResults(name string, constants []float64) (results, anyOrder string) {
	takes := map[tuple.Type]aggfn.Func{}
	distinct := map[tuple.Type]bool{}
	for _, arg := range argTypes {
		if f, err := aggfn.Resolve(name, &arg, constants); err == nil {
			takes[arg], distinct[f.Type] = f, true
		}
	}
	var order []string
	from := map[string][]string{}
	for _, arg := range argTypes {
		f, ok := takes[arg]
		if !ok {
			continue
		}
		result := resultText(f.Type, arg, len(distinct) == 1)
		if from[result] == nil {
			order = append(order, result)
		}
		from[result] = append(from[result], arg.String())
		switch now := yes(f.OrderInsensitive); anyOrder {
		case "", now:
			anyOrder = now
		default:
			anyOrder = "yes, but not for floats"
		}
	}
	var parts []string
	for _, r := range order {
		list := strings.Join(from[r], ", ")
		if len(from[r]) == len(argTypes) {
			list = "any type"
		}
		parts = append(parts, r+" for "+list)
	}
	return strings.Join(parts, "; "), anyOrder
}

// resultText names a result's type by what it has to do with the argument's, unless it is the same for all.
func resultText(result, arg tuple.Type, always bool) string {
	switch {
	case always:
		return result.String()
	case result == arg:
		return "the type of x"
	case result.Kind == tuple.List && result.Elem == arg.Kind:
		return "a list of x"
	}
	return result.String()
}
