package stream

import (
	"encoding/binary"
	"unsafe"
)

type word interface {
	~int64 | ~uint64 | ~float64 | ~int32 | ~uint32
}

// bytesOf views words as bytes.
func bytesOf[T word](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}

// wordsOf views the first n words of b, which has as many, or copies them where b is not aligned for that.
func wordsOf[T word](b []byte, n int) []T {
	if n == 0 {
		return []T{}
	}
	var zero T
	size := int(unsafe.Sizeof(zero))
	if uintptr(unsafe.Pointer(&b[0]))%uintptr(size) == 0 {
		return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
	}
	out := make([]T, n)
	copy(bytesOf(out), b[:n*size])
	return out
}

// extend lengthens dst by n bytes, whose content is undefined, and returns it and them.
func extend(dst []byte, n int) (all, added []byte) {
	at := len(dst)
	if cap(dst)-at < n {
		grown := make([]byte, at, max(2*cap(dst), at+n))
		copy(grown, dst)
		dst = grown
	}
	dst = dst[:at+n]
	return dst, dst[at:]
}

// pad brings the length of dst to a multiple of eight counted from base.
func pad(dst []byte, base int) []byte {
	for (len(dst)-base)%8 != 0 {
		dst = append(dst, 0)
	}
	return dst
}

func putI64(b []byte, v int64) { binary.LittleEndian.PutUint64(b, uint64(v)) }

// packBits appends one bit a value.
func packBits(dst []byte, v []bool) []byte {
	dst, out := extend(dst, (len(v)+7)/8)
	for i := range out {
		var octet byte
		for j, ok := range v[8*i : min(8*i+8, len(v))] {
			if ok {
				octet |= 1 << j
			}
		}
		out[i] = octet
	}
	return dst
}

// unpackBits reads n bits and returns them and how many are clear.
func unpackBits(src []byte, n int) (v []bool, clear int) {
	v = make([]bool, n)
	for i := range v {
		v[i] = src[i>>3]>>(i&7)&1 == 1
		if !v[i] {
			clear++
		}
	}
	return v, clear
}
