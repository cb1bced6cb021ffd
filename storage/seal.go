package storage

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"fednode/storage/disk"
)

// seal puts a checksum before a value.
func seal(b []byte) []byte {
	out := make([]byte, 4, 4+len(b))
	binary.LittleEndian.PutUint32(out, checksum(b))
	return append(out, b...)
}

// unseal checks and removes it.
func unseal(v []byte) ([]byte, error) {
	if len(v) < 4 {
		return nil, fmt.Errorf("value of %d bytes: %w", len(v), ErrDamaged)
	}
	if binary.LittleEndian.Uint32(v) != checksum(v[4:]) {
		return nil, fmt.Errorf("checksum does not match: %w", ErrDamaged)
	}
	return v[4:], nil
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, disk.Castagnoli()) }
