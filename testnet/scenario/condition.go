package scenario

import (
	"slices"
	"sort"
	"strings"

	"fednode/query/spec"
)

// condition reads a condition from words; kinds are those that may stand here, none for all.
func (l *line) condition(words []word, to *[]Condition, kinds ...string) {
	if len(words) == 0 {
		l.wrong(after(l.last()), "", "expected what has to hold")
		return
	}
	c := Condition{Pos: l.at(words[0]), Text: joined(words)}
	ok := false
	switch {
	case words[0].text == "query":
		ok = l.queryIs(words, &c)
	case c.Text == "a stable row is undone":
		c.kind, ok = rowUndone, true
	case c.Text == "the stable stream equals an undisturbed run":
		c.kind, ok = streamEqual, true
	case c.Text == "the stable stream is part of an undisturbed run":
		c.kind, ok = streamPart, true
	case c.Text == "every node runs":
		c.kind, ok = nodeRuns, true
	case c.Text == "all nodes have met":
		c.kind, ok = nodesMet, true
	case len(words) == 3 && words[0].text == "node" && words[2].text == "runs":
		c.kind, c.node, ok = nodeRuns, words[1].text, true
	default:
		ok = l.measured(words, &c)
	}
	if !ok {
		return
	}
	if len(kinds) > 0 && !slices.Contains(kinds, c.kind) {
		l.wrong(words[0], "", "`%s` cannot stand after `%s`", c.Text, l.words[0].text)
		return
	}
	*to = append(*to, c)
}

func joined(words []word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	return strings.Join(texts, " ")
}

// states of an output that a query can be asked for.
func states() []string {
	return []string{"starting", "stable", "upstream_failure", "stabilization", "failure", "ended"}
}

// queryIs reads query NAME is STATE, and where: on NODE.
func (l *line) queryIs(words []word, c *Condition) bool {
	on := len(words) == 6 && words[4].text == "on"
	if (len(words) != 4 && !on) || words[2].text != "is" {
		l.wrong(words[0], "", "expected `query NAME is STATE` or `query NAME is STATE on NODE`")
		return false
	}
	c.kind, c.query, c.state = queryIs, words[1].text, words[3].text
	if on {
		c.node = words[5].text
		if err := checkTarget(c.node); err != "" {
			l.wrong(words[5], "", "%s", err)
			return false
		}
	}
	if !slices.Contains(states(), c.state) {
		l.wrong(words[3], spec.DidYouMean(c.state, states()), "there is no state `%s`", c.state)
		return false
	}
	return true
}

// measured reads NAME COMPARISON BOUND.
func (l *line) measured(words []word, c *Condition) bool {
	known := measures()
	var names []string
	for name := range known {
		names = append(names, name)
	}
	sort.Strings(names)
	for k := len(words) - 1; k > 0; k-- {
		name := joined(words[:k])
		isDuration, found := known[name]
		if !found {
			continue
		}
		if len(words) != k+2 {
			l.wrong(words[k], "", "expected a comparison and a bound after `%s`, such as <= 3s", name)
			return false
		}
		c.kind, c.name, c.compare = measure, name, comparison(words[k].text)
		if c.compare == "" {
			l.wrong(words[k], "", "`%s` compares nothing; expected =, <=, <, >= or >", words[k].text)
			return false
		}
		bound, ok := l.number(words[k+1], isDuration)
		c.bound = bound
		return ok
	}
	forms := append([]string{"query NAME is STATE", "a stable row is undone", "the stable stream equals an undisturbed run", "the stable stream is part of an undisturbed run", "every node runs", "node NODE runs", "all nodes have met"}, names...)
	l.wrong(words[0], "expected one of: "+strings.Join(forms, ", "), "`%s` is nothing that can hold", c.Text)
	return false
}

// comparison returns how two values are compared; "" if it is none.
func comparison(text string) string {
	switch text {
	case "=", "==":
		return "="
	case "<=", "≤":
		return "<="
	case ">=", "≥":
		return ">="
	case "<", ">":
		return text
	}
	return ""
}

// holds compares a measured value with the bound.
func (c *Condition) holds(value float64) bool {
	switch c.compare {
	case "=":
		return value == c.bound
	case "<=":
		return value <= c.bound
	case ">=":
		return value >= c.bound
	case "<":
		return value < c.bound
	}
	return value > c.bound
}
