package state

import (
	"encoding/binary"

	"fednode/query/tuple"
)

// appendList appends a form of list row r that is equal for equal lists only, whatever their dictionaries: for each
// element whether it is null, and its value.
func appendList(dst []byte, c *tuple.Column, r int) []byte {
	e := c.Elem
	for j := int(c.Off[r]); j < int(c.Off[r+1]); j++ {
		if e.IsNull(j) {
			dst = append(dst, 0)
			continue
		}
		dst = append(dst, 1)
		switch k := e.Type.Kind; {
		case k.IsBinary():
			v := e.Bin(j)
			dst = append(binary.AppendUvarint(dst, uint64(len(v))), v...)
		case k.IsInt():
			dst = binary.LittleEndian.AppendUint64(dst, uint64(e.Int[j]))
		case k == tuple.Float64:
			dst = binary.LittleEndian.AppendUint64(dst, tuple.FloatBits(e.Float[j]))
		case e.Bool[j]:
			dst = append(dst, 1)
		default:
			dst = append(dst, 0)
		}
	}
	return dst
}
