package seglog

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"

	"fednode/query/tuple"
	"fednode/storage/disk"
)

// identityName is the register that holds a log's identity.
const identityName = "IDENTITY"

// Identity tells logs, and lives of one log, apart.
type Identity struct {
	Log        [16]byte // drawn at random when the log was made; copies share it
	Generation uint64   // numbering of keys, from 1
	Boot       uint64   // how often the log has been opened, from 1
}

// String renders the identity as id/generation/boot, the id cut to eight digits.
func (i Identity) String() string { return fmt.Sprintf("%x/%d/%d", i.Log[:4], i.Generation, i.Boot) }

// Standing is what a peer's memory of a log says about the one that is here now.
type Standing uint8

// The standings.
const (
	// Continues: this is the log that was seen, later in its life.
	Continues Standing = iota
	// Restored: this log is a copy, or was put back to an earlier state: it opens a new generation.
	Restored
	// Unrelated: another log.
	Unrelated
)

// Against judges the identity that is presented now against the last one that a peer has seen. A log counts every
// opening, so a count that was seen before comes from a copy or from a backup.
func (i Identity) Against(seen Identity) Standing {
	switch {
	case i.Log != seen.Log:
		return Unrelated
	case i.Generation < seen.Generation, i.Boot <= seen.Boot:
		return Restored
	}
	return Continues
}

// Origin says where a log's identity comes from at this opening.
type Origin uint8

// The origins. After Copied and Lost the keys of this generation may have gone on elsewhere: the caller calls
// NewGeneration before it appends, unless it knows better.
const (
	// Known: the identity was stored here.
	Known Origin = iota
	// Fresh: a new log.
	Fresh
	// Copied: the directory is a copy or was restored from a backup.
	Copied
	// Lost: the identity was damaged or missing. It was taken from the segments; where they have none either it is new.
	Lost
)

// String names the origin.
func (o Origin) String() string { return [...]string{"known", "fresh", "copied", "lost"}[o] }

type identityFile struct {
	reg *disk.Register
	id  Identity
}

// openIdentity reads the identity, counts this opening durably, and says where the identity came from. found is what the
// segments say, zero if there are none.
func openIdentity(dir string, found Identity, open disk.OpenFunc) (*identityFile, Origin, error) {
	path := filepath.Join(dir, identityName)
	reg, err := disk.OpenRegister(path, open)
	if errors.Is(err, disk.ErrDamaged) {
		if _, err := disk.SetAside(path, setAside); err != nil {
			return nil, Lost, err
		}
		reg, err = disk.OpenRegister(path, open)
	}
	if err != nil {
		return nil, Known, err
	}
	f := &identityFile{reg: reg}
	origin, err := f.read(found)
	if err == nil {
		f.id.Boot++
		err = f.store()
	}
	if err != nil {
		return nil, origin, errors.Join(err, reg.Close())
	}
	return f, origin, nil
}

func (f *identityFile) read(found Identity) (Origin, error) {
	none := [16]byte{}
	if v := f.reg.Value(); v != nil {
		id, inode, err := decodeIdentity(v)
		if err == nil && (found.Log == none || found.Log == id.Log) {
			f.id = id
			f.id.Generation = max(id.Generation, found.Generation)
			if inode != f.reg.Inode() {
				return Copied, nil
			}
			return Known, nil
		}
	}
	if found.Log != none {
		f.id = found
		return Lost, nil
	}
	f.id.Generation = 1
	_, err := rand.Read(f.id.Log[:])
	return Fresh, err
}

func (f *identityFile) store() error {
	var e tuple.Encoder
	e.Uint(formatVersion)
	e.Bytes(f.id.Log[:])
	e.Uint(f.id.Generation)
	e.Uint(f.id.Boot)
	e.Uint(f.reg.Inode())
	return f.reg.Store(e.B)
}

func decodeIdentity(b []byte) (id Identity, inode uint64, err error) {
	d := tuple.NewDecoder(b)
	if v := d.Uint(); v != formatVersion {
		d.Fail("identity of format version %d", v)
	}
	if n := copy(id.Log[:], d.Bytes()); n != len(id.Log) {
		d.Fail("log id of %d bytes", n)
	}
	id.Generation, id.Boot, inode = d.Uint(), d.Uint(), d.Uint()
	return id, inode, d.Close()
}
