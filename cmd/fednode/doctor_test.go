package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/trust"
)

// patientOf is a node with ports of its own, examined now.
func patientOf(t *testing.T, org, listen string) *patient {
	t.Helper()
	dir := newNode(t, org)
	file := filepath.Join(dir, configName)
	if listen != "" {
		text := fmt.Sprintf("[node]\norg = %q\nname = \"node-1\"\n%s\n", org, listen)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	return &patient{file: file, dir: trust.Dir{Path: dir}, now: time.Now()}
}

// freePort is a port that nobody had a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

func listenSection(p2p, api string) string {
	return fmt.Sprintf("[listen]\np2p = %q\napi = %q", p2p, api)
}

// byCheck returns the findings by check; of several the worst.
func byCheck(list []finding) map[string]finding {
	got := make(map[string]finding)
	for _, f := range list {
		if had, ok := got[f.Check]; !ok || had.Verdict != verdictFail {
			got[f.Check] = f
		}
	}
	return got
}

func TestDoctorOfAHealthyNode(t *testing.T) {
	p := patientOf(t, "north", listenSection(freePort(t), freePort(t)))
	list := examine(t.Context(), p, checks())
	require.Nil(t, firstFailure(list), "%+v", list)
	got := byCheck(list)
	require.Equal(t, verdictWarn, got["keys"].Verdict, "the root key is still here")
	require.Contains(t, got["keys"].Remedy, "offline")
	require.NoError(t, os.Remove(filepath.Join(p.dir.Path, "org.key")))
	require.Equal(t, verdictOK, checkKeys(t.Context(), p)[0].Verdict)
	for _, f := range list {
		require.Equal(t, f.Verdict == verdictWarn, f.Remedy != "", "%+v", f)
	}
}

func TestDoctorFindsWhatIsWrong(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for name, c := range map[string]struct {
		check, says, remedy string
		harm                func(t *testing.T, p *patient)
	}{
		"no file": {"configuration", "no such file", "fednode init", func(t *testing.T, p *patient) { require.NoError(t, os.Remove(p.file)) }},
		"bad file": {"configuration", "unknown key `nodes`", "--check", func(t *testing.T, p *patient) {
			require.NoError(t, os.WriteFile(p.file, []byte("[nodes]\n"), 0o644))
		}},
		"open key": {"keys", "0644", "chmod 600", func(t *testing.T, p *patient) {
			require.NoError(t, os.Chmod(filepath.Join(p.dir.Path, "node.key"), 0o644))
		}},
		"damaged key": {"keys", "malformed", "restore", func(t *testing.T, p *patient) {
			require.NoError(t, os.WriteFile(filepath.Join(p.dir.Path, "node.key"), []byte("x"), 0o600))
		}},
		"another name": {"keys", "the file is of north/other", `name = "node-1"`, func(t *testing.T, p *patient) {
			require.NoError(t, os.WriteFile(p.file, []byte("[node]\norg = \"north\"\nname = \"other\"\n"), 0o644))
		}},
		"expired": {"certificate", "expired", "fednode node sign", func(t *testing.T, p *patient) {
			p.now = p.now.Add(31 * 24 * time.Hour)
			require.NoError(t, os.Remove(filepath.Join(p.dir.Path, "nodes.key")))
		}},
		"slow clock": {"certificate", "not valid yet", "clocks", func(_ *testing.T, p *patient) { p.now = p.now.Add(-time.Hour) }},
		"no partner": {"partners", "east is no partner", "fednode org trust", func(_ *testing.T, p *patient) { p.peer = "east" }},
		"damaged partner": {"partners", "malformed", "ask the partner", func(t *testing.T, p *patient) {
			require.NoError(t, os.WriteFile(filepath.Join(p.dir.Path, "trust", "east.pub"),
				[]byte("-----BEGIN FEDNODE ORGANISATION-----\nAAAA\n-----END FEDNODE ORGANISATION-----\n"), 0o644))
		}},
		"full disk": {"data directory", "less than the reserve", "limits.disk_reserve", func(t *testing.T, p *patient) {
			appendFile(t, p.file, "[limits]\ndisk_reserve = \"1000TiB\"\n")
		}},
		"no disk": {"data directory", "cannot be written", "data_dir", func(t *testing.T, p *patient) {
			require.NoError(t, os.RemoveAll(filepath.Join(p.dir.Path, "data")))
			require.NoError(t, os.WriteFile(filepath.Join(p.dir.Path, "data"), nil, 0o600))
		}},
		"port taken": {"ports", "address already in use", "listen.p2p", func(t *testing.T, p *patient) {
			require.NoError(t, os.WriteFile(p.file, []byte("[node]\norg = \"north\"\nname = \"node-1\"\n"+listenSection(taken.Addr().String(), freePort(t))), 0o644))
		}},
		"foreign address": {"ports", "cannot assign", "0.0.0.0", func(t *testing.T, p *patient) {
			require.NoError(t, os.WriteFile(p.file, []byte("[node]\norg = \"north\"\nname = \"node-1\"\n"+listenSection("192.0.2.1:7481", freePort(t))), 0o644))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := patientOf(t, "north", listenSection(freePort(t), freePort(t)))
			c.harm(t, p)
			bad := firstFailure(examine(t.Context(), p, checks()))
			require.NotNil(t, bad)
			require.Equal(t, c.check, bad.Check)
			require.Contains(t, bad.Detail, c.says)
			require.Contains(t, bad.Remedy, c.remedy)
		})
	}
}

func appendFile(t *testing.T, path, text string) {
	t.Helper()
	old, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(old, text...), 0o644))
}

