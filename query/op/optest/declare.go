package optest

import (
	"fmt"
	"strings"

	"fednode/query/op"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// Build makes the plan of an operator of a kind from the keys of its declaration, written as in a query file. The error
// holds every problem, each with its line and column in the text.
func Build(kind, text string, in []op.Input) (*op.Plan, error) {
	k, ok := op.ByName(kind)
	if !ok {
		return nil, fmt.Errorf("optest: no kind of operator is named %q", kind)
	}
	var problems spec.Problems
	t := spec.ParseTOML("", []byte(text), nil, &problems)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	r := spec.Read(t, &problems)
	p := k.Build(r, in)
	r.Done()
	if err := problems.Err(); err != nil {
		if p != nil {
			return nil, fmt.Errorf("optest: a plan came with problems: %w", err)
		}
		return nil, err
	}
	if p == nil {
		return nil, fmt.Errorf("optest: no plan and no problem")
	}
	return p, nil
}

// Schema reads "src ip, n int64".
func Schema(text string) (*tuple.Schema, error) {
	var fields []tuple.Field
	for _, part := range splitTop(text) {
		name, typ, ok := strings.Cut(strings.TrimSpace(part), " ")
		if !ok {
			return nil, fmt.Errorf("optest: %q is not a name and a type", part)
		}
		f := tuple.Field{Name: name}
		var err error
		// A form may follow the type: "src ip pseudonym:contract:a".
		if typ, f.Form, f.Key, err = cutForm(strings.TrimSpace(typ)); err != nil {
			return nil, err
		}
		if f.Type, err = tuple.ParseType(typ); err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return tuple.NewSchema(fields...)
}

func cutForm(text string) (typ string, form tuple.Form, key string, err error) {
	typ, rest, ok := strings.Cut(text, " ")
	if !ok || strings.HasPrefix(typ, "decimal(18,") && !strings.HasSuffix(typ, ")") {
		return text, tuple.Plain, "", nil
	}
	name, key, _ := strings.Cut(rest, ":")
	for f := tuple.Hashed; f <= tuple.PrefixPseudonym; f++ {
		if f.String() == name {
			return typ, f, key, nil
		}
	}
	return "", 0, "", fmt.Errorf("optest: no form %q", name)
}

// splitTop cuts at commas outside parentheses.
func splitTop(text string) []string {
	var parts []string
	depth, start := 0, 0
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}
