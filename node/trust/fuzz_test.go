package trust

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
)

// seeds are the files of a fresh node.
func seeds(f *testing.F, names ...string) {
	d := Dir{Path: filepath.Join(f.TempDir(), "n")}
	if _, err := d.Init(Setup{Org: "north", Node: "a", Now: day0, Random: rand.Reader}); err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(d.file(name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
}

// Whatever an organisation file holds, it is refused or it formats to a file that means the same.
func FuzzParseOrg(f *testing.F) {
	seeds(f, FileOrg, FileCertificate)
	f.Fuzz(func(t *testing.T, text []byte) {
		o, err := ParseOrg("x.pub", text)
		if err != nil {
			return
		}
		again, err := FormatOrg(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseOrg("again", again); err != nil {
			t.Fatalf("what was accepted is refused when written again: %v", err)
		}
	})
}

// Whatever a certificate file holds, it is refused or it formats to the same envelope.
func FuzzParseCertificate(f *testing.F) {
	seeds(f, FileCertificate, FileOrg)
	f.Fuzz(func(t *testing.T, text []byte) {
		s, _, err := ParseCertificate("x.cert", text)
		if err != nil {
			return
		}
		again, err := FormatCertificate(s)
		if err != nil {
			t.Fatal(err)
		}
		second, _, err := ParseCertificate("again", again)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := s.Marshal()
		b, _ := second.Marshal()
		if !bytes.Equal(a, b) {
			t.Fatal("the envelope changed")
		}
	})
}

// Envelopes come from the wire: bytes that decode encode to themselves.
func FuzzParseSigned(f *testing.F) {
	d := Dir{Path: filepath.Join(f.TempDir(), "n")}
	id, err := d.Init(Setup{Org: "north", Node: "a", Now: day0, Random: rand.Reader})
	if err != nil {
		f.Fatal(err)
	}
	wire, err := id.Certificate.Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(wire)
	reg, err := d.LoadRegistry(DefaultSkew)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseSigned(b, 0)
		if err != nil {
			return
		}
		again, err := s.Marshal()
		if err != nil || !bytes.Equal(again, b) {
			t.Fatal("not the same bytes again")
		}
		if _, err := reg.VerifyCertificate(s, day0); err == nil && !bytes.Equal(b, wire) {
			t.Fatal("a changed certificate was believed")
		}
	})
}
