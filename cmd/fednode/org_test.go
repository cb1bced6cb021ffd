package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// exportFile exports an organisation into a file and returns it with the fingerprint.
func exportFile(t *testing.T, dir string, args ...string) (file, words string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "org.pub")
	r := command(t, append([]string{"org", "export", "--dir", dir, "--output", file}, args...)...)
	require.Zero(t, r.code, r.err)
	var list []orgInfo
	okJSON(t, &list, "org", "list", "--dir", dir)
	words = list[0].Words
	half := strings.Fields(words)
	require.Contains(t, r.err, strings.Join(half[:6], " "))
	return file, words
}

func TestTwoOrganisationsTrustEachOther(t *testing.T) {
	dirs := map[string]string{"north": newNode(t, "north"), "south": newNode(t, "south")}
	for from, to := range map[string]string{"north": "south", "south": "north"} {
		file, words := exportFile(t, dirs[from], "--address", from+".example.org:7481")
		ok(t, "org", "trust", file, "--dir", dirs[to], "--fingerprint", strings.ToUpper(words))
	}
	for own, partner := range map[string]string{"north": "south", "south": "north"} {
		var list []orgInfo
		okJSON(t, &list, "org", "list", "--dir", dirs[own])
		require.Len(t, list, 2)
		require.True(t, list[0].Own)
		require.Equal(t, partner, list[1].Org)
		require.Len(t, list[1].Addresses, 2)
		require.Contains(t, list[1].Addresses[0], "/dns/"+partner+".example.org/tcp/7481/p2p/12D3KooW")
		require.Contains(t, list[1].Addresses[1], "/udp/7481/quic-v1/p2p/12D3KooW")
	}
	table := ok(t, "org", "list", "--dir", dirs["north"])
	require.Contains(t, table, "/dns/south.example.org/udp/7481/quic-v1\n", "one address a line, without its peer")

	ok(t, "org", "untrust", "south", "--dir", dirs["north"])
	refuses(t, exitWrong, []string{"south", "fednode org list"}, "org", "untrust", "south", "--dir", dirs["north"])
	var list []orgInfo
	okJSON(t, &list, "org", "list", "--dir", dirs["north"])
	require.Len(t, list, 1)
}

func TestTrustIsRefused(t *testing.T) {
	north, south := newNode(t, "north"), newNode(t, "south")
	file, words := exportFile(t, south)
	before := snapshot(t, north)
	refuses(t, exitWrong, []string{"the fingerprint of south is another one", words, "acid acid"}, "org", "trust", file, "--dir", north, "--fingerprint", "acid acid")
	refuses(t, exitWrong, []string{"the fingerprint of south is another one"}, "org", "trust", file, "--dir", north, "--fingerprint", "")
	refuses(t, exitWrong, []string{"no terminal", "--fingerprint"}, "org", "trust", file, "--dir", north)
	refuses(t, exitWrong, []string{"no such file"}, "org", "trust", file+".not", "--dir", north)
	refuses(t, exitWrong, []string{"org.pub: missing", "fednode init"}, "org", "trust", file, "--dir", t.TempDir(), "--fingerprint", words)
	refuses(t, exitWrong, []string{"own organisation"}, "org", "trust", file, "--dir", south, "--fingerprint", words)

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), "ORGANISATION-----\n", "ORGANISATION-----\nAAAA", 1)), 0o644))
	refuses(t, exitWrong, []string{"malformed"}, "org", "trust", file, "--dir", north, "--fingerprint", words)
	require.Equal(t, before, snapshot(t, north))
}

// Another root under the name of a known partner does not replace it.
func TestAnotherRootIsRefused(t *testing.T) {
	north := newNode(t, "north")
	file, words := exportFile(t, newNode(t, "south"))
	ok(t, "org", "trust", file, "--dir", north, "--fingerprint", words)
	other, otherWords := exportFile(t, newNode(t, "south"))
	refuses(t, exitWrong, []string{"fednode org untrust south"}, "org", "trust", other, "--dir", north, "--fingerprint", otherWords)
}

func TestAsk(t *testing.T) {
	for answer, want := range map[string]bool{"yes\n": true, " YES \n": true, "yes": true, "y\n": false, "\n": false, "": false, "yes please\n": false} {
		var said strings.Builder
		got, err := ask(strings.NewReader(answer), &said, "Sure?")
		require.NoError(t, err)
		require.Equal(t, want, got, "%q", answer)
		require.Equal(t, "Sure? Type yes to go on: ", said.String())
	}
}

func TestExportAddresses(t *testing.T) {
	dir := newNode(t, "north")
	const id = "12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp"
	var got struct{ Addresses []string }
	okJSON(t, &got, "org", "export", "--dir", dir, "--address", "[2001:db8::1]:7481", "--address", "/ip4/192.0.2.7/tcp/7481/p2p/"+id)
	require.Len(t, got.Addresses, 3)
	require.True(t, strings.HasPrefix(got.Addresses[0], "/ip6/2001:db8::1/tcp/7481/p2p/12D3KooW"))
	require.Equal(t, "/ip4/192.0.2.7/tcp/7481/p2p/"+id, got.Addresses[2])
	p := filepath.Join(dir, configName)
	text, err := os.ReadFile(p)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(p, []byte(strings.Replace(string(text), "#announce", "announce", 1)), 0o644))
	okJSON(t, &got, "org", "export", "--dir", dir)
	require.Len(t, got.Addresses, 1, "what the node announces")
	require.True(t, strings.HasPrefix(got.Addresses[0], "/dns4/node-1.north.example/tcp/7481/p2p/12D3KooW"))
	for _, bad := range []string{"north", "north:0", "north:port", ":7481", "/ip4/999.1.1.1/tcp/1", "no rth/x:1", ""} {
		refuses(t, exitWrong, []string{"--address " + bad}, "org", "export", "--dir", dir, "--address", bad)
	}
	// Where only the organisation is, nobody knows the node's id.
	org := filepath.Join(t.TempDir(), "org")
	ok(t, "org", "init", "--org", "east", "--dir", org)
	refuses(t, exitWrong, []string{"/p2p/ID"}, "org", "export", "--dir", org, "--address", "a:1")
}

func TestExportNeverOverwrites(t *testing.T) {
	dir := newNode(t, "north")
	file, _ := exportFile(t, dir)
	refuses(t, exitWrong, []string{"nothing was overwritten"}, "org", "export", "--dir", dir, "--output", file)
}
