package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"fednode/node/config"
	"fednode/node/trust"
)

// verdict is how a check ended.
type verdict string

const (
	verdictOK   verdict = "ok"
	verdictWarn verdict = "warning"
	verdictFail verdict = "failed"
	verdictSkip verdict = "skipped"
)

// finding is what one check found, and what to do about it.
type finding struct {
	Check   string  `json:"check"`
	Verdict verdict `json:"verdict"`
	Detail  string  `json:"detail"`
	Remedy  string  `json:"remedy,omitempty"`
}

func fine(detail string, args ...any) finding {
	return finding{Verdict: verdictOK, Detail: fmt.Sprintf(detail, args...)}
}

func failed(remedy, detail string, args ...any) finding {
	return finding{Verdict: verdictFail, Detail: fmt.Sprintf(detail, args...), Remedy: remedy}
}

func warned(remedy, detail string, args ...any) finding {
	return finding{Verdict: verdictWarn, Detail: fmt.Sprintf(detail, args...), Remedy: remedy}
}

// patient is the node under examination. Later checks use what earlier ones found; what is nil was not found.
type patient struct {
	file    string
	dir     trust.Dir
	now     time.Time
	peer    string // only this partner, "" for all
	config  *config.Config
	id      *trust.Identity
	orgs    []*trust.Org
	at      *endpoint // of the daemon
	running bool      // it answers
}

// check is one examination. needs says what must have been found before.
type check struct {
	name  string
	needs func(*patient) bool
	run   func(context.Context, *patient) []finding
}

func always(*patient) bool          { return true }
func withConfig(p *patient) bool    { return p.config != nil }
func withID(p *patient) bool        { return p.id != nil }
func one(f finding) []finding       { return []finding{f} }
func meetsPartners(p *patient) bool { return p.running && len(p.orgs) > 0 }
func notRunning(p *patient) bool    { return p.config != nil && !p.running }
func withPartner(p *patient) bool   { return len(p.orgs) > 0 }

// checks are in the order in which things depend on each other: the first that fails is the one to mend.
func checks() []check {
	return []check{
		{"configuration", always, checkConfig},
		{"keys", always, checkKeys},
		{"clock", always, checkClock},
		{"certificate", withID, checkCertificate},
		{"partners", always, checkPartners},
		{"data directory", withConfig, checkData},
		{"open files", always, checkFiles},
		{"UDP buffers", always, checkUDP},
		{"daemon", withConfig, checkDaemon},
		{"sessions", meetsPartners, checkSessions},
		{"ports", notRunning, checkPorts},
		{"announced names", withConfig, checkAnnounce},
		{"partners' addresses", withPartner, checkReach},
	}
}

func doctorCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Find the first thing that is wrong with a node, and say what to do",
		Long: `Find the first thing that is wrong with a node, and say what to do: its file, keys, certificate, clock, disk, limits,
ports, names, and whether partners can be reached. Nothing is changed. The exit code is 1 if a check failed.`,
		Example: `  fednode doctor --config fednode-north/node.toml
  fednode doctor --peer south --json`,
		Args: exactArgs(0),
	}
	file := c.Flags().String("config", configName, "the node's file; keys and partners are looked for beside it")
	peer := c.Flags().String("peer", "", "try to reach only this organisation")
	c.RunE = func(c *cobra.Command, _ []string) error {
		p := &patient{file: *file, dir: trustDir(filepath.Dir(*file)), now: time.Now(), peer: *peer}
		findings := examine(c.Context(), p, checks())
		if jsonWanted(c) {
			if err := printJSON(c, map[string]any{"healthy": firstFailure(findings) == nil, "checks": findings}); err != nil {
				return err
			}
		} else {
			printFindings(c.OutOrStdout(), findings)
		}
		if firstFailure(findings) != nil {
			return &codeError{code: exitFailed, err: errSaid}
		}
		return c.Context().Err()
	}
	return c
}

// examine runs the checks whose needs are met.
func examine(ctx context.Context, p *patient, list []check) []finding {
	var out []finding
	for _, k := range list {
		if ctx.Err() != nil {
			break
		}
		if !k.needs(p) {
			continue
		}
		for _, f := range k.run(ctx, p) {
			f.Check, f.Detail, f.Remedy = k.name, printable(f.Detail), printable(f.Remedy)
			out = append(out, f)
		}
	}
	return out
}

func firstFailure(list []finding) *finding {
	for i := range list {
		if list[i].Verdict == verdictFail {
			return &list[i]
		}
	}
	return nil
}

func printFindings(w io.Writer, list []finding) {
	marks := map[verdict]cell{verdictOK: {"✓", toneGood}, verdictWarn: {"!", toneWarn}, verdictFail: {"✗", toneBad}, verdictSkip: {"-", toneDim}}
	t := table{}
	for _, f := range list {
		t.add(marks[f.Verdict], cell{f.Check, toneNone}, cell{firstLine([]byte(f.Detail)), toneNone})
		if f.Verdict == verdictWarn {
			t.add(cell{}, cell{}, cell{"→ " + f.Remedy, toneDim})
		}
	}
	t.print(w)
	bad, p := firstFailure(list), paletteOf(w)
	if bad == nil {
		fmt.Fprintf(w, "\n%s\n", p.paint(toneGood, "Nothing is in the way."))
		return
	}
	fmt.Fprintf(w, "\n%s %s\n%s\n", p.paint(toneBad, "Mend first: "+bad.Check+"."), bad.Detail, p.paint(toneBold, "→ "+bad.Remedy))
}
