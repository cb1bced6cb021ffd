package trust

import (
	"crypto/rand"
	"path/filepath"
	"testing"
)

// BenchmarkVerifyCertificate is what each new connection costs on each side: two signatures and the decoding.
func BenchmarkVerifyCertificate(b *testing.B) {
	d := Dir{Path: filepath.Join(b.TempDir(), "n")}
	id, err := d.Init(Setup{Org: "north", Node: "a", Now: day0, Random: rand.Reader})
	if err != nil {
		b.Fatal(err)
	}
	reg, err := d.LoadRegistry(DefaultSkew)
	if err != nil {
		b.Fatal(err)
	}
	wire, err := id.Certificate.Marshal()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := ParseSigned(wire, 0)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := reg.VerifyCertificate(s, day0); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(wire)), "bytes")
}
