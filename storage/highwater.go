package storage

import (
	"fmt"

	"fednode/query/tuple"
	"fednode/storage/disk"
)

// ReserveBlock is how many ids HighWater reserves at once: one small synced write for so many tuples.
const ReserveBlock = 1 << 20

// HighWater bounds the ids of a stream that may have been sent, in a file apart from the stream's log: whatever happens
// to the log's end, no id above the mark has left this node and none up to it is given to another tuple. It belongs to
// one goroutine.
type HighWater struct {
	reg  *disk.Register
	mark Mark
}

// Mark is a bound: in Generation, ids up to ID may have been sent; in later generations, none.
type Mark struct {
	Generation uint64
	ID         uint64
}

const markVersion = 1

// OpenHighWater opens or makes the mark at path. A new one bounds nothing: Mark{}. A damaged one is of class ErrDamaged:
// then nobody knows which ids were sent, and the stream goes on in a new generation with a new file.
func OpenHighWater(path string) (*HighWater, error) {
	reg, err := disk.OpenRegister(path, nil)
	if err != nil {
		return nil, err
	}
	h := &HighWater{reg: reg}
	if v := reg.Value(); v != nil {
		d := tuple.NewDecoder(v)
		if version := d.Uint(); version != markVersion {
			d.Fail("format version %d", version)
		}
		h.mark = Mark{Generation: d.Uint(), ID: d.Uint()}
		if err := d.Close(); err != nil {
			_ = reg.Close() // the damage is what counts
			return nil, disk.Damaged("read", path, "%v", err)
		}
	}
	return h, nil
}

// Mark returns the bound. After a restart, ids above the log's last one and up to this may be known to others.
func (h *HighWater) Mark() Mark { return h.mark }

// Cover makes sure that the mark is durably at or above m before tuples up to m are sent. It writes once for
// ReserveBlock ids, in place: a full disk does not stop it. Generations do not fall.
func (h *HighWater) Cover(m Mark) error {
	if m.Generation < h.mark.Generation {
		return fmt.Errorf("storage: high-water mark of generation %d after %d", m.Generation, h.mark.Generation)
	}
	if m.Generation == h.mark.Generation && m.ID <= h.mark.ID {
		return nil
	}
	next := Mark{Generation: m.Generation, ID: max(m.ID, m.ID+ReserveBlock)} // max: at the end of the range the sum wraps
	var e tuple.Encoder
	e.Uint(markVersion)
	e.Uint(next.Generation)
	e.Uint(next.ID)
	if err := h.reg.Store(e.B); err != nil {
		return err
	}
	h.mark = next
	return nil
}

// Close closes the file.
func (h *HighWater) Close() error { return h.reg.Close() }
