package spec

import (
	"bytes"
	"strconv"
	"strings"
)

// nextStatement returns the offset of the first line after i that looks like a header or a key, or the file's end.
func nextStatement(src []byte, i int) int {
	for i < len(src) {
		n := bytes.IndexByte(src[i:], '\n')
		if n < 0 {
			return len(src)
		}
		i += n + 1
		line, _, _ := bytes.Cut(src[i:], []byte("\n"))
		if looksLikeStatement(line) {
			return i
		}
	}
	return len(src)
}

// looksLikeStatement reports whether a line begins with [ or with a name and =.
func looksLikeStatement(line []byte) bool {
	if len(line) > 0 && line[0] == '[' {
		return true
	}
	name, _, found := bytes.Cut(line, []byte("="))
	name = bytes.TrimSpace(name)
	if !found || len(name) == 0 {
		return false
	}
	for _, c := range name {
		if !isNameByte(c) && c != '.' && c != ' ' {
			return false
		}
	}
	return true
}

func isNameByte(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// syntaxHint guesses the remedy from the line of the error: the mistakes of people who know another format.
func syntaxHint(src []byte, begin, at int) string {
	begin = max(begin, lineStart(src, at))
	if begin >= len(src) {
		return ""
	}
	rest, _, _ := bytes.Cut(src[begin:], []byte("\n"))
	if len(rest) > 200 {
		rest = rest[:200]
	}
	line := strings.TrimSpace(string(rest))
	if name, value, ok := strings.Cut(line, ":"); ok && !strings.Contains(name, "=") && isName(strings.TrimSpace(name)) {
		return "a key and its value are joined by `=`: " + strings.TrimSpace(name) + " = " + quoted(strings.TrimSpace(value))
	}
	if strings.HasPrefix(line, "//") || strings.HasPrefix(line, "--") {
		return "comments begin with #"
	}
	if strings.HasPrefix(line, "[") && !strings.Contains(line, "]") {
		return "a header ends with ]"
	}
	name, value, ok := strings.Cut(line, "=")
	if name = strings.TrimSpace(name); !ok || !isName(name) {
		return ""
	}
	value = strings.TrimSpace(value)
	if value == "" {
		return "the value is missing, or stands on another line"
	}
	if isBareText(value) {
		return "text is quoted: " + name + " = " + quoted(value)
	}
	return ""
}

func isName(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return s != ""
}

// isBareText reports whether a value looks like text, a duration or an expression without quotes.
func isBareText(s string) bool {
	return isNameByte(s[0]) && s != "true" && s != "false"
}

// quoted puts a value in quotes unless it has them.
func quoted(s string) string {
	s, _, _ = strings.Cut(s, " #")
	s = strings.TrimSpace(s)
	if s == "" {
		return "…"
	}
	if strings.ContainsAny(s[:1], `"'[{`) || isPlain(s) {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
}

// isPlain reports whether a value needs no quotes.
func isPlain(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || s == "true" || s == "false"
}
