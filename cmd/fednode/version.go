package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionInfo is what the binary knows of its making.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Time     string `json:"time"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version, the revision and the Go release it was built with",
		Example: "  fednode version --json",
		Args:    exactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			v := readVersion(debug.ReadBuildInfo())
			if jsonWanted(c) {
				return printJSON(c, v)
			}
			fmt.Fprintf(c.OutOrStdout(), "fednode %s, revision %s, %s, %s\n", v.Version, v.Revision, v.Go, v.Platform)
			return nil
		},
	}
}

// readVersion takes what the Go tool recorded. A build outside a checkout has no revision.
func readVersion(b *debug.BuildInfo, ok bool) versionInfo {
	v := versionInfo{Version: "devel", Revision: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if !ok {
		return v
	}
	if m := b.Main.Version; m != "" && m != "(devel)" {
		v.Version = m
	}
	for _, s := range b.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
