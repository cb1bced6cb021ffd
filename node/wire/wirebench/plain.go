package wirebench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unsafe"

	"fednode/query/tuple"
)

// The plain side copies the same columns, codes as they are, behind a length, and reads them into fresh memory: the
// least that anyone could do. It neither sends dictionaries nor checks anything.

func appendColumns(dst []byte, b *tuple.Batch) []byte {
	dst = append(dst, raw(b.Time)...)
	for i := range b.Cols {
		c := &b.Cols[i]
		dst = append(append(dst, raw(c.Int)...), raw(c.Code)...)
	}
	return dst
}

func raw[T ~int64 | ~uint32](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}

func plainSend(w io.Writer, batches []*tuple.Batch, each func() error) (total int64, err error) {
	var buf []byte
	for _, b := range batches {
		buf = appendColumns(append(buf[:0], 0, 0, 0, 0), b)
		binary.LittleEndian.PutUint32(buf, uint32(len(buf)-4))
		if _, err := w.Write(buf); err != nil {
			return total, err
		}
		total += int64(len(buf))
		if err := each(); err != nil {
			return total, err
		}
	}
	return total, nil
}

func plainReceive(r io.Reader) (int64, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return 0, err
	}
	columns := make([]byte, binary.LittleEndian.Uint32(size[:]))
	n, err := io.ReadFull(r, columns)
	return int64(n) + 4, err
}

func plainInProcess(_ context.Context, batches []*tuple.Batch) (int64, error) {
	var pipe hold
	var got int64
	sent, err := plainSend(&pipe, batches, func() error {
		n, err := plainReceive(&pipe.buf)
		got += n
		return err
	})
	return sent, errors.Join(err, same(sent, got))
}

func plainOverTCP(ctx context.Context, batches []*tuple.Batch) (int64, error) {
	var sent, got int64
	err := withConnection(ctx, func(w io.Writer) (err error) {
		sent, err = plainSend(w, batches, func() error { return nil })
		return err
	}, func(r io.Reader) error {
		for {
			n, err := plainReceive(r)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			got += n
		}
	})
	return sent, errors.Join(err, same(sent, got))
}

func same(sent, got int64) error {
	if sent != got {
		return fmt.Errorf("%d bytes of %d arrived", got, sent)
	}
	return nil
}
