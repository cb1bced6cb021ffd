package format

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"fednode/node/connect"
)

// Compression of a file.
type Compression string

// The compressions.
const (
	Plain Compression = ""
	Gzip  Compression = "gz"
	Zstd  Compression = "zst"
)

// CompressionOf returns the compression that a file name stands for.
func CompressionOf(path string) Compression {
	switch {
	case strings.HasSuffix(path, ".gz"):
		return Gzip
	case strings.HasSuffix(path, ".zst"):
		return Zstd
	}
	return Plain
}

// maxZstdWindow bounds the memory that a zstd input may ask for, in bytes.
const maxZstdWindow = 64 << 20

// Decompress returns the uncompressed bytes of src, whose first bytes tell the compression, whatever its name. Close
// frees the decompressor, not src.
func Decompress(src io.Reader) (io.ReadCloser, Compression, error) {
	in := &damage{src: src}
	buf := bufio.NewReaderSize(in, 64<<10)
	head, _ := buf.Peek(4) // an error comes again when it is read
	switch {
	case len(head) >= 2 && head[0] == 0x1F && head[1] == 0x8B:
		z, err := gzip.NewReader(buf)
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF // within the header it is a cut
			}
			return nil, Gzip, in.sort(err)
		}
		return &decompressor{z, in}, Gzip, nil
	case string(head) == "\x28\xB5\x2F\xFD":
		z, err := zstd.NewReader(buf, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, Zstd, in.sort(err)
		}
		return &decompressor{z.IOReadCloser(), in}, Zstd, nil
	}
	return io.NopCloser(buf), Plain, nil
}

// damage tells what an error of a decompressor means: the input is cut, it is damaged, or reading it failed.
type damage struct {
	src io.Reader
	err error // of src, but the end
}

// Read reads the compressed input and remembers how it failed.
func (d *damage) Read(p []byte) (int, error) {
	n, err := d.src.Read(p)
	if err != nil && err != io.EOF {
		d.err = err
	}
	return n, err
}

func (d *damage) sort(err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case d.err != nil:
		return d.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &InputError{connect.EndTruncated, err}
	}
	return &InputError{connect.EndCorrupt, err}
}

// decompressor is a stream of uncompressed bytes whose errors are sorted.
type decompressor struct {
	io.ReadCloser
	damage *damage
}

// Read reads uncompressed bytes.
func (d *decompressor) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	return n, d.damage.sort(err)
}

// Compress returns a writer that compresses into dst. Close ends the stream, not dst; what is appended to dst
// afterwards by another such writer continues it.
func Compress(dst io.Writer, c Compression) (io.WriteCloser, error) {
	switch c {
	case Gzip:
		return gzip.NewWriterLevel(dst, gzip.DefaultCompression)
	case Zstd:
		return zstd.NewWriter(dst, zstd.WithEncoderConcurrency(1))
	}
	return nopCloser{dst}, nil
}

type nopCloser struct{ io.Writer }

// Close does nothing: there is nothing to end.
func (nopCloser) Close() error { return nil }
