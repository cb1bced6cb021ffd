package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"

	"fednode/node/trust"
)

// contextFile is contexts.toml: names for daemons that one talks to often.
type contextFile struct {
	Current  string                 `toml:"current,omitempty"`
	Contexts map[string]contextInfo `toml:"contexts"`

	path string
}

// contextInfo says how to reach one daemon: either Node, perhaps with TokenFile, or Dir.
type contextInfo struct {
	Node      string `toml:"node,omitempty" json:"node,omitempty"`
	TokenFile string `toml:"token_file,omitempty" json:"token_file,omitempty"`
	Dir       string `toml:"dir,omitempty" json:"dir,omitempty"`
}

// loadContexts reads contexts.toml of the user; one that is not there has no contexts.
func loadContexts() (*contextFile, error) {
	base, err := os.UserConfigDir()
	if err != nil {
		return nil, wrong("there is no place for contexts: %w; set HOME or XDG_CONFIG_HOME, or use --node", err)
	}
	f := &contextFile{path: filepath.Join(base, "fednode", "contexts.toml")}
	text, err := os.ReadFile(f.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, wrong("%w", err)
	}
	d := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
	if err := d.Decode(f); err != nil {
		return nil, wrong("%s: %w; repair it, or delete it and add the contexts again", f.path, err)
	}
	if f.Contexts == nil {
		f.Contexts = make(map[string]contextInfo)
	}
	return f, nil
}

// save replaces the file in one step.
func (f *contextFile) save() error {
	text, err := toml.Marshal(f)
	if err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return wrong("%w", err)
	}
	next := f.path + ".next"
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return wrong("%w", err)
	}
	return os.Rename(next, f.path)
}

func (f *contextFile) known(name string) error {
	if _, ok := f.Contexts[name]; !ok {
		return wrong("there is no context %s; fednode context list shows them", name)
	}
	return nil
}

func contextCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "context",
		Short: "Name daemons, and choose the one that commands talk to",
		Long: `Name daemons, and choose the one that commands talk to. A command finds its daemon by --node URL or --dir D, else by the
variable FEDNODE_NODE, else by the context in use, else it is http://127.0.0.1:7480.`,
		Example: `  fednode context add north --dir /var/lib/fednode
  fednode context use north`,
	}
	c.AddCommand(contextAddCommand(), contextUseCommand(), contextListCommand(), contextRemoveCommand())
	return c
}

func contextAddCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "add NAME",
		Short: "Name a daemon; the first one is used at once",
		Example: `  fednode context add north --dir /var/lib/fednode
  fednode context add lab --node https://lab.example.org:7480 --token-file ~/lab.token`,
		Args: exactArgs(1),
	}
	var info contextInfo
	c.Flags().StringVar(&info.Node, "node", "", "URL of its API")
	c.Flags().StringVar(&info.TokenFile, "token-file", "", "file with its token")
	c.Flags().StringVar(&info.Dir, "dir", "", "its directory, on this machine")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := checkContext(args[0], &info); err != nil {
			return err
		}
		f, err := loadContexts()
		if err != nil {
			return err
		}
		if f.known(args[0]) == nil {
			return wrong("the context %s exists already; run fednode context remove %s first", args[0], args[0])
		}
		f.Contexts[args[0]] = info
		if f.Current == "" {
			f.Current = args[0]
		}
		return f.save()
	}
	return c
}

// checkContext refuses what could not be reached, and makes paths absolute: a context is used from anywhere.
func checkContext(name string, info *contextInfo) error {
	if err := trust.CheckName("context", name); err != nil {
		return err
	}
	if (info.Node == "") == (info.Dir == "") {
		return wrong("fednode context add needs either --node URL or --dir D")
	}
	if info.Dir != "" && info.TokenFile != "" {
		return wrong("--token-file goes with --node; the token of --dir is in its api.token")
	}
	if info.Node != "" {
		if _, err := parseEndpoint(info.Node); err != nil {
			return err
		}
	}
	for _, p := range []*string{&info.Dir, &info.TokenFile} {
		if *p == "" {
			continue
		}
		abs, err := filepath.Abs(*p)
		if err != nil {
			return wrong("%s: %w", *p, err)
		}
		*p = abs
	}
	return nil
}

func contextUseCommand() *cobra.Command {
	return changeContexts("use NAME", "Talk to this daemon from now on", "  fednode context use north",
		func(f *contextFile, name string) { f.Current = name })
}

func contextRemoveCommand() *cobra.Command {
	return changeContexts("remove NAME", "Forget a context; the daemon is left alone", "  fednode context remove north",
		func(f *contextFile, name string) {
			delete(f.Contexts, name)
			if f.Current == name {
				f.Current = ""
			}
		})
}

// changeContexts returns a command that changes something about a context that is known.
func changeContexts(use, short, example string, change func(f *contextFile, name string)) *cobra.Command {
	return &cobra.Command{
		Use:     use,
		Short:   short,
		Example: example,
		Args:    exactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := loadContexts()
			if err != nil {
				return err
			}
			if err := f.known(args[0]); err != nil {
				return err
			}
			change(f, args[0])
			return f.save()
		},
	}
}

func contextListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the contexts",
		Example: "  fednode context list",
		Args:    exactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			f, err := loadContexts()
			if err != nil {
				return err
			}
			if jsonWanted(c) {
				return printJSON(c, map[string]any{"current": f.Current, "contexts": f.Contexts})
			}
			t := table{head: []string{"", "NAME", "DAEMON"}}
			for _, name := range slices.Sorted(maps.Keys(f.Contexts)) {
				mark := cell{}
				if name == f.Current {
					mark = cell{"*", toneGood}
				}
				info := f.Contexts[name]
				t.add(mark, cell{name, toneNone}, cell{info.Node + info.Dir, toneNone})
			}
			if len(t.rows) == 0 {
				fmt.Fprintln(c.ErrOrStderr(), "no contexts; add one with fednode context add")
				return nil
			}
			t.print(c.OutOrStdout())
			return nil
		},
	}
}
