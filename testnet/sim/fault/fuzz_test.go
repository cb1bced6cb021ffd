package fault

import "testing"

// Whatever is read prints as something that reads the same.
func FuzzParse(f *testing.F) {
	for _, line := range []string{"12.5s crash f1.0 for 3s", "1s loss a b 20% for 1s", "1s slow a x40 for ever", "2s jump a +2.5s", "3s narrow a b 5B/s for 1ms"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, err := Parse(line)
		if err != nil {
			return
		}
		again, err := Parse(got.String())
		if err != nil || again != got {
			t.Fatalf("%q prints as %q, which reads as %v, %v", line, got, again, err)
		}
	})
}
