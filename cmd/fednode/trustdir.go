package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"fednode/node/trust"
)

// dirFlag adds --dir; the value is read when the command runs.
func dirFlag(c *cobra.Command, def, help string) *string {
	return c.Flags().String("dir", def, help)
}

const ownDirHelp = "directory of the node or organisation"

// trustDir opens a directory of keys; secrets may come from the service manager.
func trustDir(path string) trust.Dir {
	return trust.Dir{Path: path, Credentials: os.Getenv("CREDENTIALS_DIRECTORY")}
}

// defaultDir is where init, org init and node request put things when --dir is not given.
func defaultDir(dir, org string) string {
	if dir != "" {
		return dir
	}
	return "fednode-" + org
}

// keySetup says for whom keys are made, now, from the system's randomness.
func keySetup(org, node string) trust.Setup {
	return trust.Setup{Org: org, Node: node, Now: time.Now(), Random: rand.Reader}
}

// errNotTerminal is returned where a person had to answer and there is none.
var errNotTerminal = errors.New("there is no terminal to ask on")

// confirm asks a question on the terminal and returns whether the answer was yes. Without a terminal nobody can answer,
// which is errNotTerminal.
func confirm(c *cobra.Command, question string) (bool, error) {
	if f, ok := c.InOrStdin().(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return false, errNotTerminal
	}
	return ask(c.InOrStdin(), c.ErrOrStderr(), question)
}

// ask writes the question and reads one line; only a whole yes counts.
func ask(in io.Reader, out io.Writer, question string) (bool, error) {
	fmt.Fprintf(out, "%s Type yes to go on: ", question)
	line, err := bufio.NewReader(io.LimitReader(in, 1024)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	return strings.EqualFold(strings.TrimSpace(line), "yes"), nil
}

// writeNew writes a file that must not be there yet; "-" and "" are standard output.
func writeNew(c *cobra.Command, path string, text []byte) error {
	if path == "" || path == "-" {
		_, err := c.OutOrStdout().Write(text)
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return wrong("%s is there already; nothing was overwritten: choose another name, or move it away", path)
	}
	if err != nil {
		return wrong("%w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// day prints a time of a list; zero is a dash.
func day(t trust.Time) string {
	if t == 0 {
		return "-"
	}
	return t.Std().Format(time.DateOnly)
}

// shellPath writes a path so that it can be pasted into a shell.
func shellPath(elem ...string) string {
	p := filepath.Join(elem...)
	if strings.ContainsAny(p, " \t\n'\"\\$`&|;<>()*?[]#~!{}") {
		return "'" + strings.ReplaceAll(p, "'", `'\''`) + "'"
	}
	return p
}

// fingerprintLines breaks the twelve words into two lines of six, to be read out.
func fingerprintLines(f trust.Fingerprint) [2]string {
	words := strings.Fields(f.Words())
	half := len(words) / 2
	return [2]string{strings.Join(words[:half], " "), strings.Join(words[half:], " ")}
}
