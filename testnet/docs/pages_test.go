package docs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tracked returns the paths of the repository's files, those not yet committed among them, seen from this package.
func tracked(t *testing.T, patterns ...string) []string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"ls-files", "-z", "--cached", "--others", "--exclude-standard"}, patterns...)...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return walked(t, patterns) // a source archive has no history
	}
	var paths []string
	for _, name := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if path := filepath.Join(root, name); exists(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// walked lists the files that tracked would, without git; a pattern is a file name pattern.
func walked(t *testing.T, patterns []string) (paths []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		for _, p := range patterns {
			if ok, _ := filepath.Match(p, d.Name()); ok {
				paths = append(paths, path)
			}
		}
		return nil
	}))
	return paths
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// pages returns the text of every page of documentation by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, path := range tracked(t, "*.md") {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		out[path] = string(text)
	}
	require.Greater(t, len(out), 10)
	return out
}

var (
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns what a link may name after its #, as the usual renderers make it of headings.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		out[strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return out
}

// Every relative link of every page leads to a file of the repository, and to a heading of it where it names one.
func TestLinksLeadSomewhere(t *testing.T) {
	all := pages(t)
	for path, text := range all {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			target, anchor, named := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			file := path
			if target != "" {
				file = filepath.Join(filepath.Dir(path), target)
			}
			if !exists(file) {
				t.Errorf("%s: the link to %s leads nowhere", path, m[1])
			} else if page, ok := all[file]; ok && named && !anchors(page)[anchor] {
				t.Errorf("%s: %s has no heading #%s", path, file, anchor)
			}
		}
	}
}

// Nothing in the repository names a place on the machine of somebody who worked on it.
func TestNoPlaceOfWork(t *testing.T) {
	places := regexp.MustCompile(`(^|[\s"'(=:` + "`" + `])/(` + strings.Join([]string{"work", "root", "home", "Users"}, "|") + `)/`)
	for _, path := range tracked(t, "*") {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if bytes.IndexByte(text, 0) >= 0 {
			continue // not text
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			if places.Match(line) {
				t.Errorf("%s:%d: %s", path, i+1, line)
			}
		}
	}
}

// What operations.md explains as a message is one: the program has its text.
func TestMessagesExist(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/operations.md"))
	require.NoError(t, err)
	_, part, found := strings.Cut(string(page), "\n## If you see this\n")
	require.True(t, found)
	part, _, _ = strings.Cut(part, "\n## ")
	var source strings.Builder
	for _, path := range tracked(t, "*.go") {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		source.Write(text)
	}
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` ").FindAllStringSubmatch(part, -1)
	require.Greater(t, len(rows), 20)
	for _, row := range rows {
		for _, piece := range strings.Split(row[1], "…") {
			if !strings.Contains(source.String(), strings.TrimSpace(piece)) {
				t.Errorf("docs/operations.md explains %q, which no message has", row[1])
			}
		}
	}
}
