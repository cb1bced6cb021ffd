package format

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

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

// headBytes is how much of an input's beginning tells what it is not.
const headBytes = 512

// CheckName refuses an input that its name calls compressed, and whose beginning is neither that nor anything that can be
// read as it is. Text under such a name is read: it was unpacked on its way, and kept the name.
func CheckName(path string, src io.ReaderAt) error {
	kind := CompressionOf(path)
	if kind == Plain {
		return nil
	}
	head := make([]byte, headBytes)
	n, _ := src.ReadAt(head, 0) // an error comes again when it is read
	head = head[:n]
	if isCompressed(head) || readable(head) {
		return nil
	}
	what := "gzip"
	if kind == Zstd {
		what = "zstd"
	}
	return &InputError{connect.EndCorrupt, fmt.Errorf("not %s, as the name says: it begins with % x", what, head[:min(n, 4)]), 0}
}

// IsCompressed reports whether an input begins as a compressed one does.
func IsCompressed(src io.ReaderAt) bool {
	head := make([]byte, 4)
	n, _ := src.ReadAt(head, 0)
	return isCompressed(head[:n])
}

func isCompressed(head []byte) bool { return isGzip(head) || isZstd(head) }

func isGzip(head []byte) bool { return bytes.HasPrefix(head, []byte("\x1F\x8B")) }

func isZstd(head []byte) bool { return bytes.HasPrefix(head, []byte("\x28\xB5\x2F\xFD")) }

// readable reports whether a beginning is that of text or of a binary format.
func readable(head []byte) bool {
	for _, magic := range []string{"ARROW1", "\xFF\xFF\xFF\xFF", "PAR1"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	for len(head) > 0 {
		r, size := utf8.DecodeRune(head)
		if r == utf8.RuneError && size == 1 && utf8.FullRune(head) || r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			return false
		}
		head = head[size:]
	}
	return true
}

// maxZstdWindow bounds the memory that a zstd input may ask for, in bytes.
const maxZstdWindow = 64 << 20

// Decompress returns the uncompressed bytes of src, whose first bytes tell the compression, whatever its name. Close
// frees the decompressor, not src.
func Decompress(src io.Reader) (io.ReadCloser, Compression, error) {
	in := &damage{src: src}
	buf := bufio.NewReaderSize(in, 64<<10)
	in.ahead = buf
	head, _ := buf.Peek(4) // an error comes again when it is read
	switch {
	case isGzip(head):
		z, err := gzip.NewReader(buf)
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF // within the header it is a cut
			}
			return nil, Gzip, in.sort(err)
		}
		return &decompressor{z, in}, Gzip, nil
	case isZstd(head):
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
	src   io.Reader
	read  int64         // bytes read from src
	ahead *bufio.Reader // holds those the decompressor has not taken yet
	err   error         // of src, but the end
}

func (d *damage) offset() int64 { return d.read - int64(d.ahead.Buffered()) }

// Read reads the compressed input and remembers how it failed.
func (d *damage) Read(p []byte) (int, error) {
	n, err := d.src.Read(p)
	d.read += int64(n)
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
		return &InputError{connect.EndTruncated, err, d.offset()}
	}
	return &InputError{connect.EndCorrupt, err, d.offset()}
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
