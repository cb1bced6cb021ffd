package scenario

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// part reports whether all outputs are a part of what an undisturbed run gives: nothing of another content or out of its order, and
// nothing missing at the end. If not, it says where.
func (r *runner) part(dir string) (ok bool, difference string) {
	for _, o := range r.net.Outputs() {
		ok, difference, err := partOf(filepath.Join(r.own.Home(), o+".csv"), filepath.Join(dir, o+".csv"))
		if err != nil {
			return false, err.Error()
		}
		if !ok {
			return false, difference
		}
	}
	return true, ""
}

// partOf reports whether the lines of one file are among those of another, in their order, and the last ones of both the same.
func partOf(path, whole string) (ok bool, difference string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, "", err
	}
	g, err := os.Open(whole)
	if err != nil {
		return false, "", errors.Join(err, f.Close())
	}
	defer func() { err = errors.Join(err, f.Close(), g.Close()) }()
	got, want := bufio.NewReader(f), bufio.NewReader(g)
	var last []byte
	for n := 1; ; n++ {
		line, err := got.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		if errors.Is(err, io.EOF) {
			return false, fmt.Sprintf("%s:%d: `%s` is no whole line, or not yet", path, n, line), nil
		}
		if err != nil {
			return false, "", err
		}
		for last = nil; !bytes.Equal(last, line); {
			if last, err = want.ReadBytes('\n'); errors.Is(err, io.EOF) {
				return false, fmt.Sprintf("%s:%d: `%s` is not in an undisturbed run, or not there", path, n, bytes.TrimSpace(line)), nil
			} else if err != nil {
				return false, "", err
			}
		}
	}
	if more, err := want.ReadBytes('\n'); !errors.Is(err, io.EOF) {
		return false, fmt.Sprintf("%s ends before `%s`", path, bytes.TrimSpace(more)), err
	}
	return last != nil, path + " is empty", nil
}
