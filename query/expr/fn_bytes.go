package expr

import (
	"encoding/hex"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// toLower appends s in lower case; bytes that are not UTF-8 stay as they are.
func toLower(dst, s []byte) []byte { return mapRunes(dst, s, unicode.ToLower, 'A', 'Z') }

func toUpper(dst, s []byte) []byte { return mapRunes(dst, s, unicode.ToUpper, 'a', 'z') }

func mapRunes(dst, s []byte, to func(rune) rune, first, last byte) []byte {
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			if b >= first && b <= last {
				b ^= 'a' - 'A'
			}
			dst = append(dst, b)
			i++
			continue
		}
		r, size := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, s[i])
		} else {
			dst = utf8.AppendRune(dst, to(r))
		}
		i += size
	}
	return dst
}

func toHexInt(c *call, i int) bool {
	return c.setText(i, strconv.AppendUint(c.tmp[:0], uint64(c.int(0, i)), 16))
}

func toHex(c *call, i int) bool { return c.setText(i, hex.AppendEncode(c.tmp[:0], c.bin(0, i))) }

func fromHex(c *call, i int) bool {
	out, err := hex.AppendDecode(c.tmp[:0], c.bin(0, i))
	return err == nil && c.setText(i, out)
}
