package storage

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Key is a key of a store. Keys are made here only: a namespace letter, then parts, names escaped and ended by a zero
// byte so that no name is a prefix of another's keys, numbers big-endian so that they sort.
type Key string

// The namespaces. Values of the format; they never change.
const (
	nsPoint    = 'r' // recovery points: manifest and chunks
	nsPosition = 'p' // client and sink positions
	nsDocument = 'd' // documents with versions
)

// Parts of a recovery point.
const (
	partManifest = 'm'
	partChunk    = 'c'
)

type keyBuilder struct{ b []byte }

func newKey(ns byte) keyBuilder { return keyBuilder{b: []byte{ns}} }

// name appends a part of any bytes: zero is escaped as 0 255, the end is 0 1.
func (k keyBuilder) name(s string) keyBuilder {
	for i := range len(s) {
		k.b = append(k.b, s[i])
		if s[i] == 0 {
			k.b = append(k.b, 255)
		}
	}
	k.b = append(k.b, 0, 1)
	return k
}

func (k keyBuilder) letter(c byte) keyBuilder {
	k.b = append(k.b, c)
	return k
}

func (k keyBuilder) number(n uint64) keyBuilder {
	k.b = binary.BigEndian.AppendUint64(k.b, n)
	return k
}

func (k keyBuilder) key() Key { return Key(k.b) }

// cutNumber takes the number that a key goes on with after a prefix.
func cutNumber(key, prefix Key) (n uint64, rest string, ok bool) {
	tail, ok := strings.CutPrefix(string(key), string(prefix))
	if !ok || len(tail) < 8 {
		return 0, "", false
	}
	return binary.BigEndian.Uint64([]byte(tail)), tail[8:], true
}

// cutName takes the name that a key goes on with after a prefix.
func cutName(key, prefix Key) (name string, rest Key, ok bool) {
	tail, ok := strings.CutPrefix(string(key), string(prefix))
	if !ok {
		return "", "", false
	}
	var b []byte
	for i := 0; i < len(tail); i++ {
		if tail[i] != 0 {
			b = append(b, tail[i])
			continue
		}
		if i+1 < len(tail) && tail[i+1] == 1 {
			return string(b), Key(tail[i+2:]), true
		}
		b = append(b, 0)
		i++
	}
	return "", "", false
}

func manifestsKey(fragment string) Key {
	return newKey(nsPoint).name(fragment).letter(partManifest).key()
}

func manifestKey(fragment string, number uint64) Key {
	return newKey(nsPoint).name(fragment).letter(partManifest).number(number).key()
}

func pointChunksKey(fragment string) Key {
	return newKey(nsPoint).name(fragment).letter(partChunk).key()
}

func pointChunkKey(fragment string, number uint64) Key {
	return newKey(nsPoint).name(fragment).letter(partChunk).number(number).key()
}

func chunkKey(base Key, n int) Key { return base + newKey('#').number(uint64(n)).key() }

func positionsKey(query string) Key { return newKey(nsPosition).name(query).key() }

func positionKey(k ClientKey) Key {
	return newKey(nsPosition).name(k.Query).name(k.Output).name(k.Client).key()
}

func documentsKey(kind string) Key { return newKey(nsDocument).name(kind).key() }

func documentKey(k DocumentKey) Key { return newKey(nsDocument).name(k.Kind).name(k.Name).key() }

func documentVersionKey(k DocumentKey, version uint64) Key {
	return documentKey(k) + keyBuilder{}.number(version).key()
}

// checkKey refuses what no store takes.
func checkKey(key Key) error {
	if n := len(key); n == 0 || n > KeyBytes {
		return fmt.Errorf("storage: key of %d bytes, want 1 to %d: %w", n, KeyBytes, ErrTooLarge)
	}
	return nil
}

// CheckWrite reports a key or value that no store takes, or a transaction of sum bytes that is too long. Every Writer
// calls it.
func CheckWrite(key Key, valueBytes, txBytes int) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if valueBytes > ChunkBytes {
		return fmt.Errorf("storage: value of %d bytes, at most %d are allowed: %w", valueBytes, ChunkBytes, ErrTooLarge)
	}
	if txBytes > TxBytes {
		return fmt.Errorf("storage: transaction of %d bytes, at most %d are allowed: %w", txBytes, TxBytes, ErrTooLarge)
	}
	return nil
}
