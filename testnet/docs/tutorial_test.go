package docs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// step is a block of commands in the tutorial and what the page says that they print, "" if it says nothing.
type step struct {
	line     int // of the page
	commands string
	want     string
}

var stepBlock = regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```$")

// steps finds the commands of a page in order.
func steps(page string) (out []step) {
	for _, m := range stepBlock.FindAllStringSubmatchIndex(page, -1) {
		kind, text := page[m[2]:m[3]], page[m[4]:m[5]]
		if kind == "sh" {
			out = append(out, step{line: 1 + strings.Count(page[:m[0]], "\n"), commands: text})
		} else if len(out) > 0 {
			out[len(out)-1].want = text
		}
	}
	return out
}

// script is one shell program of all steps; the output of step n goes to the file out.n.
func script(all []step) string {
	var b strings.Builder
	b.WriteString("set -eu\n")
	for n, s := range all {
		fmt.Fprintf(&b, "{\n%s} > out.%d 2>&1\n", s.commands, n)
	}
	return b.String()
}

// onFreePorts replaces the port numbers of a page by free ones, so that a daemon that runs here already is left alone.
func onFreePorts(t *testing.T, page string) string {
	var pairs []string
	for _, port := range []string{"7480", "7481", "7580", "7581"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { require.NoError(t, l.Close()) }()
		_, free, err := net.SplitHostPort(l.Addr().String())
		require.NoError(t, err)
		pairs = append(pairs, ":"+port, ":"+free)
	}
	return strings.NewReplacer(pairs...).Replace(page)
}

// says reports whether an output is what a page shows: … is any text, and a missing end of a line is no difference.
func says(want, got string) bool {
	parts := strings.Split(strings.TrimSpace(want), "…")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, ".*") + `$`).MatchString(strings.TrimSpace(got))
}

// The tutorial works as it is printed: its commands run in order in an empty directory, and print what the page shows.
func TestTutorial(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/tutorial.md"))
	require.NoError(t, err)
	all := steps(onFreePorts(t, string(page)))
	require.Greater(t, len(all), 15)
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute) // on a busy machine
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script(all))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program(t))+":"+os.Getenv("PATH"), "NO_COLOR=1", "FEDNODE_NODE=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the daemons that it starts are ended with it, whatever happens
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var left bytes.Buffer
	cmd.Stdout, cmd.Stderr = &left, &left
	runErr := cmd.Run()
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Error(err)
	}
	for n, s := range all {
		got, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("out.%d", n)))
		if err != nil {
			break // the run ended before it
		}
		if s.want != "" && !says(s.want, string(got)) {
			t.Errorf("docs/tutorial.md:%d:\n%s\nprints\n%s\nand not\n%s", s.line, s.commands, got, s.want)
		}
		if runErr != nil {
			t.Logf("line %d: %s", s.line, got)
		}
	}
	if runErr != nil {
		for _, log := range []string{"north.log", "south.log"} {
			text, _ := os.ReadFile(filepath.Join(dir, log)) // empty if it was not reached
			t.Logf("%s:\n%s", log, text)
		}
	}
	require.NoError(t, runErr, left.String())
}

// What the page shows is compared as a whole; only … leaves anything open.
func TestSays(t *testing.T) {
	require.True(t, says("a…z\nend\n", "abc\nz\nend\n"))
	require.True(t, says("…\nend\n", "x\ny\nend"))
	require.False(t, says("a\n", "a\nb\n"))
	require.False(t, says("a.c\n", "abc\n"))
}

// What the README quotes of a sample is in the sample, and the command below it runs.
func TestReadmeExample(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	sample, err := os.ReadFile(filepath.Join(root, "configs/sensors.toml"))
	require.NoError(t, err)
	quoted := regexp.MustCompile("(?ms)^```toml\n(.*?)^```$").FindSubmatch(page)
	require.NotNil(t, quoted)
	require.Contains(t, string(sample), string(quoted[1]))
	line := regexp.MustCompile(`(?m)^bin/fednode (query run configs/.*)$`).FindSubmatch(page)
	require.NotNil(t, line)
	cmd := exec.Command(program(t), strings.Fields(string(line[1]))...)
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(out), `{"window_start":`), "%.200s", out)
}
