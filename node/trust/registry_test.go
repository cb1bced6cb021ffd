package trust

import (
	"crypto/ed25519"
	"crypto/rand"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// reseal signs the changed certificate of id with the nodes key, so that only what the test changed is wrong.
func reseal(t *testing.T, id *Identity, at Time, change func(*NodeCertificate)) *Signed {
	t.Helper()
	c := NodeCertificate{Org: id.Member.Org, Node: id.Member.Node, Key: id.Key.Public(), Expires: at.Add(CertificateValidity)}
	change(&c)
	payload, err := encode(c)
	require.NoError(t, err)
	s, err := sign(id.Nodes.Secret, ContextCertificate, payload, at.Std())
	require.NoError(t, err)
	s.Statement, err = id.Nodes.Statement.Marshal()
	require.NoError(t, err)
	return s
}

func TestCertificateRefusals(t *testing.T) {
	d, id := newDir(t, "north", "a")
	_, south := newDir(t, "south", "a")
	_, twin := newDir(t, "north", "a") // same name, another root
	at := TimeOf(day0)
	same := func(*NodeCertificate) {}
	copyOf := func(change func(*Signed)) *Signed {
		s := *id.Certificate
		change(&s)
		return &s
	}
	cases := []struct {
		name string
		cert *Signed
		now  time.Time
		kind error
	}{
		{"untrusted organisation", south.Certificate, day0, ErrUntrusted},
		{"same name, other root", twin.Certificate, day0, ErrSignature},
		{"expired", id.Certificate, day0.Add(CertificateValidity + DefaultSkew), ErrExpired},
		{"made in the future", id.Certificate, day0.Add(-DefaultSkew - time.Second), ErrNotYet},
		{"payload changed", copyOf(func(s *Signed) { s.Payload = append([]byte{}, s.Payload...); s.Payload[9] ^= 1 }), day0, ErrSignature},
		{"time changed", copyOf(func(s *Signed) { s.At++ }), day0, ErrSignature},
		{"signature short", copyOf(func(s *Signed) { s.Signature = s.Signature[:10] }), day0, ErrSignature},
		{"no signature", copyOf(func(s *Signed) { s.Signature = nil }), day0, ErrSignature},
		{"no statement", copyOf(func(s *Signed) { s.Statement = nil }), day0, ErrMalformed},
		{"garbage statement", copyOf(func(s *Signed) { s.Statement = []byte{1, 2} }), day0, ErrMalformed},
		{"another's statement", copyOf(func(s *Signed) { s.Statement, _ = south.Nodes.Statement.Marshal() }), day0, ErrUntrusted},
		{"statement of another key", copyOf(func(s *Signed) { s.Statement, _ = id.Deploy.Statement.Marshal() }), day0, ErrSignature},
		{"other context", copyOf(func(s *Signed) { s.Context = ContextDescriptor }), day0, ErrContext},
		{"other organisation inside", reseal(t, id, at, func(c *NodeCertificate) { c.Org = "south" }), day0, ErrIdentity},
		{"valid for too long", reseal(t, id, at, func(c *NodeCertificate) { c.Expires++ }), day0, ErrMalformed},
		{"valid for ever", reseal(t, id, at, func(c *NodeCertificate) { c.Expires = math.MaxInt64 }), day0, ErrMalformed},
		{"ends before it starts", reseal(t, id, at, func(c *NodeCertificate) { c.Expires = 0 }), day0, ErrMalformed},
		{"time overflow", reseal(t, id, TimeOf(time.UnixMicro(math.MaxInt64)), same), day0, ErrMalformed},
		{"bad node name", reseal(t, id, at, func(c *NodeCertificate) { c.Node = "a\nb" }), day0, ErrName},
		{"after the signing key", reseal(t, id, at.Add(SigningKeyValidity), same), day0.Add(SigningKeyValidity), ErrExpired},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := registry(t, d).VerifyCertificate(c.cert, c.now)
			requireRefusal(t, err, c.kind)
		})
	}
}

