package configs

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/contracts"
	"fednode/node/bind"
	"fednode/node/config"
	"fednode/node/connect/connectors"
	"fednode/node/export"
	"fednode/query"
	"fednode/query/op"
)

func noEnv(string) (string, bool) { return "", false }

func keys(name string) (*export.Key, error) { return &export.Key{Name: name}, nil }

func readNode(t *testing.T, name string, text []byte) *config.Config {
	t.Helper()
	c, p := config.Read(name, text, config.Options{Env: noEnv, Connectors: bind.New(connectors.Kinds()), Keys: keys})
	require.NoError(t, p.Err())
	require.Empty(t, p.Warnings)
	return c
}

// Every sample loads without an error or a warning; a new one is found by itself.
func TestSamplesLoad(t *testing.T) {
	names, err := fs.Glob(Files(), "*.toml")
	require.NoError(t, err)
	require.Len(t, names, 6)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			text, err := fs.ReadFile(Files(), name)
			require.NoError(t, err)
			if strings.Contains(string(text), "[contract]") {
				terms, p := contracts.Read(name, text, contracts.Options{Operators: kindsOfOperators()})
				require.NoError(t, p.Err())
				require.NotEmpty(t, terms.Parties)
				return
			}
			if !strings.Contains(string(text), "[query]") {
				require.NotEmpty(t, readNode(t, name, text).Node.Org)
				return
			}
			d, p := query.Parse(name, text, query.Options{Env: noEnv, Connectors: bind.New(connectors.Kinds())})
			require.NoError(t, p.Err())
			require.Empty(t, p.Warnings)
			require.NotEmpty(t, d.Outputs)
		})
	}
}

// setting is a line that is a setting behind a #, or a section behind a #; prose has a space behind it.
var setting = regexp.MustCompile(`(?m)^#([a-z\[])`)

// What stands behind # in the commented sample is right too, and where it is a default, it is the default.
func TestCommentedSettingsLoad(t *testing.T) {
	text, err := fs.ReadFile(Files(), "node.toml")
	require.NoError(t, err)
	all := setting.ReplaceAll(text, []byte("$1"))
	c := readNode(t, "node.toml", all)
	require.Len(t, c.Streams, 1)
	require.Len(t, c.Exports, 1)
	require.Len(t, c.Hosts, 1)
	minimal, err := fs.ReadFile(Files(), "minimal.toml")
	require.NoError(t, err)
	defaults := readNode(t, "node.toml", minimal)
	examples := map[string]bool{"listen.announce": true, "api.tls_cert": true, "api.tls_key": true, "federation.peers": true,
		"limits.memory": true, "limits.partner.bytes_per_sec": true}
	for _, f := range config.Fields() {
		require.Contains(t, string(all), "\n"+f.Key()+" = ", "the sample lacks %s", f.Path)
		if !examples[f.Path] {
			require.Equal(t, f.Value(defaults), f.Value(c), f.Path)
		}
	}
}

// What stands behind # in the contract's sample is right too, and where it is a default, it is the default.
func TestCommentedContractLoads(t *testing.T) {
	text, err := ContractFile("east", "west")
	require.NoError(t, err)
	read := func(text []byte) *contracts.Terms {
		terms, p := contracts.Read("contract.toml", text, contracts.Options{Operators: kindsOfOperators()})
		require.NoError(t, p.Err())
		return terms
	}
	plain := read(text)
	require.Equal(t, []string{"east", "west"}, plain.Parties)
	all := read([]byte(strings.NewReplacer("north", "east", "south", "west").Replace(string(setting.ReplaceAll(text, []byte("$1"))))))
	require.NotEmpty(t, all.Signers)
	require.Equal(t, "research", all.Tasks.Labels["class"])
	all.Tasks.Labels = nil
	require.Equal(t, plain.Tasks, all.Tasks)
	require.Equal(t, plain.Price, all.Price)
	require.Equal(t, plain.Validity, all.Validity)
	require.Equal(t, plain.Migration, all.Migration)
	require.Equal(t, plain.Caps.Grace, all.Caps.Grace)
	require.Equal(t, plain.Subcontract, all.Subcontract)
	require.Equal(t, plain.Givers, all.Givers)
}

func kindsOfOperators() (list []string) {
	for _, k := range op.Kinds() {
		list = append(list, k.Name)
	}
	return list
}

// The file as it ships, with everything behind # left there, equals the minimal one.
func TestSampleIsMinimal(t *testing.T) {
	text, err := NodeFile("east", "edge-7")
	require.NoError(t, err)
	c := readNode(t, "node.toml", text)
	require.Equal(t, "east", c.Node.Org)
	require.Equal(t, "edge-7", c.Node.Name)
	minimal := readNode(t, "node.toml", []byte("[node]\norg = \"east\"\nname = \"edge-7\"\n"))
	for _, f := range config.Fields() {
		require.Equal(t, f.Value(minimal), f.Value(c), f.Path)
	}
	require.Empty(t, c.Streams)
}
