package scenario

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"fednode/query/spec"
	"fednode/testnet"
)

// Bounds of a file.
const (
	maxLines = 10_000
	maxWait  = 24 * time.Hour
)

// Parse reads a scenario. It reports every problem at once, as a *spec.Error.
func Parse(file string, src []byte) (*Scenario, error) {
	p := &parser{file: file, s: &Scenario{Name: strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))}}
	lines := strings.Split(string(src), "\n")
	if len(lines) > maxLines {
		p.problems.Add(spec.Pos{File: file, Line: maxLines, Column: 1}, "", "", "more than %d lines", maxLines)
		lines = lines[:maxLines]
	}
	for i, line := range lines {
		p.line(i+1, strings.TrimRight(line, "\r"))
	}
	if p.problems.OK() && len(p.s.Steps)+len(p.s.Finally) == 0 {
		p.problems.Add(spec.Pos{File: file, Line: 1, Column: 1}, "", "", "nothing is done and nothing is expected")
	}
	return p.s, p.problems.Err()
}

type parser struct {
	file     string
	s        *Scenario
	problems spec.Problems
}

// word is a word of a line with its column, counted in bytes from 1.
type word struct {
	text   string
	column int
}

// line reads one line.
func (p *parser) line(n int, text string) {
	if title, ok := strings.CutPrefix(strings.TrimSpace(text), "#"); ok {
		if p.s.Title == "" {
			p.s.Title = strings.TrimSpace(title)
		}
		return
	}
	words := split(text)
	if len(words) == 0 {
		return
	}
	l := &line{parser: p, n: n, words: words, text: strings.TrimSpace(text)}
	switch head := words[0].text; {
	case head == "testnet":
		l.testnet()
	case head == "wait":
		l.wait()
	case head == "within":
		l.within()
	case head == "recount" && len(words) == 1:
		l.step(Step{Recount: true})
	case head == "never:":
		l.condition(words[1:], &p.s.Never, rowUndone, queryIs, measure)
	case head == "finally:":
		l.condition(words[1:], &p.s.Finally)
	case head == "never" || head == "finally":
		l.wrong(words[0], "write `"+head+":` and what has to hold", "`%s` has no colon", head)
	case slices.Contains(testnet.FaultKinds(), head):
		l.fault()
	default:
		known := append([]string{"testnet", "wait", "within", "recount", "never:", "finally:"}, testnet.FaultKinds()...)
		l.wrong(words[0], spec.DidYouMean(head, known), "`%s` begins no step", head)
	}
}

func split(text string) (words []word) {
	begin := -1
	for i, r := range text + " " {
		switch space := unicode.IsSpace(r); {
		case space && begin >= 0:
			words = append(words, word{text[begin:i], begin + 1})
			begin = -1
		case !space && begin < 0:
			begin = i
		}
	}
	return words
}

// line is one line that is being read.
type line struct {
	*parser
	n     int
	words []word
	text  string
}

func (l *line) at(w word) spec.Pos { return spec.Pos{File: l.file, Line: l.n, Column: w.column} }

func (l *line) wrong(w word, hint, format string, args ...any) {
	l.problems.Add(l.at(w), "", hint, format, args...)
}

// after is where something is missing behind a word.
func after(w word) word { return word{column: w.column + len(w.text)} }

func (l *line) last() word { return l.words[len(l.words)-1] }

func (l *line) testnet() {
	switch {
	case len(l.words) != 2:
		l.wrong(l.words[0], "", "expected `testnet FILE`")
	case l.s.Testnet != "":
		l.wrong(l.words[0], "", "the testnet is named twice")
	case len(l.s.Steps) > 0:
		l.wrong(l.words[0], "", "the testnet is named before the first step")
	default:
		l.s.Testnet = l.words[1].text
		if !filepath.IsAbs(l.s.Testnet) {
			l.s.Testnet = filepath.Join(filepath.Dir(l.file), l.s.Testnet)
		}
	}
}

func (l *line) wait() {
	if len(l.words) != 2 {
		l.wrong(l.words[0], "", "expected `wait 5s`")
		return
	}
	if d, ok := l.duration(l.words[1]); ok {
		l.step(Step{Wait: d})
	}
}

func (l *line) step(s Step) {
	s.Pos, s.Text = l.at(l.words[0]), l.text
	l.s.Steps = append(l.s.Steps, s)
}

func (l *line) duration(w word) (time.Duration, bool) {
	d, err := time.ParseDuration(w.text)
	if err != nil || d <= 0 || d > maxWait {
		l.wrong(w, "write one such as 5s or 500ms", "`%s` is no duration up to %s", w.text, maxWait)
		return 0, false
	}
	return d, true
}

func (l *line) fault() {
	texts := make([]string, len(l.words))
	for i, w := range l.words {
		texts[i] = w.text
	}
	f, err := testnet.ParseFault(texts)
	if err != nil {
		l.wrong(l.words[0], "", "%s", err)
		return
	}
	for i, t := range f.Targets {
		if err := checkTarget(t); err != "" {
			l.wrong(l.words[1+i], "", "%s", err)
		}
	}
	l.step(Step{Fault: &f})
}

// within reads within D: CONDITION.
func (l *line) within() {
	if len(l.words) < 3 || !strings.HasSuffix(l.words[1].text, ":") {
		l.wrong(l.words[0], "", "expected `within 5s: ` and what has to hold")
		return
	}
	w := l.words[1]
	w.text = strings.TrimSuffix(w.text, ":")
	d, ok := l.duration(w)
	var c []Condition
	l.condition(l.words[2:], &c, queryIs, nodeRuns, nodesMet, measure)
	if ok && len(c) == 1 {
		l.step(Step{Within: d, Until: &c[0]})
	}
}

// number reads a bound of a measured value; durations become seconds.
func (l *line) number(w word, isDuration bool) (float64, bool) {
	if isDuration {
		d, err := time.ParseDuration(w.text)
		if err != nil || d < 0 {
			l.wrong(w, "write one such as 3.3s", "`%s` is no duration", w.text)
			return 0, false
		}
		return d.Seconds(), true
	}
	n, err := strconv.ParseUint(w.text, 10, 53)
	if err != nil {
		l.wrong(w, "", "`%s` is no number of rows", w.text)
		return 0, false
	}
	return float64(n), true
}
