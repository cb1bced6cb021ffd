package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeyFilesOfOthersAreRefused(t *testing.T) {
	d, _ := newDir(t, "north", "a")
	for _, bits := range []os.FileMode{0o640, 0o604, 0o644, 0o660, 0o610} {
		require.NoError(t, os.Chmod(d.file("node.key"), bits))
		_, err := d.LoadIdentity()
		e := requireRefusal(t, err, ErrPermissions)
		require.Contains(t, e.Remedy, "chmod 600")
	}
	require.NoError(t, os.Chmod(d.file("node.key"), 0o400))
	_, err := d.LoadIdentity()
	require.NoError(t, err)
}

// systemd shows credentials with other modes; the directory is what protects them.
func TestSystemdCredentials(t *testing.T) {
	d, id := newDir(t, "north", "a")
	d.Credentials = t.TempDir()
	for _, name := range []string{"node.key", "deploy.key"} {
		text, err := os.ReadFile(d.file(name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(d.Credentials, name), text, 0o440))
		require.NoError(t, os.Remove(d.file(name)))
	}
	again, err := d.LoadIdentity()
	require.NoError(t, err)
	require.Equal(t, id.Key.Public(), again.Key.Public())
	require.NotNil(t, again.Deploy)
}

// Whatever happened to a key file, there is one message: which file, and what to do.
func TestDamagedKeyFiles(t *testing.T) {
	d, _ := newDir(t, "north", "a")
	good, err := os.ReadFile(d.file("node.key"))
	require.NoError(t, err)
	contracts, err := os.ReadFile(d.file("contracts.key"))
	require.NoError(t, err)
	damaged := map[string][]byte{
		"empty":     nil,
		"truncated": good[:len(good)-30],
		"cut body":  []byte(strings.Replace(string(good), "\n-----END", "AAAA\n-----END", 1)),
		"zeros":     make([]byte, 300),
		"twice":     append(append([]byte{}, good...), good...),
		"noise":     append([]byte("hello\n"), good...),
		"other":     contracts,
		"long":      make([]byte, maxFile+1),
	}
	for name, text := range damaged {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(d.file("node.key"), text, 0o600))
			_, err := d.LoadIdentity()
			require.Error(t, err)
			require.Contains(t, err.Error(), d.file("node.key"))
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestMissingFilesNameTheRemedy(t *testing.T) {
	_, err := Dir{Path: t.TempDir()}.LoadIdentity()
	e := requireRefusal(t, err, ErrMissing)
	require.Contains(t, e.Remedy, "fednode init")
}

func TestKeysPrintWithoutTheirSecret(t *testing.T) {
	_, id := newDir(t, "north", "a")
	secret := fmt.Sprintf("%x", id.Key.private.Seed()[:8])
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		require.NotContains(t, fmt.Sprintf(format, id.Key), secret)
	}
}

func TestPartners(t *testing.T) {
	north, _ := newDir(t, "north", "a")
	south, southID := newDir(t, "south", "a")
	peerID := southID.Member.Peer.String()
	text, err := south.ExportOrg([]string{"/ip4/127.0.0.1/tcp/7481/p2p/" + peerID})
	require.NoError(t, err)
	org, err := ParseOrg("south.pub", text)
	require.NoError(t, err)

	_, err = registry(t, north).VerifyCertificate(southID.Certificate, day0)
	e := requireRefusal(t, err, ErrUntrusted)
	require.Contains(t, e.Remedy, "org trust")

	require.NoError(t, north.TrustPartner(org))
	require.NoError(t, north.TrustPartner(org), "the same again is no error")
	partners, err := north.Partners()
	require.NoError(t, err)
	require.Len(t, partners, 1)
	require.Equal(t, org, partners[0])
	m, err := registry(t, north).VerifyCertificate(southID.Certificate, day0)
	require.NoError(t, err)
	require.Equal(t, "south/a", m.String())

	// Another root under the same name is an attack or a new organisation: a person decides.
	impostor, _ := newDir(t, "south", "a")
	fake, err := impostor.LoadOrg()
	require.NoError(t, err)
	requireRefusal(t, north.TrustPartner(fake), ErrIdentity)
	requireRefusal(t, registry(t, north).Trust(fake), ErrIdentity)

	own, err := north.LoadOrg()
	require.NoError(t, err)
	requireRefusal(t, north.TrustPartner(own), ErrIdentity)

	require.NoError(t, north.UntrustPartner("south"))
	requireRefusal(t, north.UntrustPartner("south"), ErrUntrusted)
	requireRefusal(t, north.UntrustPartner("../south"), ErrName)
	require.NoError(t, north.TrustPartner(fake))
}

func TestPartnerFileUnderAnotherNameIsRefused(t *testing.T) {
	north, _ := newDir(t, "north", "a")
	south, _ := newDir(t, "south", "a")
	text, err := os.ReadFile(south.file(FileOrg))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(north.partnerFile("east"), text, 0o644))
	_, err = north.LoadRegistry(DefaultSkew)
	requireRefusal(t, err, ErrIdentity)
}
