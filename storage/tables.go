package storage

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
)

// mostTrailer is more bytes than the checksum at the end of a table has.
const mostTrailer = 1024

// checkTables reads the ends of the engine's tables. The engine believes the lengths there, on a goroutine of its own: a table that
// has been cut would end the process. Only tables that the manifest lists count; others a crash has left half written, and the engine
// removes them. What else is wrong the engine says.
func checkTables(path string, o badger.Options) error {
	f, err := os.Open(filepath.Join(path, badger.ManifestFilename))
	if err != nil {
		return nil // a new store has none
	}
	defer f.Close()
	m, _, err := badger.ReplayManifestFile(f, o.ExternalMagicVersion, o)
	if err != nil {
		return nil // the engine reads it too, and says what is wrong
	}
	for id := range m.Tables {
		if err := checkTable(filepath.Join(path, fmt.Sprintf("%06d.sst", id))); err != nil {
			return err
		}
	}
	return nil
}

// checkTable reads the end of a table: an index, its length, a checksum, its length. The lengths are big-endian.
func checkTable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // the engine opens it too
	}
	defer f.Close()
	at, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	for _, most := range []int64{mostTrailer, at} {
		var b [4]byte
		if at < int64(len(b)) {
			return fmt.Errorf("%s ends too early", path)
		}
		if _, err := f.ReadAt(b[:], at-int64(len(b))); err != nil {
			return err
		}
		at -= int64(len(b))
		n := int64(binary.BigEndian.Uint32(b[:]))
		if n == 0 || n > min(most, at) {
			return fmt.Errorf("%s does not end as a table does", path)
		}
		at -= n
	}
	return nil
}
