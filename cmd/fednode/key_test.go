package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/trust"
)

func listKeys(t *testing.T, dir string) map[string]keyLine {
	t.Helper()
	var list []keyLine
	okJSON(t, &list, "key", "list", "--dir", dir)
	byRole := make(map[string]keyLine)
	for _, k := range list {
		byRole[k.Role] = k // the newest of a role comes last
	}
	return byRole
}

func TestKeysRotateAndRevoke(t *testing.T) {
	dir := newNode(t, "north")
	old := listKeys(t, dir)["deploy"]
	require.Equal(t, "good", old.State)
	ok(t, "key", "rotate", "deploy", "--dir", dir)
	require.NotEqual(t, old.ID, listKeys(t, dir)["deploy"].ID)
	refuses(t, exitWrong, []string{"no terminal", "--yes"}, "key", "revoke", old.ID, "--dir", dir)
	ok(t, "key", "revoke", old.ID, "--dir", dir, "--reason", "a test", "--yes")
	var list []keyLine
	okJSON(t, &list, "key", "list", "--dir", dir)
	states := make(map[string]string)
	for _, k := range list {
		states[k.ID] = k.State
	}
	require.Equal(t, "revoked", states[old.ID])
	require.Equal(t, "good", states[listKeys(t, dir)["deploy"].ID])
	require.Contains(t, ok(t, "key", "list", "--dir", dir), "revoked")
}

func TestKeyCommandsRefuse(t *testing.T) {
	dir := newNode(t, "north")
	refuses(t, exitWrong, []string{`"node"`, "nodes, deploy or contracts"}, "key", "rotate", "node", "--dir", dir)
	refuses(t, exitWrong, []string{"no such key"}, "key", "revoke", "1234", "--dir", dir, "--yes")
	refuses(t, exitWrong, []string{"--before soon"}, "key", "revoke", listKeys(t, dir)["deploy"].ID, "--dir", dir, "--yes", "--before", "soon")
	require.NoError(t, os.Rename(filepath.Join(dir, "org.key"), filepath.Join(t.TempDir(), "org.key")))
	refuses(t, exitWrong, []string{"org.key: missing"}, "key", "rotate", "deploy", "--dir", dir)
	refuses(t, exitWrong, []string{"org.key: missing"}, "key", "revoke", listKeys(t, dir)["deploy"].ID, "--dir", dir, "--yes")
	require.False(t, listKeys(t, dir)["root"].Here)
}

// A node's key may be named by its id, whole, or as the peer that others see; the nodes key is enough.
func TestRevokeNodeKey(t *testing.T) {
	for _, form := range []func(keyLine, string) string{
		func(k keyLine, _ string) string { return k.ID },
		func(k keyLine, _ string) string { return k.Key },
		func(_ keyLine, peer string) string { return peer },
	} {
		dir := newNode(t, "north")
		require.NoError(t, os.Remove(filepath.Join(dir, "org.key")))
		peer, err := ownPeer(trust.Dir{Path: dir})
		require.NoError(t, err)
		ok(t, "key", "revoke", form(listKeys(t, dir)["node"], peer.String()), "--dir", dir, "--yes")
		require.Equal(t, "revoked", listKeys(t, dir)["node"].State)
	}
}

func TestKeyFilesMustBeSound(t *testing.T) {
	dir := newNode(t, "north")
	path := filepath.Join(dir, "node.key")
	require.NoError(t, os.Chmod(path, 0o644))
	refuses(t, exitWrong, []string{"node.key: file readable by others", "0644", "chmod 600 " + path}, "key", "list", "--dir", dir)
	require.NoError(t, os.Chmod(path, 0o600))
	require.NoError(t, os.WriteFile(path, []byte("-----BEGIN FEDNODE PRIVATE KEY-----\nAAAA\n-----END FEDNODE PRIVATE KEY-----\n"), 0o600))
	refuses(t, exitWrong, []string{"node.key: malformed", "restore it from a copy"}, "key", "list", "--dir", dir)
	require.NoError(t, os.WriteFile(path, []byte("gone"), 0o600))
	refuses(t, exitWrong, []string{"node.key: malformed"}, "key", "list", "--dir", dir)
}

func TestKeyState(t *testing.T) {
	now := trust.TimeOf(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	day := 24 * time.Hour
	for want, k := range map[string]trust.KeyInfo{
		"good":            {Issued: now.Add(-day), Expires: now.Add(100 * day)},
		"expires soon":    {Issued: now.Add(-day), Expires: now.Add(20 * day)},
		"expired":         {Issued: now.Add(-day), Expires: now},
		"revoked":         {Issued: now.Add(-day), Expires: now.Add(100 * day), Void: now.Add(100 * day)},
		"revoked in part": {Issued: now.Add(-2 * day), Expires: now.Add(100 * day), Void: now.Add(-day)},
	} {
		got, _ := keyState(k, now)
		require.Equal(t, want, got)
	}
}
