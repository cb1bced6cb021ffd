package descriptor

import "testing"

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
