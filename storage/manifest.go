package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/dgraph-io/badger/v4"

	"fednode/storage/disk"
)

// guardFile holds a manifestMark, beside the manifest: who moves the engine's files away moves it with them.
const guardFile = "manifest.mark"

// Shape of the engine's manifest: eight bytes, then records, each a big-endian length and a checksum, then so many bytes. Records
// are added at the end; now and then all of it is replaced by another file, whose first record lists all tables there are.
const (
	manifestMagic = 8
	recordHeader  = 8
	manifestHead  = manifestMagic + recordHeader
)

// manifestGuard remembers how far the engine's manifest has been seen. The engine takes one that ends early for what a crash has left
// of it, and removes the tables that it does not list: all that they hold would be gone without a word.
type manifestGuard struct {
	manifest string
	mu       sync.Mutex
	mark     manifestMark
	register *disk.Register
}

// manifestMark is how far a manifest has been durable: its bytes before size and their checksum. head tells a manifest from the one
// that has replaced it. The zero value says nothing.
type manifestMark struct {
	head [manifestHead]byte
	size int64
	sum  uint32
}

// checkManifest fails if the manifest lacks something that has been in it, or is not there though tables are.
func checkManifest(path string) error {
	mark, err := readMark(filepath.Join(path, guardFile))
	if err != nil {
		return err
	}
	manifest := filepath.Join(path, badger.ManifestFilename)
	f, err := os.Open(manifest)
	if errors.Is(err, os.ErrNotExist) {
		return checkEmpty(path, mark)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if mark.size == 0 {
		return nil
	}
	var head [manifestHead]byte
	if _, err := io.ReadFull(f, head[:]); err == nil && head != mark.head {
		return nil // it has been replaced since it was seen last
	}
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if st.Size() < mark.size {
		return fmt.Errorf("%s has %d bytes, and has had %d: tables that it listed would be removed", manifest, st.Size(), mark.size)
	}
	sum, err := sumOf(io.NewSectionReader(f, 0, mark.size), 0)
	if err != nil {
		return err
	}
	if sum != mark.sum {
		return fmt.Errorf("%s is not what it was", manifest)
	}
	return nil
}

// checkEmpty fails if a directory without a manifest holds anything that one lists, or has had one.
func checkEmpty(path string, mark manifestMark) error {
	left := mark.size > 0
	for _, pattern := range []string{"*.sst", "*.mem"} {
		found, err := filepath.Glob(filepath.Join(path, pattern))
		if err != nil {
			return err
		}
		left = left || len(found) > 0
	}
	if left {
		return fmt.Errorf("%s is gone: all tables beside it would be removed", filepath.Join(path, badger.ManifestFilename))
	}
	return nil
}

// readMark reads a mark, and makes no file. There is none in a new store, nor in one of before there were marks.
func readMark(path string) (m manifestMark, err error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return m, nil
	}
	r, err := disk.OpenRegister(path, nil)
	if err != nil {
		return m, fmt.Errorf("%w; without this file alone the store is opened unchecked", err)
	}
	defer r.Close()
	return parseMark(r.Value())
}

// guardVersion is the first byte of a mark.
const guardVersion = 1

func (m *manifestMark) encode() []byte {
	b := append([]byte{guardVersion}, m.head[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(m.size))
	return binary.LittleEndian.AppendUint32(b, m.sum)
}

func parseMark(b []byte) (m manifestMark, err error) {
	if len(b) == 0 {
		return m, nil
	}
	if len(b) != 1+manifestHead+8+4 || b[0] != guardVersion {
		return m, fmt.Errorf("%s is of version %d, and this build knows version %d", guardFile, b[0], guardVersion)
	}
	copy(m.head[:], b[1:])
	m.size = int64(binary.LittleEndian.Uint64(b[1+manifestHead:]))
	m.sum = binary.LittleEndian.Uint32(b[1+manifestHead+8:])
	return m, nil
}

// openGuard begins to remember, once the engine has opened its files.
func openGuard(path string) (*manifestGuard, error) {
	r, err := disk.OpenRegister(filepath.Join(path, guardFile), nil)
	if err != nil {
		return nil, err
	}
	g := &manifestGuard{manifest: filepath.Join(path, badger.ManifestFilename), register: r}
	if err := g.note(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return g, nil
}

// note remembers the records that have been added since it did so last. The engine may add others at the same time.
func (g *manifestGuard) note() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if st, err := os.Stat(g.manifest); err == nil && st.Size() == g.mark.size {
		return nil
	}
	f, err := os.Open(g.manifest)
	if err != nil {
		return disk.Wrap("open", g.manifest, err)
	}
	defer f.Close()
	m, err := g.mark.further(f)
	if err != nil {
		return disk.Wrap("read", g.manifest, err)
	}
	if m == g.mark && bytes.Equal(g.register.Value(), m.encode()) {
		return nil // a record is being written
	}
	if err := f.Sync(); err != nil { // what is remembered must be there after the power has failed
		return disk.Wrap("sync", g.manifest, err)
	}
	if err := g.register.Store(m.encode()); err != nil {
		return err
	}
	g.mark = m
	return nil
}

// further returns a mark behind the last whole record of a manifest; m is that of what is known of it.
func (m manifestMark) further(f *os.File) (manifestMark, error) {
	var head [manifestHead]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return m, err
	}
	if head != m.head || m.size == 0 {
		sum, err := sumOf(bytes.NewReader(head[:manifestMagic]), 0)
		if err != nil {
			return m, err
		}
		m = manifestMark{head: head, size: manifestMagic, sum: sum}
	}
	st, err := f.Stat()
	if err != nil {
		return m, err
	}
	end := m.size
	for {
		var header [recordHeader]byte
		if end+recordHeader > st.Size() {
			break
		}
		if _, err := f.ReadAt(header[:], end); err != nil {
			return m, err
		}
		next := end + recordHeader + int64(binary.BigEndian.Uint32(header[:]))
		if next > st.Size() {
			break
		}
		end = next
	}
	if m.sum, err = sumOf(io.NewSectionReader(f, m.size, end-m.size), m.sum); err != nil {
		return m, err
	}
	m.size = end
	return m, nil
}

// close remembers the manifest that the engine has left behind.
func (g *manifestGuard) close() error { return errors.Join(g.note(), g.register.Close()) }

// sumOf goes on with a checksum of all that is read.
func sumOf(r io.Reader, sum uint32) (uint32, error) {
	buf := make([]byte, 1<<16)
	for {
		n, err := r.Read(buf)
		sum = crc32.Update(sum, disk.Castagnoli(), buf[:n])
		if errors.Is(err, io.EOF) {
			return sum, nil
		}
		if err != nil {
			return 0, err
		}
	}
}
