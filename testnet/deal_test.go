package testnet

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	require.NoError(t, err)
	if filepath.Ext(name) == ".gz" {
		z := gzip.NewWriter(f)
		_, err = z.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, z.Close())
	} else {
		_, err = f.WriteString(text)
		require.NoError(t, err)
	}
	require.NoError(t, f.Close())
	return path
}

// hands deals files out to two and returns what each got.
func hands(t *testing.T, data ...string) []string {
	t.Helper()
	dir := t.TempDir()
	paths, err := deal(data, []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")})
	require.NoError(t, err)
	var out []string
	for _, p := range paths {
		text, err := os.ReadFile(p)
		require.NoError(t, err)
		out = append(out, string(text))
	}
	return out
}

// TestDeal: rows go round, heads to everybody, and a last line without an end is whole.
func TestDeal(t *testing.T) {
	first, second := writeFile(t, "1.csv", "h,i\n1,\n2,\n3,"), writeFile(t, "2.csv.gz", "h,i\r\n4,\n")
	require.Equal(t, []string{"h,i\n1,\n3,\n", "h,i\n2,\n4,\n"}, hands(t, first, second))
	require.Equal(t, []string{"{}\n{\"c\":1}\n", "{\"b\":1}\n"}, hands(t, writeFile(t, "x.jsonl", "{}\n{\"b\":1}\n{\"c\":1}\n")))
	require.Equal(t, []string{"#fields\tts\n1\n#close\n", "#fields\tts\n2\n#close\n"}, hands(t, writeFile(t, "conn.log", "#fields\tts\n1\n2\n#close\n")))
}

func TestDealWrong(t *testing.T) {
	csv := writeFile(t, "1.csv", "h\n1\n")
	for name, data := range map[string][]string{
		"missing":     {filepath.Join(t.TempDir(), "no.csv")},
		"format":      {writeFile(t, "x.bin", "")},
		"two formats": {csv, writeFile(t, "x.jsonl", "{}\n")},
		"other head":  {csv, writeFile(t, "2.csv", "other\n1\n")},
		"no gzip": {func() string {
			p := writeFile(t, "x", "plain")
			require.NoError(t, os.Rename(p, p+".csv.gz"))
			return p + ".csv.gz"
		}()},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := deal(data, []string{filepath.Join(t.TempDir(), "a")})
			require.ErrorIs(t, err, ErrSpec)
		})
	}
}
