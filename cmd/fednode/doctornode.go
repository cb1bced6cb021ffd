package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"fednode/node/trust"
)

func checkConfig(_ context.Context, p *patient) []finding {
	cfg, _, err := readConfig(p.file)
	if errors.Is(err, os.ErrNotExist) {
		return one(failed("make a node with fednode init, or give its file with --config", "%v", err))
	}
	if err != nil {
		return one(failed("mend "+p.file+"; fednode run --config "+p.file+" --check lists every error", "%v", err))
	}
	p.config = cfg
	return one(fine("%s/%s, %d streams, %d exports", cfg.Node.Org, cfg.Node.Name, len(cfg.Streams), len(cfg.Exports)))
}

// trustFailure takes the remedy out of an error of the trust package.
func trustFailure(err error, otherwise string) finding {
	var e *trust.Error
	if !errors.As(err, &e) || e.Remedy == "" {
		return failed(otherwise, "%v", err)
	}
	shown := *e
	shown.Remedy = ""
	return failed(e.Remedy, "%v", &shown)
}

func checkKeys(_ context.Context, p *patient) []finding {
	id, err := p.dir.LoadIdentity()
	if err == nil {
		_, err = p.dir.LoadToken()
	}
	if err != nil {
		return one(trustFailure(err, "restore "+p.dir.Path+" from a copy, or make a node with fednode init"))
	}
	if cfg := p.config; cfg != nil && (cfg.Node.Org != id.Member.Org || cfg.Node.Name != id.Member.Node) {
		return one(failed(fmt.Sprintf("write org = %q and name = %q in [node] of %s, or have a certificate signed for the other name", id.Member.Org, id.Member.Node, p.file),
			"the file is of %s/%s, the certificate of %s", cfg.Node.Org, cfg.Node.Name, id.Member))
	}
	p.id = id
	if _, err := p.dir.LoadRoot(); err == nil {
		return one(warned("move "+filepath.Join(p.dir.Path, trust.FileOrgKey)+" offline; the node does not need it",
			"%s, peer %s; the root key is on this machine", id.Member, id.Member.Peer))
	}
	return one(fine("%s, peer %s", id.Member, id.Member.Peer))
}

// checkClock asks the kernel whether something keeps the clock right.
func checkClock(context.Context, *patient) []finding {
	const timeError = 5 // TIME_ERROR: the clock is not synchronised
	var tx unix.Timex
	state, err := unix.Adjtimex(&tx)
	switch {
	case err != nil:
		return one(finding{Verdict: verdictSkip, Detail: fmt.Sprintf("the kernel does not say whether the clock is synchronised: %v", err)})
	case state == timeError || tx.Status&unix.STA_UNSYNC != 0:
		return one(warned("run chronyd, ntpd or systemd-timesyncd; partners refuse what is signed with a wrong clock", "nothing synchronises the clock"))
	}
	return one(fine("synchronised, within %v", (time.Duration(tx.Maxerror) * time.Microsecond).Round(time.Millisecond)))
}

func checkCertificate(_ context.Context, p *patient) []finding {
	reg, err := trust.NewRegistry(p.id.Org, trust.DefaultSkew)
	if err == nil {
		_, err = reg.VerifyCertificate(p.id.Certificate, p.now)
	}
	renew := "on the node: fednode node request; where the nodes key is: fednode node sign"
	switch m := p.id.Member; {
	case errors.Is(err, trust.ErrExpired) && p.id.Nodes != nil:
		return one(warned("start the node", "expired on %s; the node renews it when it starts", m.Expires))
	case err != nil:
		return one(trustFailure(err, renew))
	case p.id.Nodes == nil && trust.TimeOf(p.now) > m.RenewAt():
		return one(warned(renew, "until %s; the nodes key is elsewhere, so nobody renews it", m.Expires))
	default:
		return one(fine("until %s", m.Expires))
	}
}

func checkPartners(_ context.Context, p *patient) []finding {
	reg, err := p.dir.LoadRegistry(trust.DefaultSkew)
	if err != nil {
		return one(trustFailure(err, "import the partner's file again with fednode org trust"))
	}
	var names []string
	for _, o := range reg.Orgs() {
		if o.Name == reg.Own() || p.peer != "" && o.Name != p.peer {
			continue
		}
		p.orgs = append(p.orgs, o)
		names = append(names, o.Name)
	}
	if p.peer != "" && len(names) == 0 {
		return one(failed("get its file and run fednode org trust FILE --dir "+shellPath(p.dir.Path), "%s is no partner", p.peer))
	}
	if len(names) == 0 {
		return one(fine("none"))
	}
	return one(fine("%s", strings.Join(names, ", ")))
}

// checkData writes and removes a file where the node would, or where it would make the directory.
func checkData(_ context.Context, p *patient) []finding {
	dir := p.config.Node.DataDir
	for {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return one(failed("make it writable for the user that runs the node, or set node.data_dir", "%s cannot be written: %v", p.config.Node.DataDir, err))
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return one(failed("look at the disk", "%v", err))
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return one(failed("look at the disk", "%s: %v", dir, err))
	}
	free, reserve := int64(st.Bavail)*st.Bsize, p.config.Limits.Reserve
	if free < reserve {
		return one(failed("free some space, or lower limits.disk_reserve", "%s has %s free, less than the reserve of %s: intake would stop", dir, bytesText(free), bytesText(reserve)))
	}
	return one(fine("%s, %s free", p.config.Node.DataDir, bytesText(free)))
}

func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d B", n)
}

func checkFiles(context.Context, *patient) []finding {
	const least, good = 256, 4096
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return one(finding{Verdict: verdictSkip, Detail: err.Error()})
	}
	remedy := fmt.Sprintf("ulimit -n %d, or LimitNOFILE=%d in the service's unit", good, good)
	switch {
	case l.Max < least:
		return one(failed(remedy, "at most %d", l.Max))
	case l.Max < good: // the Go runtime raises the soft limit to the hard one
		return one(warned(remedy, "at most %d", l.Max))
	}
	return one(fine("at most %d", l.Max))
}

// checkUDP compares with what QUIC asks for. With less it still works, slower under load.
func checkUDP(context.Context, *patient) []finding {
	const wanted = 7 << 20
	var low []string
	for _, name := range []string{"rmem_max", "wmem_max"} {
		text, err := os.ReadFile("/proc/sys/net/core/" + name)
		if err != nil {
			return one(finding{Verdict: verdictSkip, Detail: "this system does not say how large they may be"})
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n < wanted {
			low = append(low, fmt.Sprintf("net.core.%s=%d", name, wanted))
		}
	}
	if len(low) == 0 {
		return one(fine("at least %s", bytesText(wanted)))
	}
	return one(warned("sysctl -w "+strings.Join(low, " "), "smaller than the %s that QUIC asks for: it may lose packets under load", bytesText(wanted)))
}