// A daemon that runs has its ports: they are not tried.
func TestDoctorMeetsADaemon(t *testing.T) {
	status := http.StatusOK
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	p := patientOf(t, "north", listenSection(freePort(t), strings.TrimPrefix(url, "http://")))
	list := examine(t.Context(), p, checks())
	require.Nil(t, firstFailure(list))
	require.Contains(t, byCheck(list)["daemon"].Detail, "answers at "+url)
	require.NotContains(t, byCheck(list), "ports")
	status = http.StatusNotFound
	bad := firstFailure(examine(t.Context(), p, checks()))
	require.Contains(t, bad.Detail, "it is no healthy fednode")
}

func TestDoctorAsksForSessions(t *testing.T) {
	const id = "12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp"
	south := &trust.Org{Name: "south", Addresses: []string{"/ip4/127.0.0.1/tcp/1/p2p/" + id}}
	for answer, want := range map[string]finding{
		`[]`: {Verdict: verdictFail, Detail: "south: no connection yet"},
		`[{"peer":"` + id + `","cause":"not trusted there"}]`:                                                       {Verdict: verdictFail, Detail: "south: not trusted there"},
		`[{"peer":"x","org":"south","node":"a"},{"org":"south","node":"b","up":true,"rtt_s":0.002,"software":"f"}]`: {Verdict: verdictOK, Detail: "south/b is up, round trip 2.0 ms, f"},
		`7`: {Verdict: verdictFail, Detail: "not what was expected"},
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) })
		at, err := parseEndpoint(url)
		require.NoError(t, err)
		got := checkSessions(t.Context(), &patient{at: at, orgs: []*trust.Org{south}})
		require.Len(t, got, 1)
		require.Equal(t, want.Verdict, got[0].Verdict, answer)
		require.Contains(t, got[0].Detail, want.Detail)
	}
}

func TestDoctorReachesPartners(t *testing.T) {
	const id = "/p2p/12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	multi := func(a string) string {
		host, port, err := net.SplitHostPort(a)
		require.NoError(t, err)
		return "/ip4/" + host + "/tcp/" + port + id
	}
	closed := multi(freePort(t))
	for name, c := range map[string]struct {
		addresses []string
		want      verdict
		says      string
	}{
		"none":     {nil, verdictSkip, "it connects to us"},
		"only udp": {[]string{"/ip4/127.0.0.1/udp/1/quic-v1" + id}, verdictSkip, "no TCP address"},
		"closed":   {[]string{closed}, verdictFail, "refused"},
		"second":   {[]string{closed, multi(l.Addr().String())}, verdictOK, "accepts connections"},
		"no name":  {[]string{"/dns4/no-such-host.invalid/tcp/1" + id}, verdictFail, "no-such-host.invalid"},
		"nonsense": {[]string{"/nonsense" + id}, verdictFail, "nonsense"},
	} {
		f := reachOrg(t.Context(), &trust.Org{Name: "south", Addresses: c.addresses})
		require.Equal(t, c.want, f.Verdict, "%s: %+v", name, f)
		require.Contains(t, f.Detail, c.says, name)
		require.Equal(t, c.want == verdictFail, f.Remedy != "", name)
	}
}

func TestDoctorCommand(t *testing.T) {
	p := patientOf(t, "north", listenSection(freePort(t), freePort(t)))
	require.Contains(t, ok(t, "doctor", "--config", p.file), "Nothing is in the way.")
	require.NoError(t, os.Chmod(filepath.Join(p.dir.Path, "node.key"), 0o644))
	r := command(t, "doctor", "--config", p.file)
	require.Equal(t, exitFailed, r.code)
	require.Empty(t, r.err)
	require.Contains(t, r.out, "✗  keys")
	require.Contains(t, r.out, "Mend first: keys. ")
	require.Contains(t, r.out, "→ run chmod 600 ")
	r = command(t, "doctor", "--config", p.file, "--json")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.out, `"healthy": false`)
}

func TestDoctorStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Empty(t, examine(ctx, &patient{}, checks()))
}
