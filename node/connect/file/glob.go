package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// expand returns the files that the patterns name, relative to dir, in byte order and each once. A directory stands for
// the files in it whose names do not begin with a dot.
func expand(dir string, patterns []string) ([]string, error) {
	var files []string
	for _, p := range patterns {
		found, err := expandOne(inDir(dir, p))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

func inDir(dir, path string) string {
	if dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func expandOne(pattern string) ([]string, error) {
	if !strings.ContainsAny(pattern, "*?[") {
		return expandPlain(pattern)
	}
	if info, err := os.Stat(pattern); err == nil && info.Mode().IsRegular() {
		return []string{pattern}, nil // a name with brackets in it
	}
	root := pattern[:strings.IndexAny(pattern, "*?[")]
	root = root[:strings.LastIndexByte(root, filepath.Separator)+1]
	steps := strings.Split(pattern[len(root):], string(filepath.Separator))
	for _, s := range steps {
		if _, err := filepath.Match(s, ""); err != nil {
			return nil, fmt.Errorf("the pattern %q is malformed: a [ is not closed", pattern)
		}
	}
	var files []string
	if err := walk(root, steps, &files); err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no file matches %q", pattern)
	}
	return files, nil
}

func expandPlain(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, nil // opening it tells what is wrong
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if full := filepath.Join(path, e.Name()); e.Name()[0] != '.' && isFile(full, e) {
			files = append(files, full)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("the directory %q has no files", path)
	}
	return files, nil
}

// isFile reports whether an entry is a file that can be read, through symbolic links.
func isFile(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return !e.IsDir()
	}
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// walk adds the files below root (which ends in a separator or is empty) that match the steps. Symbolic links to
// directories are not followed by **, so that a loop of them ends.
func walk(root string, steps []string, files *[]string) error {
	dir := root
	if dir == "" {
		dir = "."
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	step, rest := steps[0], steps[1:]
	if step == "**" && len(rest) > 0 {
		if err := walk(root, rest, files); err != nil { // no level at all
			return err
		}
	}
	for _, e := range entries {
		full := root + e.Name()
		match, _ := filepath.Match(step, e.Name())
		switch {
		case step == "**" && e.IsDir() && e.Name()[0] != '.':
			err = walk(full+string(filepath.Separator), steps, files)
		case step == "**" && len(rest) == 0 && e.Name()[0] != '.', match && len(rest) == 0 && step != "**":
			if isFile(full, e) {
				*files = append(*files, full)
			}
		case match && step != "**" && !isFile(full, e):
			err = walk(full+string(filepath.Separator), rest, files)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
