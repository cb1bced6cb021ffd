package stream

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// compressor packs buffers with one codec.
type compressor struct {
	codec Codec
	lz4   *lz4.Writer
	zstd  *zstd.Encoder
	out   bytes.Buffer
}

func newCompressor(codec Codec) (*compressor, error) {
	c := &compressor{codec: codec}
	switch codec {
	case LZ4:
		c.lz4 = lz4.NewWriter(nil)
		return c, c.lz4.Apply(lz4.ChecksumOption(false), lz4.BlockSizeOption(lz4.Block256Kb))
	case Zstd:
		var err error
		c.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
		return c, err
	}
	return c, nil
}

// pack appends src compressed to dst, or returns ok false if that would not make it smaller.
func (c *compressor) pack(dst, src []byte) (packed []byte, ok bool) {
	n := len(dst)
	switch c.codec {
	case LZ4:
		c.out.Reset()
		c.lz4.Reset(&c.out)
		if _, err := c.lz4.Write(src); err != nil {
			return dst, false
		}
		if err := c.lz4.Close(); err != nil {
			return dst, false
		}
		dst = append(dst, c.out.Bytes()...)
	case Zstd:
		dst = c.zstd.EncodeAll(src, dst)
	}
	if len(dst)-n >= len(src) {
		return dst[:n], false
	}
	return dst, true
}

// decompressor unpacks buffers of any codec.
type decompressor struct {
	lz4  *lz4.Reader
	zstd *zstd.Decoder
}

// unpack returns exactly size bytes out of src, or an error. It takes no more memory than that and the codec's window,
// which is bounded by MaxBytes.
func (d *decompressor) unpack(codec Codec, src []byte, size int) ([]byte, error) {
	if codec == LZ4 {
		return d.unpackLZ4(src, size)
	}
	if d.zstd == nil {
		var err error
		d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(MaxBytes), zstd.WithDecoderMaxWindow(MaxBytes), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
	}
	out, err := d.zstd.DecodeAll(src, make([]byte, 0, size))
	if err == nil && len(out) != size {
		err = io.ErrUnexpectedEOF
	}
	return out, err
}

func (d *decompressor) unpackLZ4(src []byte, size int) ([]byte, error) {
	if d.lz4 == nil {
		d.lz4 = lz4.NewReader(nil)
	}
	d.lz4.Reset(bytes.NewReader(src))
	out := make([]byte, size)
	if _, err := io.ReadFull(d.lz4, out); err != nil {
		return nil, err
	}
	var more [1]byte
	if n, _ := d.lz4.Read(more[:]); n != 0 {
		return nil, io.ErrShortBuffer
	}
	return out, nil
}
