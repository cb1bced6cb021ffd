package expr

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"fednode/query/tuple"
)

var jsonFunctions = []function{
	{name: "json_get", group: "json", params: params("s string", "path string!"), result: tuple.String, row: jsonGet, prepare: jsonPath,
		doc: "The JSON text of what the path ($.a.b[0], $['a b']) finds; null if s is not JSON or nothing is there."},
	{name: "json_text", group: "json", params: params("s string", "path string!"), result: tuple.String, row: jsonText, prepare: jsonPath,
		doc: "Like json_get, but a string without its quotes and escapes; null also for a JSON null."},
	{name: "json_length", group: "json", params: params("s string", "path string!"), result: tuple.Int64, row: jsonLength, prepare: jsonPath,
		doc: "The number of members of the object or array that the path finds; null if it finds neither."},
}

// jsonStep is one step of a path: a key, or an index where key is empty and byIndex is set.
type jsonStep struct {
	key     string
	index   int
	byIndex bool
}

func jsonPath(args []*plan) (any, int, error) {
	steps, err := parsePath(string(args[1].val.s))
	return steps, 1, err
}

// parsePath reads $, then .name, ['name'] and [n].
func parsePath(text string) ([]jsonStep, error) {
	bad := func() error {
		return fmt.Errorf("'%s' is not a JSON path; write one such as $.a.b[0] or $['a b']", shorten(text))
	}
	rest, ok := strings.CutPrefix(text, "$")
	if !ok {
		return nil, bad()
	}
	var steps []jsonStep
	for rest != "" {
		var s jsonStep
		switch {
		case strings.HasPrefix(rest, "['"):
			key, after, found := strings.Cut(rest[2:], "']")
			if !found {
				return nil, bad()
			}
			s.key, rest = key, after
		case rest[0] == '[':
			digits, after, found := strings.Cut(rest[1:], "]")
			n, err := strconv.Atoi(digits)
			if err != nil || n < 0 || !found {
				return nil, bad()
			}
			s.index, s.byIndex, rest = n, true, after
		case rest[0] == '.':
			end := strings.IndexAny(rest[1:], ".[")
			if end < 0 {
				end = len(rest) - 1
			}
			if end == 0 {
				return nil, bad()
			}
			s.key, rest = rest[1:end+1], rest[end+1:]
		default:
			return nil, bad()
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// locate returns the text of what the path finds in s. The whole of s must be JSON, so that a broken record is not half
// understood; the walk then trusts it.
func locate(s []byte, steps []jsonStep) ([]byte, bool) {
	if !json.Valid(s) {
		return nil, false
	}
	v := bytes.TrimSpace(s)
	for _, step := range steps {
		open := byte('{')
		if step.byIndex {
			open = '['
		}
		if v[0] != open {
			return nil, false
		}
		var ok bool
		if v, ok = member(v, step); !ok {
			return nil, false
		}
	}
	return v, true
}

// member returns the first member of an object or array that the step names.
func member(v []byte, step jsonStep) ([]byte, bool) {
	found, ok := []byte(nil), false
	eachMember(v, func(n int, key, val []byte) bool {
		if step.byIndex && n == step.index || !step.byIndex && sameKey(key, step.key) {
			found, ok = val, true
		}
		return !ok
	})
	return found, ok
}

func sameKey(quoted []byte, key string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1:len(quoted)-1]) == key
	}
	var k string
	return json.Unmarshal(quoted, &k) == nil && k == key
}

// eachMember calls f for the members of a valid object or array until it returns false.
func eachMember(v []byte, f func(n int, key, val []byte) bool) {
	isObject, at := v[0] == '{', 1
	for n := 0; ; n++ {
		at += leadingSpace(v[at:])
		if v[at] == '}' || v[at] == ']' {
			return
		}
		if v[at] == ',' {
			at++
			at += leadingSpace(v[at:])
		}
		var key []byte
		if isObject {
			end := at + valueLength(v[at:])
			key, at = v[at:end], end
			at += leadingSpace(v[at:]) + 1 // the colon
			at += leadingSpace(v[at:])
		}
		end := at + valueLength(v[at:])
		if !f(n, key, v[at:end]) {
			return
		}
		at = end
	}
}

func leadingSpace(v []byte) int {
	n := 0
	for n < len(v) && (v[n] == ' ' || v[n] == '\t' || v[n] == '\n' || v[n] == '\r') {
		n++
	}
	return n
}

// valueLength returns the length of the valid JSON value that v begins with.
func valueLength(v []byte) int {
	depth := 0
	for at := 0; at < len(v); at++ {
		switch v[at] {
		case '"':
			at += stringLength(v[at:]) - 1
			if depth == 0 {
				return at + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return at
			}
			if depth--; depth == 0 {
				return at + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return at
			}
		}
	}
	return len(v)
}

func stringLength(v []byte) int {
	for at := 1; ; at++ {
		switch v[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
}

func jsonGet(c *call, i int) bool {
	v, ok := locate(c.bin(0, i), c.state.([]jsonStep))
	return ok && c.setBin(i, v)
}

func jsonText(c *call, i int) bool {
	v, ok := locate(c.bin(0, i), c.state.([]jsonStep))
	if !ok || v[0] == 'n' {
		return false
	}
	if v[0] != '"' {
		return c.setBin(i, v)
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return c.setBin(i, v[1:len(v)-1])
	}
	var s string
	return json.Unmarshal(v, &s) == nil && c.setBin(i, []byte(s))
}

func jsonLength(c *call, i int) bool {
	v, ok := locate(c.bin(0, i), c.state.([]jsonStep))
	if !ok || v[0] != '{' && v[0] != '[' {
		return false
	}
	n := 0
	eachMember(v, func(int, []byte, []byte) bool { n++; return true })
	return c.setInt(i, int64(n))
}
