package main

import (
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/configs"
	"fednode/node/api"
	"fednode/node/config"
)

func TestVersion(t *testing.T) {
	v := readVersion(&debug.BuildInfo{Main: debug.Module{Version: "v0.3.0"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2027-01-01T00:00:00Z"}, {Key: "vcs.modified", Value: "true"}}}, true)
	require.Equal(t, "v0.3.0 abc 2027-01-01T00:00:00Z", v.Version+" "+v.Revision+" "+v.Time)
	require.True(t, v.Modified)
	require.Equal(t, "devel", readVersion(nil, false).Version)
	var got versionInfo
	okJSON(t, &got, "version")
	require.True(t, strings.HasPrefix(got.Go, "go1."))
	require.Contains(t, ok(t, "version"), "fednode "+got.Version)
}

func TestCompletion(t *testing.T) {
	for shell, says := range map[string]string{"bash": "complete -o", "zsh": "#compdef fednode", "fish": "complete -c fednode"} {
		require.Contains(t, ok(t, "completion", shell), says)
	}
	refuses(t, exitWrong, []string{"expected bash, zsh or fish"}, "completion", "tcsh")
	require.Contains(t, ok(t, "__complete", "key", "rotate", ""), "contracts")
}

func TestConfigPrint(t *testing.T) {
	p := patientOf(t, "north", listenSection("127.0.0.1:1", "127.0.0.1:2")+"\n[streams.s]\nconnector = \"generate\"\ntime = \"ts\"\n[streams.s.columns]\nts = \"timestamp\"")
	var given, all []config.Setting
	okJSON(t, &given, "config", "print", "--config", p.file)
	okJSON(t, &all, "config", "print", "--config", p.file, "--effective")
	require.Len(t, given, 7)
	require.Len(t, all, len(config.Fields())+3)
	require.Contains(t, given, config.Setting{Path: "listen.api", Value: "127.0.0.1:2", Origin: p.file + ":6:1", Effect: "restart"})
	require.Contains(t, all, config.Setting{Path: "log.level", Value: "info", Origin: "default", Effect: "restart"})
	require.Contains(t, ok(t, "config", "print", "--config", p.file, "--effective"), "streams.s.columns.ts ")
	appendFile(t, p.file, "\n[lmits]\n")
	refuses(t, exitWrong, []string{p.file + ":13:2: lmits: unknown key `lmits`; did you mean `limits`?"}, "config", "print", "--config", p.file)
}

// The samples that bring their own data run as their first lines say.
func TestSamplesRun(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, sinks := range map[string][]string{"sensors.toml": {"alarms"}, "bids.toml": {"dearest", "turnover"}} {
		text, err := fs.ReadFile(configs.Files(), name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(name, text, 0o644))
		ok(t, "query", "run", name)
		for _, sink := range sinks {
			rows, err := os.ReadFile(sink + ".csv")
			require.NoError(t, err)
			require.Greater(t, strings.Count(string(rows), "\n"), 5, sink)
		}
	}
}

// Where a command line is wrong the code is 2 and the message names the help.
func TestWrongCommandLines(t *testing.T) {
	for _, args := range [][]string{{"init", "x"}, {"org", "trust"}, {"org", "list", "--nope"}, {"version", "1"}, {"doctor", "--peer"}} {
		refuses(t, exitWrong, []string{"--help"}, args...)
	}
}

// A misspelt command fails, at every level, and without one there is help.
func TestUnknownCommands(t *testing.T) {
	refuses(t, exitWrong, []string{"fednode has no command `intt`; did you mean `init`?"}, "intt")
	refuses(t, exitWrong, []string{"fednode org has no command `trsut`; did you mean `trust`?"}, "org", "trsut", "x")
	refuses(t, exitWrong, []string{"fednode key has no command `x`; there are: list, revoke, rotate"}, "key", "x")
	require.Contains(t, ok(t, "org"), "Available Commands:")
	require.Contains(t, ok(t), "Exit codes:")
}

func TestTable(t *testing.T) {
	var b strings.Builder
	x := table{head: []string{"A", "LONG"}}
	x.add(plainCells("ä", "1")...)
	x.add(plainCells("wide", "")...)
	x.print(&b)
	require.Equal(t, "A     LONG\nä     1\nwide\n", b.String())
	require.Equal(t, "\x1b[31mx\x1b[0m", palette{on: true}.paint(toneBad, "x"))
	require.Equal(t, "a\uFFFDb\uFFFD", clean("a\x1bb\u009b"))
}

// Why a query or a fragment has failed may be told by somebody else: nothing of it is obeyed by a terminal.
func TestFailuresAreOnlyShown(t *testing.T) {
	require.Equal(t, "failed: a\uFFFDb", stateCell(api.QueryInfo{Failure: "a\x1bb"}).text)
	require.Equal(t, "failed: a\uFFFDb", fragmentCell(&api.FragmentStatus{State: "failed", Failure: "a\x1bb"}).text)
}

func TestShellPath(t *testing.T) {
	for in, want := range map[string]string{"a/b": "a/b", "a b": "'a b'", "it's": `'it'\''s'`} {
		require.Equal(t, want, shellPath(in))
	}
}
