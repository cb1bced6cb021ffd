package local

import (
	"fmt"
	"os"
	"path/filepath"
)

// place is a file that the run writes, with the words for what writes it.
type place struct {
	who, path string
}

// checkPaths refuses a run in which a file is written twice, or written while it is read: a result takes the place of
// its file, and one of the two would be lost without a word.
func (r *runner) checkPaths() error {
	written := r.written()
	for i, w := range written {
		for _, other := range written[:i] {
			if sameFile(w.path, other.path) {
				return fmt.Errorf("%s and %s both write %s; give each a file of its own", other.who, w.who, w.path)
			}
		}
	}
	for _, d := range r.plan.Diagram.Streams {
		src, ok := r.opt.Connectors.Sources[d.Name]
		if !ok || src.Plan.Files == nil {
			continue
		}
		for _, file := range src.Plan.Files(r.opt.Env.Dir) {
			for _, w := range written {
				if sameFile(file, w.path) {
					return fmt.Errorf("%s would replace %s, which stream %s reads; write to another file", w.who, w.path, d.Name)
				}
			}
		}
	}
	return nil
}

// written returns the files of the run's outputs and side sinks. Devices and pipes are not replaced, and not named.
func (r *runner) written() (all []place) {
	add := func(who, path string) {
		if path == "" || path == "-" {
			return
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.opt.Env.Dir, path)
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return
		}
		all = append(all, place{who, path})
	}
	for _, o := range r.plan.Outputs {
		if s, ok := r.opt.Connectors.Sinks[o.Output.Name]; ok {
			add("output "+o.Output.Name, s.Plan.Path)
		}
	}
	for _, s := range r.opt.Sides {
		add(s.Stream+s.Kind.Suffix(), s.Path)
	}
	return all
}

// sameFile compares what two names lead to; a file that is not there yet is compared by its folder and name.
func sameFile(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(ia, ib)
	}
	return (errA == nil) == (errB == nil) && resolved(a) == resolved(b)
}

func resolved(path string) string {
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
