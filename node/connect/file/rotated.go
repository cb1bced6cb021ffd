package file

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// resumeAt finds the file that a position is in, under its name or, after rotations, beside it, and queues what has been
// written since.
func (r *followReader) resumeAt(at *position) {
	r.opts.Later = true
	r.queue, r.start = nil, nil
	if at.offset == 0 {
		return
	}
	if holds(r.path, at) {
		r.start = at
		r.start.file = r.path
		return
	}
	siblings := siblingsOf(r.path)
	for i, s := range siblings {
		if holds(s.path, at) {
			r.start = at
			r.start.file = s.path
			for _, later := range siblings[i:] {
				r.queue = append(r.queue, later.path)
			}
			return
		}
	}
	r.lost(fmt.Sprintf("the file that %s was is gone; whatever it held after byte %d was not read", r.path, at.offset))
}

// holds reports whether a file is the one that a position is in, or a copy of it.
func holds(path string, at *position) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return at.imprint.matches(f, at.offset)
}

type sibling struct {
	path    string
	changed int64 // Unix nanoseconds
}

// siblingsOf returns the uncompressed files beside path whose names begin with its name, such as conn.log.1, or its
// name without the extension, such as conn-2026-11-29.log, the one changed longest ago first.
func siblingsOf(path string) []sibling {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil
	}
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	var out []sibling
	for _, e := range entries {
		name := e.Name()
		ours := strings.HasPrefix(name, base) || strings.HasPrefix(name, stem) && strings.HasSuffix(name, filepath.Ext(base))
		if name == base || !ours || strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".zst") || strings.HasSuffix(name, ".bz2") || strings.HasSuffix(name, ".xz") {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			out = append(out, sibling{dir + name, info.ModTime().UnixNano()})
		}
	}
	slices.SortFunc(out, func(a, b sibling) int {
		if c := cmp.Compare(a.changed, b.changed); c != 0 {
			return c
		}
		return strings.Compare(b.path, a.path) // conn.log.2 is older than conn.log.1
	})
	return out
}
