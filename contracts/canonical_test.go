package contracts

import (
	"encoding/hex"
	"flag"
	"os"
	"strings"
	"testing"

	_ "github.com/cockroachdb/datadriven" // declares -rewrite
	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"
)

func encode(t *testing.T, text string) []byte {
	t.Helper()
	b, err := Encode(mustRead(t, text))
	require.NoError(t, err)
	return b
}

// The canonical bytes are signed, so they never change: the file is what they were when the format was made.
func TestCanonicalGolden(t *testing.T) {
	for name, text := range map[string]string{"smallest": smallest, "whole": whole} {
		b := encode(t, text)
		readable, err := cbor.Diagnose(b)
		require.NoError(t, err)
		got := "id  " + string(IDOf(b)) + "\n" + readable + "\n" + hex.EncodeToString(b) + "\n"
		path := "testdata/" + name + ".canonical"
		if flag.Lookup("rewrite").Value.String() == "true" {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), got)
	}
}

func TestCanonicalRoundTrip(t *testing.T) {
	for _, text := range []string{smallest, whole} {
		b := encode(t, text)
		back, err := Decode(b)
		require.NoError(t, err)
		again, err := Encode(back)
		require.NoError(t, err)
		require.Equal(t, b, again)
	}
	require.Equal(t, mustRead(t, whole), func() *Terms { c, _ := Decode(encode(t, whole)); return c }())
}

// Two files that say the same in other words have one hash; any change of a term is another one.
func TestHashIsOfTheTerms(t *testing.T) {
	same := strings.NewReplacer(`["south", "north"]`, `["north", "south"]`+"\ngivers = [\"south\", \"north\"]\nsubcontract = \"allowed\" # as by default",
		`min = "0.9"`, `min = "0.900 EUR"`, "2027-01-01", `"2027-01-01T01:00:00+01:00"`).Replace(smallest)
	require.NotEqual(t, smallest, same)
	id := IDOf(encode(t, smallest))
	require.Equal(t, id, IDOf(encode(t, same)))
	for _, change := range []string{`max = "1.000001"`, `max = "1"` + "\nwork_units = 2"} {
		require.NotEqual(t, id, IDOf(encode(t, strings.Replace(smallest, `max = "1"`, change, 1))))
	}
}

// What is not the canonical form of right terms is refused.
func TestDecodeRefuses(t *testing.T) {
	b := encode(t, whole)
	for i := range b {
		_, err := Decode(b[:i])
		require.Error(t, err)
	}
	_, err := Decode(append(b[:len(b):len(b)], 0))
	require.ErrorContains(t, err, "cannot be read")
	_, err = Decode(make([]byte, MaxEncoded+1))
	require.ErrorContains(t, err, "at most")
	bad := mustRead(t, whole)
	bad.Price.Min = -1
	_, err = Encode(bad)
	require.ErrorContains(t, err, "price.min")
	raw, err := cbor.Marshal(bad)
	require.NoError(t, err)
	_, err = Decode(raw)
	require.ErrorContains(t, err, "price.min")
	bad = mustRead(t, whole)
	bad.Parties[0], bad.Parties[1] = bad.Parties[1], bad.Parties[0]
	raw, err = cbor.Marshal(bad)
	require.NoError(t, err)
	_, err = Decode(raw)
	require.ErrorContains(t, err, "not in order")
	loose, err := cbor.EncOptions{Sort: cbor.SortNone, ShortestFloat: cbor.ShortestFloatNone}.EncMode()
	require.NoError(t, err)
	raw, err = loose.Marshal(struct {
		Kind    Kind   `cbor:"1,keyasint"`
		Unknown string `cbor:"99,keyasint"`
	}{Load, "x"})
	require.NoError(t, err)
	_, err = Decode(raw)
	require.ErrorContains(t, err, "cannot be read")
}

func FuzzDecode(f *testing.F) {
	for _, text := range []string{smallest, whole} {
		terms, _ := Read("c.toml", []byte(text), Options{})
		b, err := Encode(terms)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		terms, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Encode(terms)
		if err != nil || string(again) != string(b) {
			t.Fatalf("decoded terms encode to other bytes: %v", err)
		}
	})
}
