package descriptor

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/trust"
)

// Whatever is decoded encodes to the same bytes, and nothing that comes from outside makes us panic.
func FuzzDecode(f *testing.F) {
	payload, err := sample(f).sorted().encode()
	require.NoError(f, err)
	f.Add(payload)
	f.Add(payload[:len(payload)/2])
	f.Add(bytes.Replace(payload, []byte("conns"), []byte("co\xffns"), 1))
	f.Add([]byte{0xa1, 1, 1})
	f.Add([]byte{0xbf, 1, 1, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := decode(b)
		if err != nil {
			return
		}
		again, err := d.encode()
		require.NoError(t, err)
		require.Equal(t, b, again)
		if d.check() == nil {
			require.NotEmpty(t, d.Assignments)
		}
	})
}

// FuzzVerify changes signed bytes: nothing but what was signed verifies.
func FuzzVerify(f *testing.F) {
	north := newParty(f, "north")
	r := registry(f, north)
	signed := sign(f, sample(f), north)
	v, err := read(signed)
	require.NoError(f, err)
	f.Add(signed)
	f.Add(signed[:100])
	f.Add(envelope(f, v.envelope.Payload, north.deploy, trust.ContextRequest, day0))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Verify(b, r, day0)
		if err == nil {
			require.Equal(t, v.Hash, got.Hash)
		}
	})
}
