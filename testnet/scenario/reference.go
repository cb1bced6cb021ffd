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
	"slices"
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

// timed is a row with its time.
type timed struct {
	at   int64
	line []byte
}

// mergeByTime writes the rows of CSV files of one head in the order of their first column, a number.
func mergeByTime(files []string, to string) error {
	var rows []timed
	var head []byte
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := bytes.SplitAfter(text, []byte("\n"))
		head = lines[0]
		for _, line := range lines[1:] {
			if len(line) == 0 {
				continue
			}
			first, _, _ := bytes.Cut(line, []byte(","))
			at, err := strconv.ParseInt(string(first), 10, 64)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			rows = append(rows, timed{at, line})
		}
	}
	slices.SortStableFunc(rows, func(a, b timed) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	w.Write(head) // an error shows at the end
	for _, r := range rows {
		w.Write(r.line)
	}
	return errors.Join(w.Flush(), f.Close())
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
