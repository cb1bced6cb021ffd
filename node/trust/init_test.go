package trust

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
)

// What init promises: these files with these modes.
func TestInitMakesTheFiles(t *testing.T) {
	d, id := newDir(t, "north", "edge-1")
	for _, name := range []string{"org.key", "node.key", "api.token", "nodes.key", "deploy.key", "contracts.key"} {
		require.Equal(t, os.FileMode(0o600), mode(t, d.file(name)), name)
	}
	for _, name := range []string{"node.cert", "org.pub"} {
		require.Equal(t, os.FileMode(0o644), mode(t, d.file(name)), name)
	}
	for _, name := range []string{"data", "log", "trust"} {
		require.DirExists(t, d.file(name))
	}
	require.Equal(t, "north/edge-1", id.Member.String())
	require.NotNil(t, id.Deploy)
	token, err := d.LoadToken()
	require.NoError(t, err)
	require.Len(t, token, 43)

	m, err := registry(t, d).VerifyCertificate(id.Certificate, day0)
	require.NoError(t, err)
	require.Equal(t, id.Member, m)
	require.Equal(t, day0.Add(20*24*time.Hour), m.RenewAt().Std())
}

func TestInitNeverOverwrites(t *testing.T) {
	for _, name := range []string{"org.key", "node.key", "api.token", "node.cert", "org.pub", "deploy.key"} {
		t.Run(name, func(t *testing.T) {
			d := Dir{Path: t.TempDir()}
			require.NoError(t, os.WriteFile(d.file(name), []byte("mine"), 0o600))
			_, err := d.Init(Setup{Org: "north", Node: "a", Now: day0, Random: rand.Reader})
			requireRefusal(t, err, ErrExists)
			entries, err := os.ReadDir(d.Path)
			require.NoError(t, err)
			require.Len(t, entries, 1, "nothing else was made")
			text, err := os.ReadFile(d.file(name))
			require.NoError(t, err)
			require.Equal(t, "mine", string(text))
		})
	}
}

func TestInitWithoutRandomnessMakesNothing(t *testing.T) {
	d := Dir{Path: filepath.Join(t.TempDir(), "n")}
	_, err := d.Init(Setup{Org: "north", Node: "a", Now: day0, Random: iotest.ErrReader(io.ErrUnexpectedEOF)})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NoDirExists(t, d.Path)
}

func TestInitRefusesNames(t *testing.T) {
	for _, name := range []string{"", "1st", "a b", "../x", "-a", "é", string(make([]byte, 64))} {
		d := Dir{Path: filepath.Join(t.TempDir(), "n")}
		_, err := d.Init(Setup{Org: name, Node: "a", Now: day0, Random: rand.Reader})
		requireRefusal(t, err, ErrName)
		_, err = d.Init(Setup{Org: "north", Node: name, Now: day0, Random: rand.Reader})
		requireRefusal(t, err, ErrName)
		require.NoDirExists(t, d.Path)
	}
}

// A second node: request there, sign here, join there.
func TestEnrolment(t *testing.T) {
	first, id := newDir(t, "north", "a")
	second := Dir{Path: filepath.Join(t.TempDir(), "second")}
	request, err := second.InitNode(Setup{Org: "north", Node: "b", Now: day0, Random: rand.Reader})
	require.NoError(t, err)

	req, err := ParseRequest("request", request)
	require.NoError(t, err)
	cert, err := SignRequest(id.Nodes, req, day0)
	require.NoError(t, err)
	certText, err := FormatCertificate(cert)
	require.NoError(t, err)
	orgText, err := first.ExportOrg(nil)
	require.NoError(t, err)

	joined, err := second.Join(certText, orgText)
	require.NoError(t, err)
	require.Equal(t, "north/b", joined.Member.String())
	require.Nil(t, joined.Deploy)
	_, err = registry(t, first).VerifyCertificate(joined.Certificate, day0)
	require.NoError(t, err)

	_, err = second.Join(certText, orgText)
	requireRefusal(t, err, ErrExists)
	renewed, err := second.Renew(joined, day0)
	require.NoError(t, err)
	require.False(t, renewed, "there is no nodes key")

	_, other := newDir(t, "south", "a")
	_, err = SignRequest(other.Nodes, req, day0)
	requireRefusal(t, err, ErrIdentity)
}

func TestRequestMustProveItsKey(t *testing.T) {
	_, id := newDir(t, "north", "a")
	_, other := newDir(t, "north", "b")
	payload, err := encode(NodeRequest{Org: "north", Node: "a", Key: id.Key.Public()})
	require.NoError(t, err)
	s, err := sign(other.Key, ContextRequest, payload, day0)
	require.NoError(t, err)
	data, err := s.Marshal()
	require.NoError(t, err)
	_, err = ParseRequest("request", formatBlocks(nil, block{pemRequest, data}))
	requireRefusal(t, err, ErrIdentity)
}

func TestRenew(t *testing.T) {
	d, id := newDir(t, "north", "a")
	later := day0.Add(21 * 24 * time.Hour)
	ok, err := d.Renew(id, later)
	require.NoError(t, err)
	require.True(t, ok)
	again, err := d.LoadIdentity()
	require.NoError(t, err)
	require.Equal(t, TimeOf(later), again.Member.Issued)
	_, err = registry(t, d).VerifyCertificate(again.Certificate, later)
	require.NoError(t, err)
}

func TestJoinRefusesAnotherKeysCertificate(t *testing.T) {
	d, _ := newDir(t, "north", "a")
	foreign, _ := newDir(t, "north", "z")
	text, err := os.ReadFile(foreign.file(FileCertificate))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(d.file(FileCertificate), text, 0o644))
	_, err = d.LoadIdentity()
	requireRefusal(t, err, ErrIdentity)
	require.False(t, errors.Is(err, ErrMalformed))
}
