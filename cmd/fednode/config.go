package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"fednode/node/bind"
	"fednode/node/config"
	"fednode/node/connect/connectors"
	"fednode/node/export"
)

// readConfig reads and checks a node's file without touching its secrets; warnings go to standard error. The source is
// returned too. What is read this way must not be run: the keys of its exports are names only.
func readConfig(path string) (*config.Config, []byte, error) {
	src, err := readLimited(path, maxQueryBytes)
	if err != nil {
		return nil, nil, err
	}
	c, p := config.Read(path, src, config.Options{Env: os.LookupEnv, Connectors: bind.New(connectors.Kinds()), Keys: keyName})
	for _, w := range p.Warnings {
		fmt.Fprintf(os.Stderr, "warning: %s\n", w.Error())
	}
	return c, src, p.Err()
}

// keyName accepts every name that an export's key can have.
func keyName(name string) (*export.Key, error) {
	if id, ok := strings.CutPrefix(name, "contract:"); name != config.OwnKey && (!ok || id == "") {
		return nil, fmt.Errorf("`%s` is no key; expected %s or contract:ID", name, config.OwnKey)
	}
	return &export.Key{Name: name}, nil
}

func configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "config",
		Short:   "Look at a node's configuration",
		Example: "  fednode config print --effective --config fednode-north/node.toml",
	}
	c.AddCommand(configPrintCommand())
	return c
}

func configPrintCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "print",
		Short: "Print the settings of node.toml with where each comes from",
		Long: `Print the settings of node.toml: those that the file gives, or with --effective every one; its value, where it comes
from, and whether a change takes effect at once or when the node starts again.`,
		Example: `  fednode config print
  fednode config print --effective --config fednode-north/node.toml --json`,
		Args: exactArgs(0),
	}
	file := c.Flags().String("config", configName, "the node's file")
	effective := c.Flags().Bool("effective", false, "defaults too")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, src, err := readConfig(*file)
		if err != nil {
			return err
		}
		settings := cfg.Effective(src, os.LookupEnv)
		if !*effective {
			settings = given(settings)
		}
		if jsonWanted(c) {
			return printJSON(c, settings)
		}
		t := table{head: []string{"SETTING", "VALUE", "ORIGIN", "EFFECT"}}
		for _, s := range settings {
			origin, value := cell{s.Origin, toneNone}, cell{clean(s.Value), toneNone}
			if s.Origin == config.OriginDefault {
				origin.tone = toneDim
			}
			if s.Value == "" {
				value = cell{"-", toneDim}
			}
			t.add(cell{s.Path, toneNone}, value, origin, cell{s.Effect, toneDim})
		}
		t.print(c.OutOrStdout())
		return nil
	}
	return c
}

// given keeps what the file says.
func given(all []config.Setting) []config.Setting {
	out := []config.Setting{}
	for _, s := range all {
		if s.Origin != config.OriginDefault {
			out = append(out, s)
		}
	}
	return out
}
