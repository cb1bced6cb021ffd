package dcaa

import (
	"testing"

	"fednode/query/tuple"
)

// TestShed: a buffer that nobody reads holds the newest, tells what has gone, and keeps everything once it is read.
func TestShed(t *testing.T) {
	b := NewOutputBuffer(1, tuple.Position{Time: tuple.MinTime})
	for i := range uint64(10) {
		b.Append(insertion(i+1, 1, tuple.Time(i)))
	}
	limit := b.Bytes() / 2
	b.Shed(limit)
	if b.Bytes() > limit || b.Len() == 0 || b.Truncated().ID != 5 {
		t.Fatalf("%d bytes of %d in %d frames behind %v", b.Bytes(), limit, b.Len(), b.Truncated())
	}
	if err := b.Subscribe("late", tuple.Position{Time: tuple.MinTime}, tuple.Position{}); err == nil {
		t.Fatal("what has gone was granted")
	}
	if err := b.Subscribe("late", b.Truncated(), b.Truncated()); err != nil {
		t.Fatal(err)
	}
	held := b.Len()
	if b.Shed(0); b.Len() != held {
		t.Fatal("dropped what a counted subscriber needs")
	}
}
