package descriptor

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/trust"
	"fednode/query"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

func TestRoundTrip(t *testing.T) {
	north, south := newParty(t, "north"), newParty(t, "south")
	d := sample(t)
	before := slices.Clone(d.Assignments)
	signed, err := Sign(d, north.deploy, day0)
	require.NoError(t, err)
	require.Equal(t, before, d.Assignments, "Sign leaves its argument alone")
	v, err := Verify(signed, registry(t, south, north), day0)
	require.NoError(t, err)
	require.Equal(t, d.sorted(), v.Descriptor)
	require.Equal(t, signed, v.Signed)
	require.Equal(t, "north", v.Signer.Org)
	require.Equal(t, "north/netmon", v.Revision().Query)

	slices.Reverse(d.Assignments)
	slices.Reverse(d.Streams)
	later, err := Sign(d, north.deploy, day0.Add(time.Hour))
	require.NoError(t, err)
	require.NotEqual(t, signed, later)
	again, err := Verify(later, registry(t, north), day0.Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, v.Hash, again.Hash, "the hash is of the content only")
}

// The bytes never change: hosts of other versions verify them.
func TestGoldenBytes(t *testing.T) {
	north := newParty(t, "north")
	signed, err := Sign(sample(t), north.deploy, day0)
	require.NoError(t, err)
	v, err := read(signed)
	require.NoError(t, err)
	got := fmt.Sprintf("payload\n%s\nsigned\n%x\n", hexLines(v.envelope.Payload), sha256.Sum256(signed))
	const file = "testdata/descriptor.txt"
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func hexLines(b []byte) string {
	var lines []string
	for part := range slices.Chunk(b, 48) {
		lines = append(lines, hex.EncodeToString(part))
	}
	return strings.Join(lines, "\n")
}

func TestLookups(t *testing.T) {
	d := sample(t).sorted()
	require.Equal(t, []string{"count", "suspects"}, d.AssignedTo(peerID(t, 1)))
	require.Len(t, d.Replicas("count"), 2)
	require.Empty(t, d.Replicas("other"))
	o, ok := d.Origin("south/conns")
	require.True(t, ok)
	require.Equal(t, "s1", o.Node)
	_, ok = d.Origin("south/other")
	require.False(t, ok)
	require.True(t, d.Concerns("north"))
	require.True(t, d.Concerns("south"))
	require.False(t, d.Concerns("east"))
}

// Whatever is wrong with the signature is refused, whoever sends it.
func TestRefusedSignatures(t *testing.T) {
	north, south, east := newParty(t, "north"), newParty(t, "south"), newParty(t, "east")
	d := sample(t).sorted()
	good, err := Sign(d, north.deploy, day0)
	require.NoError(t, err)
	payload, err := d.encode()
	require.NoError(t, err)
	flipped := bytes.Replace(good, []byte("conns > 100"), []byte("conns > 900"), 1)
	require.NotEqual(t, good, flipped)
	for name, c := range map[string]struct {
		signed []byte
		now    time.Time
		kind   error
	}{
		"altered diagram":             {flipped, day0, trust.ErrSignature},
		"key of another role":         {envelope(t, payload, north.key(t, trust.RoleNodes), trust.ContextDescriptor, day0), day0, trust.ErrRole},
		"signed for another use":      {envelope(t, payload, north.deploy, trust.ContextRequest, day0), day0, trust.ErrContext},
		"another trusted partner":     {envelope(t, payload, south.deploy, trust.ContextDescriptor, day0), day0, ErrOwner},
		"somebody unknown":            {envelope(t, payload, east.deploy, trust.ContextDescriptor, day0), day0, trust.ErrUntrusted},
		"after the key's expiry":      {envelope(t, payload, north.deploy, trust.ContextDescriptor, day0.AddDate(2, 0, 0)), day0.AddDate(2, 0, 0), trust.ErrExpired},
		"before the key was made":     {envelope(t, payload, north.deploy, trust.ContextDescriptor, day0.AddDate(-1, 0, 0)), day0, trust.ErrExpired},
		"in the future":               {envelope(t, payload, north.deploy, trust.ContextDescriptor, day0.Add(time.Hour)), day0, trust.ErrNotYet},
		"oversized":                   {append(bytes.Clone(good), make([]byte, MaxSigned)...), day0, ErrTooLarge},
		"cut off":                     {good[:len(good)-1], day0, trust.ErrMalformed},
		"more behind it":              {append(bytes.Clone(good), 0), day0, trust.ErrMalformed},
		"empty":                       {nil, day0, trust.ErrMalformed},
		"payload is no descriptor":    {envelope(t, []byte{0xa0}, north.deploy, trust.ContextDescriptor, day0), day0, ErrVersion},
		"payload with unknown fields": {envelope(t, append([]byte{payload[0] + 1}, append(bytes.Clone(payload[1:]), 0x18, 0x40, 0)...), north.deploy, trust.ContextDescriptor, day0), day0, trust.ErrMalformed},
		"payload in another form":     {envelope(t, bytes.Replace(payload, []byte{4, 1, 5, 3}, []byte{4, 0x18, 1, 5, 3}, 1), north.deploy, trust.ContextDescriptor, day0), day0, trust.ErrMalformed},
		"of a later version":          {envelope(t, bytes.Replace(payload, []byte{1, 1, 2}, []byte{1, 2, 2}, 1), north.deploy, trust.ContextDescriptor, day0), day0, ErrVersion},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Verify(c.signed, registry(t, south, north), c.now)
			requireRefusal(t, err, c.kind)
		})
	}
}

