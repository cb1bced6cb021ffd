package export

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"fednode/query/tuple"
)

// Key is the secret behind hashes and pseudonyms, with the name that partners compare: who shares a key can join.
type Key struct {
	// Name is "own" or "contract:ID", with the version behind it: "contract:scan-2027/1".
	Name   string
	Secret [32]byte
}

// String shows the name, never the secret.
func (k *Key) String() string { return k.Name }

// Column says in which form one column leaves.
type Column struct {
	Name string
	Form tuple.Form // Plain keeps it
	// V4 and V6 are the bits kept of a truncated address.
	V4, V6 int
	// Key of a hash or pseudonym.
	Key *Key
}

// transform maps the values of one column. It is made for one view; what it knows of a dictionary is kept.
type transform interface {
	// value returns the new value; dst is empty and may be used.
	value(dst, v []byte) []byte
}

// newTransform returns the transform of a form, nil for columns that stay as they are, and the field that results.
func newTransform(c Column, f tuple.Field) (transform, tuple.Field, error) {
	out := tuple.Field{Name: f.Name, Type: f.Type, Form: c.Form}
	if c.Key != nil {
		out.Key = c.Key.Name
	}
	kind := f.Type.Kind
	switch c.Form {
	case tuple.Plain:
		out.Form, out.Key = f.Form, f.Key
		return nil, out, nil
	case tuple.Hashed:
		if !kind.IsBinary() {
			return nil, out, fmt.Errorf("column %s is %v; only strings, bytes and addresses can be hashed", f.Name, f.Type)
		}
		out.Type = tuple.Of(tuple.String)
		return &hashed{key: c.Key.Secret[:]}, out, nil
	case tuple.Truncated:
		if kind != tuple.IP {
			return nil, out, fmt.Errorf("column %s is %v; only an ip can be truncated", f.Name, f.Type)
		}
		return truncated{v4: c.V4, v6: c.V6}, out, nil
	case tuple.Pseudonym:
		switch kind {
		case tuple.IP:
			return &pseudonym{key: c.Key.Secret[:], address: true}, out, nil
		case tuple.String, tuple.Bytes:
			return &pseudonym{key: c.Key.Secret[:]}, out, nil
		}
		return nil, out, fmt.Errorf("column %s is %v; only strings, bytes and ips can be pseudonyms", f.Name, f.Type)
	case tuple.PrefixPseudonym:
		if kind != tuple.IP {
			return nil, out, fmt.Errorf("column %s is %v; only an ip has prefixes to keep", f.Name, f.Type)
		}
		p, err := newPrefixes(c.Key.Secret)
		return p, out, err
	}
	return nil, out, fmt.Errorf("column %s: no form %v", f.Name, c.Form)
}

// hashed gives the first 16 bytes of HMAC-SHA-256 in hexadecimal.
type hashed struct{ key []byte }

func (h *hashed) value(dst, v []byte) []byte {
	m := hmac.New(sha256.New, h.key)
	m.Write(v)
	var sum [sha256.Size]byte
	return hex.AppendEncode(dst, m.Sum(sum[:0])[:16])
}

// pseudonym gives another value of the same type: for an address 16 bytes in fd00::/8, so that nobody takes it for a
// real one; for strings and bytes hexadecimal text.
type pseudonym struct {
	key     []byte
	address bool
}

func (p *pseudonym) value(dst, v []byte) []byte {
	m := hmac.New(sha256.New, p.key)
	m.Write([]byte{0}) // apart from hashes under the same key
	m.Write(v)
	var buf [sha256.Size]byte
	sum := m.Sum(buf[:0])
	if !p.address {
		return hex.AppendEncode(dst, sum[:16])
	}
	sum[0] = 0xfd
	return append(dst, sum[:16]...)
}

// truncated keeps the first bits of an address.
type truncated struct{ v4, v6 int }

func (t truncated) value(dst, v []byte) []byte {
	keep := t.v6
	if isV4(v) {
		keep = 96 + t.v4
	}
	dst = append(dst, v...)
	for i := range dst {
		switch bits := keep - 8*i; {
		case bits <= 0:
			dst[i] = 0
		case bits < 8:
			dst[i] &= 0xff << (8 - bits)
		}
	}
	return dst
}

func isV4(v []byte) bool {
	for _, b := range v[:10] {
		if b != 0 {
			return false
		}
	}
	return v[10] == 0xff && v[11] == 0xff
}

// prefixes maps addresses so that two of them share exactly as many leading bits afterwards as before: each bit is
// flipped or not by a keyed function of the bits before it. IPv4 addresses stay IPv4.
//
// Source: Xu, Fan, Ammar, Moon: Prefix-preserving IP address anonymization, ICNP 2002.
type prefixes struct {
	block cipher.Block
	pad   [16]byte
}

func newPrefixes(secret [32]byte) (*prefixes, error) {
	b, err := aes.NewCipher(secret[:16])
	if err != nil {
		return nil, err
	}
	p := &prefixes{block: b}
	b.Encrypt(p.pad[:], secret[16:])
	return p, nil
}

func (p *prefixes) value(dst, v []byte) []byte {
	start := 0
	pad := p.pad
	if isV4(v) {
		start = 96
		pad[0] ^= 0x80 // another function than for the same bits of an IPv6 address
	}
	n := len(dst)
	dst = append(dst, v...)
	var in, out [16]byte
	for bit := start; bit < 128; bit++ {
		in = pad
		for i := start; i < bit; i++ {
			mask := byte(0x80 >> (i & 7))
			in[i>>3] = in[i>>3]&^mask | v[i>>3]&mask
		}
		p.block.Encrypt(out[:], in[:])
		dst[n+bit>>3] ^= (out[0] >> 7) << (7 - bit&7)
	}
	return dst
}
