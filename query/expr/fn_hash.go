package expr

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"

	"fednode/query/tuple"
)

var hashFunctions = []function{
	{name: "hash64", group: "hash", params: params("x any"), variadic: true, result: tuple.Int64, lenient: true, row: hash64,
		doc: "A hash of the values, nulls included, the same on every machine; not for secrets."},
	{name: "sha256", group: "hash", params: params("s string"), result: tuple.String, row: sha256Hex,
		doc: "The SHA-256 of the text in hexadecimal."},
	{name: "sha256", group: "hash", params: params("b bytes"), result: tuple.String, row: sha256Hex,
		doc: "The SHA-256 of the bytes in hexadecimal."},
	{name: "md5", group: "hash", params: params("s string"), result: tuple.String, row: md5Hex,
		doc: "The MD5 of the text in hexadecimal, to compare with what others wrote; it protects nothing."},
}

func hash64(c *call, i int) bool {
	h := uint64(len(c.args))
	for _, a := range c.args {
		h = a.HashInto(h, i)
	}
	return c.setInt(i, int64(h))
}

func sha256Hex(c *call, i int) bool {
	sum := sha256.Sum256(c.bin(0, i))
	return c.setText(i, hex.AppendEncode(c.tmp[:0], sum[:]))
}

func md5Hex(c *call, i int) bool {
	sum := md5.Sum(c.bin(0, i))
	return c.setText(i, hex.AppendEncode(c.tmp[:0], sum[:]))
}
