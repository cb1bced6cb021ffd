package descriptor

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

func BenchmarkVerify(b *testing.B) {
	north := newParty(b, "north")
	r, signed := registry(b, north), sign(b, sample(b), north)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Verify(signed, r, day0); err != nil {
			b.Fatal(err)
		}
	}
}

// What a partner can make us spend on one descriptor: as many operators as a diagram may have.
func BenchmarkVerifyLong(b *testing.B) {
	var text strings.Builder
	text.WriteString(queryFile)
	for i := range 990 {
		fmt.Fprintf(&text, "[operators.f%d]\nkind = \"filter\"\ninput = \"suspects\"\nwhere = \"conns > %d and (ports > 3 or ports < 1)\"\n", i, i)
	}
	d := sample(b)
	d.Diagram = original(b, text.String()).Canonical("north")
	d.DiagramHash = sha256.Sum256(d.Diagram)
	north := newParty(b, "north")
	r, signed := registry(b, north), sign(b, d, north)
	b.SetBytes(int64(len(signed)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Verify(signed, r, day0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAnnounce(b *testing.B) {
	north := newParty(b, "north")
	book := newBook(registry(b, north))
	if _, err := book.Adopt(sign(b, sample(b), north), day0); err != nil {
		b.Fatal(err)
	}
	announced := book.Revisions(nil)
	b.ReportAllocs()
	for b.Loop() {
		if pull, _ := book.Wanted(announced); len(pull) > 0 {
			b.Fatal("wants what it has")
		}
	}
}