func TestClockSkewIsAllowed(t *testing.T) {
	d, id := newDir(t, "north", "a")
	for _, now := range []time.Time{day0.Add(-DefaultSkew), day0.Add(CertificateValidity + DefaultSkew - time.Microsecond)} {
		_, err := registry(t, d).VerifyCertificate(id.Certificate, now)
		require.NoError(t, err)
	}
}

func TestDescriptorSignature(t *testing.T) {
	d, id := newDir(t, "north", "a")
	s, err := id.Deploy.Sign(ContextDescriptor, []byte("descriptor"), day0)
	require.NoError(t, err)
	wire, err := s.Marshal()
	require.NoError(t, err)
	got, err := ParseSigned(wire, 0)
	require.NoError(t, err)

	signer, err := registry(t, d).Verify(got, ContextDescriptor, RoleDeploy, day0)
	require.NoError(t, err)
	require.Equal(t, Signer{Org: "north", Role: RoleDeploy, Key: id.Deploy.Secret.Public(), At: TimeOf(day0)}, signer)
	_, err = registry(t, d).Verify(got, ContextDescriptor, RoleContracts, day0)
	requireRefusal(t, err, ErrRole)
	_, err = registry(t, d).Verify(got, ContextCertificate, RoleDeploy, day0)
	requireRefusal(t, err, ErrContext)

	// What a key signed while it was valid stays valid after the key expired.
	_, err = registry(t, d).Verify(got, ContextDescriptor, RoleDeploy, day0.Add(2*SigningKeyValidity))
	require.NoError(t, err)

	// A node certificate signed by the deploy key is worth nothing.
	payload, err := encode(NodeCertificate{Org: "north", Node: "a", Key: id.Key.Public(), Expires: TimeOf(day0.Add(time.Hour))})
	require.NoError(t, err)
	s, err = id.Deploy.Sign(ContextCertificate, payload, day0)
	require.NoError(t, err)
	_, err = registry(t, d).VerifyCertificate(s, day0)
	requireRefusal(t, err, ErrRole)
	_, err = CertifyNode(id.Deploy, "a", id.Key.Public(), day0)
	requireRefusal(t, err, ErrRole)
	_, err = ParseSigned(wire, len(wire)-1)
	requireRefusal(t, err, ErrMalformed)
}

// The domain string keeps our signatures apart from a plain Ed25519 signature over the same payload.
func TestPlainSignatureIsNotAccepted(t *testing.T) {
	d, id := newDir(t, "north", "a")
	s := *id.Certificate
	s.Signature = ed25519.Sign(id.Nodes.Secret.private, s.Payload)
	_, err := registry(t, d).VerifyCertificate(&s, day0)
	requireRefusal(t, err, ErrSignature)
}

func TestRotatedKeyNeedsNoSecondImport(t *testing.T) {
	north, id := newDir(t, "north", "a")
	south, _ := newDir(t, "south", "a")
	org, err := north.LoadOrg()
	require.NoError(t, err)
	require.NoError(t, south.TrustPartner(org))

	later := day0.Add(time.Hour)
	_, err = north.RotateKey(RoleNodes, later, rand.Reader)
	require.NoError(t, err)
	again, err := north.LoadIdentity()
	require.NoError(t, err)
	require.NotEqual(t, id.Nodes.Secret.Public(), again.Nodes.Secret.Public())
	ok, err := north.Renew(again, later)
	require.NoError(t, err)
	require.True(t, ok)

	reg := registry(t, south)
	for _, cert := range []*Signed{id.Certificate, again.Certificate} {
		_, err = reg.VerifyCertificate(cert, later)
		require.NoError(t, err)
	}
	keys, err := north.ListKeys()
	require.NoError(t, err)
	require.Len(t, keys, 6)
	require.FileExists(t, north.file("nodes.key.old-"+id.Nodes.Secret.Public().ID()))
	_, err = north.RotateKey(RoleNode, later, rand.Reader)
	requireRefusal(t, err, ErrRole)
}
