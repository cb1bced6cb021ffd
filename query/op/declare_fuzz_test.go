package op_test

import (
	"errors"
	"testing"

	"fednode/query/op"
	"fednode/query/op/optest"
	"fednode/query/spec"
)

// FuzzDeclarations reads any text as the declaration of every kind: it becomes a plan that runs, or problems with their
// places, and never a panic.
func FuzzDeclarations(f *testing.F) {
	for _, c := range conformanceCases() {
		f.Add(c.Declaration)
	}
	f.Add("on = { k = 3 }\nwithin = {}\nwhere = \"left.\"")
	f.Add("key = []\nsteps = [{}]\nselect = { a = \"count(\" }\nadd = { b = \"lag(\" }")
	s, err := optest.Schema(windowed)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, k := range op.Kinds() {
			in := []op.Input{{Name: "a", Schema: s}}
			for len(in) < k.MinInputs {
				in = append(in, op.Input{Name: "b", Schema: s, Table: &op.Table{Key: []string{"src"}, Match: "exact"}})
			}
			p, err := optest.Build(k.Name, text, in)
			var problems *spec.Error
			switch {
			case err == nil:
				p.New()
			case !errors.As(err, &problems) || len(problems.Problems) == 0:
				t.Fatalf("%s: %v", k.Name, err)
			}
		}
	})
}

// Far more mistakes than a file's problems are kept for must not make a declaration look right.
func TestProblemsBeyondTheLimit(t *testing.T) {
	s, err := optest.Schema(windowed)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range op.Kinds() {
		var problems spec.Problems
		for range spec.MaxProblems + 5 {
			problems.Add(spec.Pos{}, "x", "", "an earlier problem")
		}
		in := []op.Input{{Name: "a", Schema: s}, {Name: "b", Schema: s}}[:max(1, k.MinInputs)]
		r := spec.Read(spec.NewTable("", spec.Pos{}), &problems)
		if p := k.Build(r, in); p != nil && k.Name != "union" {
			t.Errorf("%s: an empty declaration became a plan", k.Name)
		}
	}
}