func TestRevokedKey(t *testing.T) {
	north, south := newParty(t, "north"), newParty(t, "south")
	r := registry(t, south, north)
	signed, err := Sign(sample(t), north.deploy, day0)
	require.NoError(t, err)
	rev, err := north.dir.RevokeKey(north.deploy.Secret.Public(), trust.TimeOf(day0.Add(time.Hour)), "stolen", day0)
	require.NoError(t, err)
	_, err = Verify(signed, r, day0)
	require.NoError(t, err)
	_, err = r.Revoke(rev)
	require.NoError(t, err)
	_, err = Verify(signed, r, day0)
	requireRefusal(t, err, trust.ErrRevoked)
}

// A deploy key vouches for the owner, not for sense: what an owner signs is checked all the same, by the owner too.
func TestRefusedContent(t *testing.T) {
	north, south := newParty(t, "north"), newParty(t, "south")
	r := registry(t, south, north)
	withDiagram := func(d *Descriptor, text string) {
		d.Diagram, d.DiagramHash = []byte(text), sha256.Sum256([]byte(text))
	}
	for name, c := range map[string]struct {
		change func(d *Descriptor)
		kind   error
	}{
		"query without a name":     {func(d *Descriptor) { d.Query = "" }, trust.ErrName},
		"path as the query's name": {func(d *Descriptor) { d.Query = "../x" }, trust.ErrName},
		"another query's name":     {func(d *Descriptor) { d.Query = "other" }, ErrDiagram},
		"term 0":                   {func(d *Descriptor) { d.Term = 0 }, trust.ErrMalformed},
		"epoch 0":                  {func(d *Descriptor) { d.Epoch = 0 }, trust.ErrMalformed},
		"writer that is no peer":   {func(d *Descriptor) { d.Writer = "n1" }, trust.ErrMalformed},
		"unknown state":            {func(d *Descriptor) { d.State = "paused" }, trust.ErrMalformed},
		"no creation":              {func(d *Descriptor) { d.Created = 0 }, trust.ErrMalformed},
		"home of another":          {func(d *Descriptor) { d.Home.Org = "south" }, trust.ErrIdentity},
		"home without a node":      {func(d *Descriptor) { d.Home.Node = "" }, trust.ErrName},
		"endless labels":           {func(d *Descriptor) { d.Home.Labels = strings.Repeat("x", maxLabels+1) }, ErrTooLarge},
		"semantics of the future":  {func(d *Descriptor) { d.Semantics = query.Semantics + 1 }, ErrVersion},
		"semantics 0":              {func(d *Descriptor) { d.Semantics = 0 }, ErrVersion},
		"hash of another diagram":  {func(d *Descriptor) { d.DiagramHash[0]++ }, ErrHash},
		"no diagram":               {func(d *Descriptor) { withDiagram(d, "") }, ErrDiagram},
		"diagram with errors": {func(d *Descriptor) {
			withDiagram(d, strings.Replace(string(d.Diagram), "dport < 1024", "dport < 'x'", 1))
		}, ErrDiagram},
		"diagram with a connector":  {func(d *Descriptor) { withDiagram(d, queryFile) }, ErrDiagram},
		"diagram with a comment":    {func(d *Descriptor) { withDiagram(d, "# hello\n"+string(d.Diagram)) }, ErrDiagram},
		"fragment that is not":      {func(d *Descriptor) { d.Assignments[0].Fragment = "extra" }, ErrAssignment},
		"fragment without a node":   {func(d *Descriptor) { d.Assignments = d.Assignments[2:] }, ErrAssignment},
		"no assignments":            {func(d *Descriptor) { d.Assignments = nil }, ErrAssignment},
		"assignment to no peer":     {func(d *Descriptor) { d.Assignments[0].Peer = "" }, trust.ErrMalformed},
		"assignment to no org":      {func(d *Descriptor) { d.Assignments[0].Org = "a b" }, trust.ErrName},
		"a peer with two names":     {func(d *Descriptor) { d.Assignments[1].Peer = d.Assignments[0].Peer }, ErrAssignment},
		"more replicas than may be": {func(d *Descriptor) { addReplicas(t, d, "suspects", maxReplicas) }, ErrTooLarge},
		"more assignments":          {func(d *Descriptor) { d.Assignments = make([]Assignment, maxAssignments+1) }, ErrTooLarge},
		"stream that is not":        {func(d *Descriptor) { d.Streams[1].Stream = "south/other" }, ErrAssignment},
		"stream of somebody else":   {func(d *Descriptor) { d.Streams[1].Org = "north" }, trust.ErrIdentity},
		"stream from no peer":       {func(d *Descriptor) { d.Streams[0].Peer = "x" }, trust.ErrMalformed},
		"stream twice":              {func(d *Descriptor) { d.Streams = append(d.Streams, d.Streams[1]) }, trust.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			d := sample(t).sorted()
			c.change(d)
			_, err := Sign(d, north.deploy, day0)
			requireRefusal(t, err, c.kind)
			if name == "more assignments" {
				c.kind = trust.ErrMalformed // more than the decoder reads
			}
			_, err = Verify(forge(t, d, north.deploy), r, day0)
			requireRefusal(t, err, c.kind)
		})
	}
}

