package disk

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Register is a small value in a file of its own that is replaced atomically and durably. Two slots are written in
// turn, each with a counter and a checksum, so a torn write leaves the value before it; and since both slots exist
// from the start, replacing the value works on a full disk. Layout: docs/formats/segment.md.
type Register struct {
	path  string
	f     File
	count uint64 // of the newest slot
	value []byte
	inode uint64
}

// Shape of a register: two slots, each on a page of its own so that one torn page cannot hit both.
const (
	slotBytes    = 4096
	slotHeader   = 24 // magic 8, counter 8, length 4, checksum 4
	slotMagic    = "FNREGIS1"
	MaxRegister  = 1024 // bytes of a value
	registerSize = 2 * slotBytes
)

// OpenRegister opens or makes the register at path. A new one has a nil value. If neither slot is readable the error is
// of class ErrDamaged.
func OpenRegister(path string, open OpenFunc) (*Register, error) {
	if open == nil {
		open = Open
	}
	f, err := open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, Wrap("open", path, err)
	}
	r := &Register{path: path, f: f}
	if err := r.load(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

func (r *Register) load() error {
	buf := make([]byte, registerSize)
	n, err := r.f.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return Wrap("read", r.path, err)
	}
	var st unix.Stat_t
	if err := unix.Stat(r.path, &st); err != nil {
		return Wrap("stat", r.path, err)
	}
	r.inode = st.Ino
	if n < registerSize && allZero(buf[:n]) {
		return r.create()
	}
	for i := range 2 {
		if count, v, ok := parseSlot(buf[i*slotBytes : (i+1)*slotBytes]); ok && count >= r.count {
			r.count, r.value = count, v
		}
	}
	if r.count == 0 && !allZero(buf) {
		return Damaged("read", r.path, "neither of its two copies has a valid checksum")
	}
	return nil
}

// create gives the file its full size, so that every later write replaces bytes that exist.
func (r *Register) create() error {
	if _, err := r.f.WriteAt(make([]byte, registerSize), 0); err != nil {
		return Wrap("make", r.path, err)
	}
	if err := r.f.Sync(); err != nil {
		return Wrap("sync", r.path, err)
	}
	return SyncDir(filepath.Dir(r.path))
}

// Value returns the value, nil if none was ever stored. The caller does not change it.
func (r *Register) Value() []byte { return r.value }

// Inode tells a file from its copy: a copied or restored register has another one.
func (r *Register) Inode() uint64 { return r.inode }

// Store replaces the value durably; v is at most MaxRegister bytes. After an error the old or the new value is there.
func (r *Register) Store(v []byte) error {
	if len(v) > MaxRegister {
		return &Error{Op: "store in", Path: r.path, Err: errors.New("the value is too long for a register")}
	}
	slot := appendSlot(make([]byte, 0, slotBytes), r.count+1, v)
	off := int64((r.count+1)%2) * slotBytes
	if _, err := r.f.WriteAt(slot, off); err != nil {
		return Wrap("write", r.path, err)
	}
	if err := r.f.Sync(); err != nil {
		return Wrap("sync", r.path, err)
	}
	r.count++
	r.value = append([]byte(nil), v...)
	return nil
}

// Close closes the file.
func (r *Register) Close() error { return r.f.Close() }

func appendSlot(b []byte, count uint64, v []byte) []byte {
	b = append(b, slotMagic...)
	b = binary.LittleEndian.AppendUint64(b, count)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(v)))
	sum := crc32.Update(crc32.Checksum(b, Castagnoli()), Castagnoli(), v)
	b = binary.LittleEndian.AppendUint32(b, sum)
	return append(b, v...)
}

func parseSlot(b []byte) (count uint64, v []byte, ok bool) {
	n := binary.LittleEndian.Uint32(b[16:])
	if string(b[:8]) != slotMagic || n > MaxRegister {
		return 0, nil, false
	}
	v = append([]byte{}, b[slotHeader:slotHeader+n]...)
	sum := crc32.Update(crc32.Checksum(b[:20], Castagnoli()), Castagnoli(), v)
	return binary.LittleEndian.Uint64(b[8:]), v, sum == binary.LittleEndian.Uint32(b[20:])
}

func allZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// Castagnoli returns the CRC32C table, which the processor computes in hardware.
func Castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }
