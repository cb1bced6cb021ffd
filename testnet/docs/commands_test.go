package docs

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// command is what the help of one command says.
type command struct {
	subs  map[string]bool
	flags map[string]bool
}

var (
	subsPart = regexp.MustCompile(`(?s)Available Commands:\n(.*?)\n\n`)
	flagName = regexp.MustCompile(`--([a-z][a-z-]*)`)
	flagLine = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z][a-z-]*)`)
)

// tree asks the program for the help of its commands, each once.
type tree struct {
	program string
	known   map[string]command
}

func (c *tree) at(t *testing.T, path ...string) command {
	t.Helper()
	key := strings.Join(path, " ")
	if have, ok := c.known[key]; ok {
		return have
	}
	out, err := exec.Command(c.program, append(path, "--help")...).CombinedOutput()
	require.NoError(t, err, "fednode %s --help: %s", key, out)
	cmd := command{subs: map[string]bool{}, flags: map[string]bool{"help": true}}
	if m := subsPart.FindSubmatch(out); m != nil {
		for line := range bytes.Lines(m[1]) {
			if words := bytes.Fields(line); len(words) > 0 {
				cmd.subs[string(words[0])] = true
			}
		}
	}
	for _, m := range flagLine.FindAllSubmatch(out, -1) {
		cmd.flags[string(m[1])] = true
	}
	c.known[key] = cmd
	return cmd
}

// wrong says what of a command line the program does not have, "" if it has all.
func (c *tree) wrong(t *testing.T, line string) string {
	var path []string
	cmd := c.at(t)
	words := strings.Fields(line)
	for _, w := range words {
		if len(cmd.subs) == 0 || !cmd.subs[w] {
			break
		}
		path = append(path, w)
		cmd = c.at(t, path...)
	}
	if len(path) < len(words) && len(cmd.subs) > 0 && regexp.MustCompile(`^[a-z]+$`).MatchString(words[len(path)]) {
		return "there is no command `fednode " + strings.Join(words[:len(path)+1], " ") + "`"
	}
	for _, m := range flagName.FindAllStringSubmatch(line, -1) {
		if !cmd.flags[m[1]] {
			return "`fednode " + strings.Join(path, " ") + "` has no flag --" + m[1]
		}
	}
	return ""
}

var (
	inline  = regexp.MustCompile("`fednode ([^`]+)`")
	inBlock = regexp.MustCompile(`(?m)^(?:[$] |.*&& |ExecStart=\S*/)?(?:bin/)?fednode ([^#|&\n]*)`)
	blocks  = regexp.MustCompile("(?ms)^```(?:sh|ini)?\n(.*?)^```$")
)

// shown returns the command lines that a page shows, in prose and in blocks.
func shown(page string) (lines []string) {
	for _, m := range inline.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		lines = append(lines, m[1])
	}
	for _, block := range blocks.FindAllStringSubmatch(page, -1) {
		text := strings.ReplaceAll(block[1], "\\\n", " ")
		for _, m := range inBlock.FindAllStringSubmatch(text, -1) {
			lines = append(lines, m[1])
		}
	}
	return lines
}

// Every command and every flag that the documentation shows is there.
func TestCommandsExist(t *testing.T) {
	c := &tree{program: program(t), known: map[string]command{}}
	count := 0
	for path, page := range pages(t) {
		for _, line := range shown(page) {
			count++
			if w := c.wrong(t, line); w != "" {
				t.Errorf("%s: %s: %s", path, line, w)
			}
		}
	}
	require.Greater(t, count, 20, "commands are found in the pages")
}

// The search itself finds commands where they stand, and notices what is wrong with them.
func TestCommandSearch(t *testing.T) {
	page := "Use `fednode query run FILE --json`.\n\n```sh\n$ fednode version\ncd x && fednode init --org a \\\n  --dir b\n```\n"
	require.Equal(t, []string{"query run FILE --json", "version", "init --org a    --dir b"}, shown(page))
	c := &tree{program: program(t), known: map[string]command{}}
	require.Empty(t, c.wrong(t, "key rotate deploy --dir x"))
	require.Contains(t, c.wrong(t, "query fly"), "no command `fednode query fly`")
	require.Contains(t, c.wrong(t, "version --wings"), "no flag --wings")
}
