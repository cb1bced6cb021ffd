package testnet

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxLine bounds a line of a data file.
const maxLine = 64 << 20

// formatOf is the format of a file by its extension, compression apart; "" if there is none that can be dealt out.
func formatOf(path string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(path), ".gz"), ".zst")
	switch filepath.Ext(name) {
	case ".csv", ".binetflow":
		return "csv"
	case ".tsv", ".tabs":
		return "tsv"
	case ".json", ".jsonl", ".ndjson":
		return "jsonl"
	case ".log":
		return "zeek"
	}
	return ""
}

// extensions of dealt-out files by format.
func extensionOf(format string) string {
	if format == "zeek" {
		return ".log"
	}
	return "." + format
}

// deal deals the rows of files out in turn, one file for each path but the extension, and returns the files' paths. Heads
// go to everybody. All data files are of the first one's format.
func deal(data, stems []string) (paths []string, err error) {
	format := formatOf(data[0])
	if format == "" {
		return nil, errorf(ErrSpec, "%s: its extension is of no format that can be dealt out; expected .csv .tsv .jsonl or .log (Zeek), each also .gz or .zst", data[0])
	}
	d := &dealer{format: format}
	for _, s := range stems {
		path := s + extensionOf(format)
		f, err := os.Create(path)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("testnet: %w", err), d.close())
		}
		paths = append(paths, path)
		d.files, d.hands = append(d.files, f), append(d.hands, bufio.NewWriterSize(f, 1<<18))
	}
	for _, path := range data {
		if err == nil {
			err = d.file(path)
		}
	}
	return paths, errors.Join(err, d.close())
}

// dealer deals lines out to hands.
type dealer struct {
	format string
	files  []*os.File
	hands  []*bufio.Writer
	next   int
	head   []byte // of the first CSV file
}

func (d *dealer) close() error {
	var errs []error
	for i, f := range d.files {
		errs = append(errs, d.hands[i].Flush(), f.Close())
	}
	return errors.Join(errs...)
}

func (d *dealer) file(path string) error {
	if got := formatOf(path); got != d.format {
		return errorf(ErrSpec, "%s: expected a file in the format %s like the first, got `%s`", path, d.format, got)
	}
	in, err := openPlain(path)
	if err != nil {
		return err
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 1<<16), maxLine)
	lines.Split(wholeLines)
	first := true
	for lines.Scan() {
		line := lines.Bytes()
		head := d.format == "zeek" && line[0] == '#' || first && (d.format == "csv" || d.format == "tsv")
		first = false
		if err := d.line(path, line, head); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return errorf(ErrSpec, "%s: %v", path, err)
	}
	return nil
}

func (d *dealer) line(path string, line []byte, head bool) error {
	if !head {
		hand := d.hands[d.next%len(d.hands)]
		d.next++
		_, err := hand.Write(line)
		return err
	}
	if d.format != "zeek" && d.head != nil {
		if !bytes.Equal(bytes.TrimSpace(d.head), bytes.TrimSpace(line)) {
			return errorf(ErrSpec, "%s: its head is not that of the first file", path)
		}
		return nil
	}
	d.head = bytes.Clone(line)
	for _, hand := range d.hands {
		if _, err := hand.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// wholeLines splits into lines that keep their end; a last line without one gets it.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), append(bytes.Clone(data), '\n'), nil
	}
	return 0, nil, nil
}

// openPlain opens a file, decompressed by its extension.
func openPlain(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &Error{Kind: ErrSpec, Msg: err.Error()}
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".gz":
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, errors.Join(errorf(ErrSpec, "%s: %v", path, err), f.Close())
		}
		return unpacked{z, f}, nil
	case ".zst":
		z, err := zstd.NewReader(f)
		if err != nil {
			return nil, errors.Join(errorf(ErrSpec, "%s: %v", path, err), f.Close())
		}
		return unpacked{z.IOReadCloser(), f}, nil
	}
	return f, nil
}

// unpacked closes the file below a decompressor too.
type unpacked struct {
	io.ReadCloser
	file *os.File
}

func (u unpacked) Close() error { return errors.Join(u.ReadCloser.Close(), u.file.Close()) }
