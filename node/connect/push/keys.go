package push

import (
	"crypto/sha256"

	"fednode/query/tuple"
)

// maxKeys is how many idempotency keys are remembered; a sender that repeats a push later than that many others adds its
// rows again.
const maxKeys = 1024

// keys are the idempotency keys seen last, each with how many blocks of its push have been taken. Keys are kept as
// hashes: a sender chooses their length.
type keys struct {
	order []keyHash // oldest first
	taken map[keyHash]int
}

type keyHash [16]byte

func hashOf(key string) (h keyHash) {
	sum := sha256.Sum256([]byte(key))
	copy(h[:], sum[:])
	return h
}

// seen returns how many blocks of a push have been taken; 0 for no key.
func (k *keys) seen(key string) int {
	if key == "" {
		return 0
	}
	return k.taken[hashOf(key)]
}

// note records that blocks of a push have been taken.
func (k *keys) note(key string, blocks int) {
	if key == "" {
		return
	}
	h := hashOf(key)
	if _, known := k.taken[h]; !known {
		if len(k.order) == maxKeys {
			delete(k.taken, k.order[0])
			k.order = append(k.order[:0], k.order[1:]...)
		}
		k.order = append(k.order, h)
	}
	k.taken[h] = blocks
}

func (k *keys) encode() []byte {
	e := tuple.Encoder{B: make([]byte, 0, 4+len(k.order)*19)}
	e.Uint(uint64(len(k.order)))
	for _, h := range k.order {
		e.Bytes(h[:])
		e.Uint(uint64(k.taken[h]))
	}
	return e.B
}

func decodeKeys(pos []byte) (*keys, error) {
	k := &keys{taken: make(map[keyHash]int)}
	if pos == nil {
		return k, nil
	}
	d := tuple.NewDecoder(pos)
	for range d.Count(2) {
		var h keyHash
		if b := d.Bytes(); copy(h[:], b) != len(h) || len(b) != len(h) {
			d.Fail("a key of %d bytes", len(b))
			break
		}
		if len(k.order) == maxKeys {
			d.Fail("more than %d keys", maxKeys)
			break
		}
		k.order = append(k.order, h)
		k.taken[h] = int(d.Uint() & 0xFFFFFF)
	}
	return k, d.Close()
}
