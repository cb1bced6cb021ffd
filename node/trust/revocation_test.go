package trust

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// partnerOf returns a registry that trusts the organisation of d as it is now.
func partnerOf(t *testing.T, d Dir) *Registry {
	t.Helper()
	south, _ := newDir(t, "south", "a")
	org, err := d.LoadOrg()
	require.NoError(t, err)
	reg := registry(t, south)
	require.NoError(t, reg.Trust(org))
	return reg
}

func TestRevokedNodesKeyUpToNow(t *testing.T) {
	north, id := newDir(t, "north", "a")
	reg := partnerOf(t, north)
	now := day0.Add(time.Hour)
	s, err := north.RevokeKey(id.Nodes.Secret.Public(), TimeOf(now), "laptop lost", now)
	require.NoError(t, err)

	_, err = reg.VerifyCertificate(id.Certificate, now)
	require.NoError(t, err, "the partner has not heard of it")
	rev, err := reg.Revoke(s)
	require.NoError(t, err)
	require.Equal(t, uint64(1), rev.Number)
	_, err = reg.Revoke(s)
	require.NoError(t, err)
	require.Len(t, reg.Orgs()[0].Revocations, 1, "once, though it came twice")
	_, err = reg.VerifyCertificate(id.Certificate, now)
	requireRefusal(t, err, ErrRevoked)

	ok, err := north.Renew(id, now)
	require.NoError(t, err)
	require.True(t, ok)
	_, err = reg.VerifyCertificate(id.Certificate, now)
	require.NoError(t, err, "signed again after the time")

	// An older organisation file does not bring the revoked back.
	old := *reg.Orgs()[0]
	old.Revocations = nil
	require.NoError(t, reg.Trust(&old))
	require.Len(t, reg.Orgs()[0].Revocations, 1)
	require.NoError(t, reg.Trust(&old))
	_, err = reg.VerifyCertificate(reseal(t, id, TimeOf(day0), func(*NodeCertificate) {}), now)
	requireRefusal(t, err, ErrRevoked)
}

func TestRevokedForGood(t *testing.T) {
	north, id := newDir(t, "north", "a")
	now := day0.Add(time.Hour)
	_, err := north.RevokeKey(id.Nodes.Secret.Public(), 0, "stolen", now)
	require.NoError(t, err)
	reg := partnerOf(t, north) // hears of it by the file
	ok, err := north.Renew(id, now)
	require.NoError(t, err)
	require.True(t, ok)
	_, err = reg.VerifyCertificate(id.Certificate, now)
	requireRefusal(t, err, ErrRevoked)
	keys, err := north.ListKeys()
	require.NoError(t, err)
	require.Equal(t, keys[1].Expires, keys[1].Void)
}

// Without the root, the nodes key revokes a node, and nothing else.
func TestNodesKeyRevokesOneNode(t *testing.T) {
	north, id := newDir(t, "north", "a")
	_, other := newDir(t, "north", "b")
	require.NoError(t, os.Remove(north.file(FileOrgKey)))
	now := day0.Add(time.Hour)
	good, err := CertifyNode(id.Nodes, "b", other.Key.Public(), day0)
	require.NoError(t, err)

	s, err := north.RevokeKey(id.Key.Public(), 0, "", now)
	require.NoError(t, err)
	reg := partnerOf(t, north)
	_, err = reg.Revoke(s)
	require.NoError(t, err)
	_, err = reg.VerifyCertificate(id.Certificate, now)
	requireRefusal(t, err, ErrRevoked)
	_, err = reg.VerifyCertificate(good, now)
	require.NoError(t, err)

	_, err = north.RevokeKey(id.Deploy.Secret.Public(), 0, "", now)
	require.Contains(t, requireRefusal(t, err, ErrMissing).Remedy, "root key")
	forged, err := id.Nodes.signValue(ContextRevocation, Revocation{Org: "north", Number: 9, Key: id.Deploy.Secret.Public(), Before: 1}, now)
	require.NoError(t, err)
	_, err = reg.Revoke(forged)
	requireRefusal(t, err, ErrRole)
	forged, err = id.Deploy.signValue(ContextRevocation, Revocation{Org: "north", Number: 9, Key: id.Key.Public(), Before: 1}, now)
	require.NoError(t, err)
	_, err = reg.Revoke(forged)
	requireRefusal(t, err, ErrRole)
}

func TestRevocationOfAnotherOrganisation(t *testing.T) {
	_, id := newDir(t, "north", "a")
	east, eastID := newDir(t, "east", "a")
	root, err := east.LoadRoot()
	require.NoError(t, err)
	reg := partnerOf(t, east)
	payload, err := encode(Revocation{Org: "north", Number: 1, Key: id.Key.Public(), Before: 1})
	require.NoError(t, err)
	s, err := sign(root, ContextRevocation, payload, day0)
	require.NoError(t, err)
	_, err = reg.Revoke(s)
	requireRefusal(t, err, ErrUntrusted)
	s, err = eastID.Nodes.signValue(ContextRevocation, Revocation{Org: "east", Key: id.Key.Public()}, day0)
	require.NoError(t, err)
	_, err = reg.Revoke(s)
	requireRefusal(t, err, ErrMalformed)
}

func TestUntrust(t *testing.T) {
	north, _ := newDir(t, "north", "a")
	reg := partnerOf(t, north)
	require.True(t, reg.Trusts("north"))
	require.NoError(t, reg.Untrust("north"))
	require.False(t, reg.Trusts("north"))
	requireRefusal(t, reg.Untrust("north"), ErrUntrusted)
	requireRefusal(t, reg.Untrust("south"), ErrIdentity)
}
