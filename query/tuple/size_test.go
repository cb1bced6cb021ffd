package tuple

import (
	"fmt"
	"testing"
)

// TestDictionariesCountOnce shows that a dictionary which many batches share counts once, however it grows, that each of those that
// follow each other when strings do not repeat counts too, and that nothing is forgotten of what few columns take turns with.
func TestDictionariesCountOnce(t *testing.T) {
	s := MustSchema(Field{Name: "k", Type: Of(String)}, Field{Name: "l", Type: ListOf(Of(String))})
	few := NewBatchBuilder(s)
	other := NewBatchBuilder(s)
	var d Dictionaries
	build := func(b *BatchBuilder, text string) *Batch {
		b.AppendBin(0, []byte(text))
		b.AppendElemBin(1, []byte(text))
		b.EndList(1)
		b.EndRow(1)
		return b.Take()
	}
	sum := int64(0)
	for range 1000 {
		for k := range 3 {
			sum += d.Grown(build(few, fmt.Sprint("key", k)))
			sum += d.Grown(build(other, fmt.Sprint("key", k)))
		}
	}
	if want := int64(2 * 2 * 3 * len("key0")); sum != want {
		t.Errorf("%d bytes of values that repeat, want %d", sum, want)
	}
	const rows, size = 4000, 5000
	sum = 0
	for n := range rows {
		b := build(few, fmt.Sprintf("%0*d", size, n))
		sum += d.Grown(b)
		if b.Bytes() > 2000 {
			t.Fatalf("%d bytes of a row beside its values", b.Bytes())
		}
	}
	if want := int64(2 * rows * size); sum != want {
		t.Errorf("%d bytes of values that do not repeat, want %d", sum, want)
	}
	var late Dictionaries // who comes when a dictionary is large
	if n := late.Grown(build(few, "one row")); n != 2*int64(len("one row")) {
		t.Errorf("%d bytes of one row's values", n)
	}
}
