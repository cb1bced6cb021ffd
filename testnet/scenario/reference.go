package scenario

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"fednode/testnet"
)

// reference makes the results of an undisturbed run in a folder: one process reads all rows that the live sources wrote,
// in the order of their time. It returns the folder; files are named OUTPUT.csv.
func reference(ctx context.Context, net *testnet.Net, files []string, dir string) error {
	query, stream := net.QueryFile()
	if query == "" {
		return errors.New("an undisturbed run needs a testnet with `query` and `live`")
	}
	all := filepath.Join(dir, "all.csv")
	if err := mergeByTime(files, all); err != nil {
		return err
	}
	args := []string{"query", "run", query, "--source", stream + "=" + all}
	for _, o := range net.Outputs() {
		args = append(args, "--sink", o+"="+filepath.Join(dir, o+".csv"))
	}
	c := exec.CommandContext(ctx, net.Command(), args...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("undisturbed run: %w: %s", err, out)
	}
	return nil
}

// sorted is a file of rows in the order of their time, with the row that comes next.
type sorted struct {
	file *os.File
	rows *bufio.Scanner
	at   int64
	line []byte // without its line break, valid until the next; nil at the end
}

// maxRow bounds a row of a live source.
const maxRow = 1 << 16

// openSorted opens a file and reads its head.
func openSorted(path string) (s *sorted, head []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	s = &sorted{file: f, rows: bufio.NewScanner(bufio.NewReaderSize(f, 1<<20))}
	s.rows.Buffer(nil, maxRow)
	if s.rows.Scan() {
		head = bytes.Clone(s.rows.Bytes())
	}
	if err := s.next(); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return s, head, nil
}

// next reads the next row, whose first column is its time, a number.
func (s *sorted) next() error {
	last := s.at
	if s.line = nil; !s.rows.Scan() {
		return s.rows.Err()
	}
	first, _, _ := bytes.Cut(s.rows.Bytes(), []byte(","))
	at, err := strconv.ParseInt(string(first), 10, 64)
	if err != nil {
		return fmt.Errorf("%s: %w", s.file.Name(), err)
	}
	if at < last {
		return fmt.Errorf("%s: a row of time %d after one of %d", s.file.Name(), at, last)
	}
	s.at, s.line = at, s.rows.Bytes()
	return nil
}

// mergeByTime writes the rows of CSV files of one head, each in the order of its first column, a number, in that order.
// Rows of one time stand in the order of their files.
func mergeByTime(files []string, to string) (err error) {
	var all []*sorted
	defer func() {
		for _, s := range all {
			err = errors.Join(err, s.file.Close())
		}
	}()
	var head []byte
	for _, path := range files {
		s, h, err := openSorted(path)
		if err != nil {
			return err
		}
		all, head = append(all, s), h
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	w.Write(head) // an error shows at the end
	w.WriteByte('\n')
	for s := least(all); s != nil; s = least(all) {
		w.Write(s.line)
		w.WriteByte('\n')
		if err := s.next(); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

// least is the file whose next row has the least time; nil at the end of all.
func least(all []*sorted) (from *sorted) {
	for _, s := range all {
		if s.line != nil && (from == nil || s.at < from.at) {
			from = s
		}
	}
	return from
}

// sumOf is the sha256 of a file and its length.
func sumOf(path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	if size, err = io.Copy(h, f); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

// firstDifference says where two files differ first, for people.
func firstDifference(got, want string) string {
	a, errA := os.ReadFile(got)
	b, errB := os.ReadFile(want)
	if err := errors.Join(errA, errB); err != nil {
		return err.Error()
	}
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(x), len(y)) {
		if !bytes.Equal(x[i], y[i]) {
			return fmt.Sprintf("%s:%d: `%s`, expected `%s`", got, i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%s has %d lines, expected %d", got, len(x)-1, len(y)-1)
}
