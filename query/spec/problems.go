package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing wrong with a declaration: where, what was found, what was expected, and what to do.
type Problem struct {
	Pos  Pos
	Path string // dotted name of the key, "operators.active.where"
	Msg  string
	// Hint is what to do about it, "did you mean `dport`?"; may be empty.
	Hint string

	cause bool // what settles its path
}

// Error prints file:line:column: path: message; hint. A place that names the path already, as a flag does that sets a key,
// stands alone.
func (p Problem) Error() string {
	var b strings.Builder
	if p.Pos.File != "" || p.Pos.Line != 0 {
		b.WriteString(p.Pos.String() + ": ")
	}
	if p.Path != "" && (p.Pos.Line != 0 || !strings.HasSuffix(p.Pos.File, " "+p.Path)) {
		b.WriteString(visible(p.Path) + ": ")
	}
	b.WriteString(visible(p.Msg))
	if p.Hint != "" {
		b.WriteString("; " + visible(p.Hint))
	}
	return b.String()
}

// MaxProblems is how many problems of one file are kept; the rest are counted.
const MaxProblems = 200

// Problems collects what is wrong, errors and warnings apart. The zero value is ready.
type Problems struct {
	Errors   []Problem
	Warnings []Problem
	dropped  int
	settled  map[string]bool // paths of which a cause has been recorded
}

// Add records an error.
func (p *Problems) Add(pos Pos, path, hint, format string, args ...any) {
	if len(p.Errors) >= MaxProblems {
		p.dropped++
		return
	}
	p.Errors = append(p.Errors, Problem{Pos: pos, Path: path, Msg: fmt.Sprintf(format, args...), Hint: hint})
}

// addCause records an error from which others at the same path follow: that a key is missing whose value could not be
// read, for one. They are not shown.
func (p *Problems) addCause(pos Pos, path, hint, format string, args ...any) {
	if before := len(p.Errors); before < MaxProblems {
		p.Add(pos, path, hint, format, args...)
		p.Errors[before].cause = true
		p.settle(path)
	}
}

// settle says that the errors at a path follow from one that has been recorded.
func (p *Problems) settle(path string) {
	if p.settled == nil {
		p.settled = make(map[string]bool)
	}
	p.settled[path] = true
}

// Warn records a warning.
func (p *Problems) Warn(pos Pos, path, hint, format string, args ...any) {
	if len(p.Warnings) < MaxProblems {
		p.Warnings = append(p.Warnings, Problem{Pos: pos, Path: path, Msg: fmt.Sprintf(format, args...), Hint: hint})
	}
}

// OK reports whether there is no error.
func (p *Problems) OK() bool { return len(p.Errors) == 0 }

// Err returns the errors as one error, sorted by place, or nil.
func (p *Problems) Err() error {
	if p.OK() {
		return nil
	}
	p.Sort()
	return &Error{Problems: p.Errors, Dropped: p.dropped}
}

// Sort puts errors and warnings in order of place. What was recorded twice, since two readers looked at one key, or
// follows from another error, is left out.
func (p *Problems) Sort() {
	p.Errors = slices.DeleteFunc(p.Errors, func(e Problem) bool { return p.settled[e.Path] && !e.cause })
	p.Errors, p.Warnings = distinct(p.Errors), distinct(p.Warnings)
	for _, list := range [][]Problem{p.Errors, p.Warnings} {
		slices.SortStableFunc(list, func(a, b Problem) int {
			return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
		})
	}
}

// distinct keeps the first of equal problems.
func distinct(list []Problem) []Problem {
	seen := make(map[Problem]bool, len(list))
	return slices.DeleteFunc(list, func(e Problem) bool {
		again := seen[e]
		seen[e] = true
		return again
	})
}

// Error is every problem of a declaration. It is a mistake of the one who wrote it, never of the system.
type Error struct {
	Problems []Problem
	Dropped  int
}

// Error prints one problem a line.
func (e *Error) Error() string {
	lines := make([]string, 0, len(e.Problems)+1)
	for _, p := range e.Problems {
		lines = append(lines, p.Error())
	}
	if e.Dropped > 0 {
		lines = append(lines, fmt.Sprintf("and %d more errors", e.Dropped))
	}
	return strings.Join(lines, "\n")
}

// Near returns the name most like got, or "" if none is near enough to suggest.
func Near(got string, names []string) string {
	best, bestDist := "", len(got)/3+2
	for _, n := range names {
		// Of two names with nothing in common the shorter one is not near.
		if d := distance(strings.ToLower(got), strings.ToLower(n), bestDist); d < bestDist && d < len(n) {
			best, bestDist = n, d
		}
	}
	return best
}

// DidYouMean returns a hint with the nearest name, or a list of the names when none is near and they are few.
func DidYouMean(got string, names []string) string {
	if n := Near(got, names); n != "" {
		return fmt.Sprintf("did you mean `%s`?", n)
	}
	if len(names) == 0 || len(names) > 28 {
		return ""
	}
	return "there are: " + strings.Join(names, ", ")
}

// distance is the edit distance with transpositions, cut off at limit.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit {
		return limit
	}
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