func addReplicas(t *testing.T, d *Descriptor, fragment string, n int) {
	for i := range n {
		d.Assignments = append(d.Assignments, Assignment{Fragment: fragment, Org: "north", Node: fmt.Sprintf("x%02d", i), Peer: peerID(t, byte(100+i))})
	}
	slices.SortFunc(d.Assignments, compareAssignments)
}

// Only the order of the lists is put right by Sign; received, another order is refused.
func TestRefusedOrder(t *testing.T) {
	north := newParty(t, "north")
	r := registry(t, north)
	for name, change := range map[string]func(d *Descriptor){
		"assignments": func(d *Descriptor) { slices.Reverse(d.Assignments) },
		"streams":     func(d *Descriptor) { slices.Reverse(d.Streams) },
	} {
		d := sample(t).sorted()
		change(d)
		_, err := Sign(d, north.deploy, day0)
		require.NoError(t, err, name)
		_, err = Verify(forge(t, d, north.deploy), r, day0)
		requireRefusal(t, err, trust.ErrMalformed)
	}
}

func TestSignRefusesKeys(t *testing.T) {
	north, south := newParty(t, "north"), newParty(t, "south")
	_, err := Sign(sample(t), south.deploy, day0)
	requireRefusal(t, err, ErrOwner)
	_, err = Sign(sample(t), north.key(t, trust.RoleContracts), day0)
	requireRefusal(t, err, trust.ErrRole)
}

// A diagram of the longest file that can be written may be longer than what can be sent; the owner is told.
func TestSignRefusesLongDiagrams(t *testing.T) {
	var b strings.Builder
	b.WriteString(queryFile)
	for i := range 900 {
		fmt.Fprintf(&b, "[operators.f%d]\nkind = \"filter\"\ninput = \"suspects\"\nwhere = \"%s conns > %d\"\n", i, strings.Repeat("conns > 1 and ", 20), i)
	}
	d := sample(t)
	d.Diagram = original(t, b.String()).Canonical("north")
	d.DiagramHash = sha256.Sum256(d.Diagram)
	_, err := Sign(d, newParty(t, "north").deploy, day0)
	requireRefusal(t, err, ErrTooLarge)
}
