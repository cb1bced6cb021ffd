package trust

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFingerprint(t *testing.T) {
	d, _ := newDir(t, "north", "a")
	org, err := d.LoadOrg()
	require.NoError(t, err)
	f := org.Fingerprint()
	require.Len(t, strings.Fields(f.Words()), 12)
	require.True(t, f.Matches(strings.ToUpper(strings.ReplaceAll(f.Words(), " ", "-"))))
	require.True(t, f.Matches("  "+strings.ToUpper(f.String())))
	require.False(t, f.Matches(""))
	require.False(t, f.Matches(f.String()[:20]))

	renamed := *org
	renamed.Name = "south"
	require.NotEqual(t, f, renamed.Fingerprint(), "the name is part of it")
	renamed = *org
	renamed.Statements, renamed.Addresses = nil, []string{"/x"}
	require.Equal(t, f, renamed.Fingerprint())
}

func TestWordList(t *testing.T) {
	seen := make(map[string]bool)
	for _, w := range strings.Fields(wordList) {
		require.False(t, seen[w], w)
		seen[w] = true
	}
	require.Len(t, seen, 256)
}

func TestOrgFileRefusals(t *testing.T) {
	d, id := newDir(t, "north", "a")
	south, southID := newDir(t, "south", "a")
	southOrg, err := south.LoadOrg()
	require.NoError(t, err)
	cases := []struct {
		name   string
		change func(*Org)
		kind   error
	}{
		{"bad name", func(o *Org) { o.Name = "no/rth" }, ErrName},
		{"another name than signed", func(o *Org) { o.Name = "west" }, ErrSignature},
		{"another root than signed", func(o *Org) { o.Root = southOrg.Root }, ErrSignature},
		{"another's statement", func(o *Org) { o.Statements = append(o.Statements, southID.Nodes.Statement) }, ErrSignature},
		{"a certificate as statement", func(o *Org) { o.Statements = append(o.Statements, id.Certificate) }, ErrContext},
		{"a missing statement", func(o *Org) { o.Statements = append(o.Statements, nil) }, ErrMalformed},
		{"a statement as revocation", func(o *Org) { o.Revocations = o.Statements }, ErrContext},
		{"too many", func(o *Org) { o.Addresses = make([]string, maxAddresses+1) }, ErrMalformed},
		{"address", func(o *Org) { o.Addresses = []string{"10.0.0.1:7481"} }, ErrMalformed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			org, err := d.LoadOrg()
			require.NoError(t, err)
			c.change(org)
			text, err := FormatOrg(org)
			require.NoError(t, err)
			_, err = ParseOrg("x.pub", text)
			requireRefusal(t, err, c.kind)
		})
	}
}

// Only the deterministic encoding is accepted: a longer form of the same number is refused.
func TestOnlyCanonicalCBOR(t *testing.T) {
	var st struct {
		A uint64 `cbor:"1,keyasint"`
	}
	require.NoError(t, decode([]byte{0xa1, 1, 5}, &st))
	for name, b := range map[string][]byte{
		"long integer":  {0xa1, 1, 0x18, 5},
		"unknown field": {0xa2, 1, 5, 2, 5},
		"twice":         {0xa2, 1, 5, 1, 5},
		"indefinite":    {0xbf, 1, 5, 0xff},
		"trailing":      {0xa1, 1, 5, 0},
		"truncated":     {0xa1, 1},
	} {
		require.Error(t, decode(b, &st), name)
	}
}
