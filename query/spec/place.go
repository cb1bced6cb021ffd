package spec

import (
	"bytes"
	"sort"
	"strings"
)

// places turns byte offsets of a file into line and column.
type places struct {
	file  string
	lines []int // offset of each line's first byte
	end   int
}

func newPlaces(file string, src []byte) places {
	lines := []int{0}
	for i, c := range src {
		if c == '\n' {
			lines = append(lines, i+1)
		}
	}
	return places{file: file, lines: lines, end: len(src)}
}

// at returns the place of an offset; one outside the file is brought in.
func (l places) at(offset int) Pos {
	offset = max(0, min(offset, l.end))
	i := sort.SearchInts(l.lines, offset+1) - 1
	return Pos{File: l.file, Line: i + 1, Column: offset - l.lines[i] + 1}
}

// skipSpaces returns the offset of the first byte from i on that is no space or tab.
func skipSpaces(src []byte, i int) int {
	for i < len(src) && (src[i] == ' ' || src[i] == '\t') {
		i++
	}
	return i
}

// skipBlank skips spaces, line ends and comments.
func skipBlank(src []byte, i int) int { return skipSet(src, i, " \t\r\n") }

// skipSeparators skips what stands between two values of an array or an inline table.
func skipSeparators(src []byte, i int) int { return skipSet(src, i, " \t\r\n,") }

func skipSet(src []byte, i int, set string) int {
	for i < len(src) {
		switch {
		case src[i] == '#':
			n := bytes.IndexByte(src[i:], '\n')
			if n < 0 {
				return len(src)
			}
			i += n
		case strings.IndexByte(set, src[i]) >= 0:
			i++
		default:
			return i
		}
	}
	return i
}

// lineStart returns the offset of the first byte of the line that holds offset i.
func lineStart(src []byte, i int) int {
	i = min(i, len(src))
	return bytes.LastIndexByte(src[:i], '\n') + 1
}

// lineEnd returns the offset of the line end after offset i.
func lineEnd(src []byte, i int) int {
	if n := bytes.IndexByte(src[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(src)
}
