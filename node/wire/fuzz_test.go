package wire

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"fednode/query/tuple"
	"fednode/query/tuple/arrowio/stream"
	"fednode/query/tuple/tupletest"
)

// resealed gives every frame in data the checksum of its payload, so that mutations get past it.
func resealed(data []byte) []byte {
	data = bytes.Clone(data)
	for rest := data; len(rest) >= headerSize; {
		n := headerSize + int(rest[0]) + int(rest[1])<<8 + int(rest[2])<<16
		if n > len(rest) {
			break
		}
		version, kind := rest[4], rest[5]
		seal(rest[:n], version, kind)
		rest = rest[n:]
	}
	return data
}

// Whatever comes, the reader gives consistent batches or an error of the right kind.
func FuzzReadFrame(f *testing.F) {
	// Small seeds: the fuzzer spends its time on each byte of them.
	s, frames := goldenFrames()
	f.Add(send(f, s, WriterOptions{}, frames...))
	one := words(9, func(i int) string { return "xyz"[:i%3] })
	for _, codec := range []stream.Codec{stream.None, stream.LZ4, stream.Zstd} {
		f.Add(send(f, one.Schema, WriterOptions{Codec: codec, CutBytes: 60}, insertion(1, one)))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := NewReader(bytes.NewReader(resealed(data)), ReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for {
			fr, err := r.ReadFrame()
			var pe *ProtocolError
			if err == io.EOF {
				return
			}
			if err != nil {
				if !errors.As(err, &pe) || !pe.Code.Valid() {
					t.Fatalf("%T %v", err, err)
				}
				return
			}
			if fr.Kind != tuple.Insertion && fr.Kind != tuple.Tentative {
				continue
			}
			if err := fr.Batch.Check(); err != nil {
				t.Fatal(err)
			}
			tupletest.Hash(fr.Batch)
			tupletest.Lines(fr.Batch)
		}
	})
}

// Whatever comes, a message is within its limits or an error; what is read can be sent again.
func FuzzControl(f *testing.F) {
	for _, m := range samples() {
		f.Add(controlBytes(f, m))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		messages, err := readControl(t, resealed(data))
		var pe *ProtocolError
		if err != io.EOF && !errors.As(err, &pe) {
			t.Fatalf("%T %v", err, err)
		}
		controlBytes(t, messages...)
	})
}
