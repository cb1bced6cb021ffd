package query_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fednode/query"
)

// FuzzParse: any bytes give a diagram or problems; what is accepted can be planned, explained and run to its end, and its
// canonical form is a fixed point.
func FuzzParse(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range seeds {
		src, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range strings.Split(string(src), "\nparse")[1:] {
			_, file, _ := strings.Cut(part, "\n")
			file, _, _ = strings.Cut(file, "\n----")
			f.Add([]byte(file))
		}
	}
	at := query.Placement{Home: query.Place{Org: "north", Node: "n1"}}
	f.Fuzz(func(t *testing.T, src []byte) {
		d, p := query.Parse("q.toml", src, query.Options{Env: testEnv, Placement: at})
		if d == nil {
			if p.OK() {
				t.Fatal("no diagram and no problem")
			}
			return
		}
		plan := query.NewPlan(d, at, p)
		e := query.Explain(plan)
		for _, text := range []string{e.Text(), e.Dot(), e.Mermaid(), e.JSON()} {
			if text == "" {
				t.Fatal("an empty explanation")
			}
		}
		for _, fp := range plan.Fragments {
			endFragment(t, fp)
		}
		canonical := d.Canonical("north")
		again, p := query.Parse("c.toml", canonical, query.Options{Placement: at})
		if again == nil {
			t.Fatalf("the canonical form is refused: %v\n%s", p.Err(), canonical)
		}
		if string(again.Canonical("north")) != string(canonical) {
			t.Fatalf("the canonical form is no fixed point:\n%s\n%s", canonical, again.Canonical("north"))
		}
	})
}

// endFragment ends every input of a fragment.
func endFragment(t *testing.T, fp *query.FragmentPlan) {
	i := query.NewInstance(fp, quiet{})
	for u := range fp.Unions {
		if err := i.Boundary(u, 1<<62); err != nil {
			t.Fatal(err)
		}
	}
}
