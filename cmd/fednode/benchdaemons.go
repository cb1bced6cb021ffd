package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"

	"github.com/spf13/cobra"

	"fednode/cmd/fednode/internal/pairbench"
	"fednode/node/connect/connectors"
)

// serveName is the command of a measured daemon, which people do not see.
const serveName = "serve"

// benchServeCommand runs a daemon that has the benchmark's connector too, until standard input ends.
func benchServeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:    serveName + " NODE-FILE",
		Short:  "Run a daemon that is measured",
		Hidden: true,
		Args:   exactArgs(1),
	}
	profile := c.Flags().String("profile", "", "file for a processor profile")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		ctx, cancel := context.WithCancel(c.Context())
		defer cancel()
		go func() {
			defer cancel()
			_, _ = io.Copy(io.Discard, c.InOrStdin()) // however it ends, nobody measures any more
		}()
		if *profile != "" {
			f, err := os.Create(*profile)
			if err != nil {
				return fmt.Errorf("profile: %w", err)
			}
			defer func() { err = errors.Join(err, f.Close()) }()
			if err := pprof.StartCPUProfile(f); err != nil {
				return fmt.Errorf("profile: %w", err)
			}
			defer pprof.StopCPUProfile()
		}
		d, err := newDaemon(args[0], append(connectors.Kinds(), pairbench.Kind()))
		if err != nil {
			return err
		}
		return d.run(ctx)
	}
	return c
}

// daemonsGoal is what two daemons should carry on two processors.
func daemonsGoal() goal {
	return goal{rate: 2e6, bound: "the synced writes of the source's log, and the session's encryption at both ends"}
}

// benchDaemons measures what two processes of this program pass on.
func benchDaemons(ctx context.Context, o benchOptions) (out []benchmark, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.dir, "bench-daemons-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r, err := pairbench.Run(ctx, pairbench.Options{
		Dir: dir, Giver: serveArgs(self, o.profile, "source"), Taker: serveArgs(self, o.profile, "client"), Records: o.records, Runs: o.runs,
	})
	if err != nil {
		return nil, err
	}
	return []benchmark{{
		Name: "source proxy of one daemon to client proxy of another", Records: o.records, Runs: o.runs, RecordsPerSecond: r.RecordsPerSecond,
		NsPerRecord: r.GiverNsPerRecord + r.TakerNsPerRecord, SourceNsPerRecord: r.GiverNsPerRecord, ClientNsPerRecord: r.TakerNsPerRecord,
		goal: daemonsGoal(),
	}}, nil
}

// serveArgs is the command of a daemon, but for its file. A profile is named after its side.
func serveArgs(self, profiles, side string) []string {
	args := []string{self, "bench", serveName}
	if profiles != "" {
		args = append(args, "--profile", filepath.Join(profiles, side+".pprof"))
	}
	return args
}
