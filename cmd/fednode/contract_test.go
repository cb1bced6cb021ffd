package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A new file is valid as it is, and is never overwritten.
func TestContractNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "peak.toml")
	require.Contains(t, ok(t, "contract", "new", path, "--between", "east,west"), "Wrote "+path)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(before), `parties = ["east", "west"]`)
	refuses(t, exitWrong, []string{"exists already; nothing was overwritten"}, "contract", "new", path, "--between", "north,south")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Regexp(t, `valid +peak-2027 +[0-9a-f]{64}`, ok(t, "contract", "validate", path))
	refuses(t, exitWrong, []string{"names two organisations"}, "contract", "new", path+"2", "--between", "east")
	refuses(t, exitWrong, []string{"--between"}, "contract", "new", path+"2", "--between", "ea st,west")
}

// Every error of every file comes at once, with its place.
func TestContractValidateRefuses(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "a.toml"), filepath.Join(dir, "b.toml")
	ok(t, "contract", "new", path, "--between", "east,west")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	bad := strings.NewReplacer(`min = "0.90"`, `min = "2"`, "until = 2028-01-01", "until = 2026-01-01", "max_load", "max_lod").Replace(string(text))
	require.NoError(t, os.WriteFile(path, []byte(bad), 0o600))
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	refuses(t, exitWrong, []string{"the lowest price, 2, is above the highest, 1", "before it begins", "did you mean `max_load`?", "b.toml:1:1: contract: the key `contract` is missing"},
		"contract", "validate", path, other)
	refuses(t, exitWrong, []string{"no such file"}, "contract", "validate", filepath.Join(dir, "c.toml"))
}

func TestContractShow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "peak.toml")
	ok(t, "contract", "new", path, "--between", "east,west")
	out := ok(t, "contract", "show", path)
	require.Regexp(t, `price.max +enforced +1 EUR`, out)
	require.Regexp(t, `availability.max_delay +evidenced +3s`, out)
	require.Regexp(t, `privacy.personal_data +promised +false`, out)
	var doc struct {
		ID      string
		Clauses []struct{ Clause, Value, Holds string }
	}
	okJSON(t, &doc, "contract", "show", path)
	require.Len(t, doc.ID, 64)
	require.Contains(t, out, doc.ID)
	require.Len(t, doc.Clauses, strings.Count(out, "\n")-3)
}
