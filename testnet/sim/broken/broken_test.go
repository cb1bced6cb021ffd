// Package broken shows that the simulator catches a broken automaton: it builds the command with one rule taken away at a
// time, and lets it simulate until a promise breaks.
package broken

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rule is one that is taken away: in a file, old becomes new.
type rule struct {
	name     string
	file     string
	old, new string
	// promises are those of which one must be seen to break.
	promises []string
	// kept is a case of testdata/regress that shows it, where drawn federations do so too rarely.
	kept string
}

const (
	stable    = "the stable stream is that of a run without failures"
	sameRows  = "replicas give the same rows under the same ids"
	inTime    = "results come within max_delay"
	noHole    = "no hole in what the client holds"
	noNeed    = "nothing is tentative while a stable replica can be reached"
	tooEarly  = "nothing is tentative before the hold time is spent"
	oneRedoes = "one replica of a fragment redoes at a time"
	comesBack = "everything becomes stable once the faults are over"
	ownFault  = "no error of our own"
	putsUp    = "readers put up with what has passed before"
	noEnd     = "every request for permission ends"
	noLoss    = "nothing is lost"
)

func rules() []rule {
	return []rule{
		{"an input that has failed is waited for until H", "dcaa/settings.go",
			"return s.bound(p.Path-p.Depth+3, s.reserve())", "return s.bound(p.Path-p.Depth+3, s.reserve()) / 4",
			[]string{tooEarly, noNeed}, ""},
		{"hold times leave room for the hops below", "dcaa/settings.go",
			"return s.bound(p.Path-p.Depth+3, s.reserve())", "return s.MaxDelay + s.MaxDelay/4",
			[]string{inTime}, ""},
		{"a consumer moves to a better replica", "dcaa/choice.go",
			"have, want := i.rank(now, i.data.producer), i.rank(now, n)", "have, want := i.rank(now, n), i.rank(now, i.data.producer)",
			[]string{noNeed, inTime, comesBack, noHole}, ""},
		{"who redoes keeps its yes", "dcaa/permission.go",
			"p.phase == permissionRedoing && p.keeps(ruleRedoing) ||", "",
			[]string{oneRedoes}, ""},
		{"an absent replica counts as a yes", "dcaa/permission.go",
			"return peer.yes || (peer.absent || p.now > peer.since.Add(permissionPatience)) && p.keeps(ruleAbsent)", "return peer.yes",
			[]string{comesBack, noEnd}, ""},
		{"a bucket is stable when all its inputs are", "sunion/sunion.go",
			"low = min(low, u.inputs[i].boundary)", "low = max(min(low, u.inputs[i].boundary), u.inputs[0].boundary)",
			[]string{stable, sameRows, ownFault}, ""},
		{"an input that has just been asked of another replica lives", "dcaa/condition.go",
			"(c.open || c == i.next)", "c.open",
			[]string{noHole}, "asked-anew-lives"},
		{"who holds is waited for further down", "node/replica/tentative.go",
			"i.intake.Withheld() > 0", "i.intake.Withheld() < 0",
			[]string{noHole}, "two-queries-through-a-hop"},
		{"who is read goes on while it redoes", "node/replica/redo.go",
			"knows && slices.ContainsFunc", "knows && false && slices.ContainsFunc",
			[]string{inTime}, "redoing-alone-read"},
		{"rows of a source that is back are no older than they are", "dcaa/loose.go",
			"high < bucketEnd(last.to, bucket)", "high < tuple.MaxTime",
			[]string{noHole}, "rows-before-their-boundary"},
		{"best effort is silent until its state depends on nothing that was lost", "node/replica/converge.go",
			"a.to = a.from.Add(r.span)", "a.to = a.from",
			[]string{stable}, "best-effort-windows"},
		{"nobody waits for a replica that was asked and gives none", "dcaa/standing.go",
			"p.dry, p.askAt = true, now.Add(second)", "p.askAt = now.Add(second)",
			[]string{inTime}, "replica-lost-late"},
		{"nor for long for the others of it, until they have given some", "dcaa/condition.go",
			"return asked && slices", "return false && asked && slices",
			[]string{inTime}, "replica-lost-while-asking"},
		{"a reader puts up with stalls of a kind that passed", "dcaa/leniency.go",
			"return p.up && p.heard && !p.silent(now) && now <", "return p == nil && now <",
			[]string{putsUp}, "lossy-lines-to-the-client"},
		{"who is started in trouble is told what is normal of a way", "dcaa/line.go",
			"if l.told > 0 {", "if l.told < 0 {",
			[]string{inTime}, "started-on-slow-way"},
		{"what is added to a way is added in one direction", "dcaa/line.go",
			"return min(apart-least, added)", "return min(apart-least, added/2)",
			[]string{inTime}, "late-over-narrow-way"},
		{"who has caught up is not ahead of its time", "dcaa/pace.go",
			"	if told {\n", "	if told && p.ahead == 0 {\n",
			[]string{inTime}, "stall-after-catching-up"},
		{"who gives beyond the bound is left", "dcaa/late.go",
			"p.lateUntil = now.Add(lateFor)", "p.lateUntil = 0",
			[]string{inTime}, "late-over-narrow-way"},
		{"of a state a part is taken over alone", "node/replica/part.go",
			"	if whole {\n", "	if true {\n",
			[]string{noLoss}, "lane-by-lane"},
	}
}

// simulate is how the command is called to find out about the rule.
func (r *rule) simulate() []string {
	const seeds = "2000"
	call := []string{"testnet", "simulate", "--minimise", "0", "--json"}
	if r.kept != "" {
		return append(call, "--spec", filepath.Join("..", "testdata", "regress", r.kept+".toml"))
	}
	return append(call, "--runs", seeds)
}

// root is where the module lies.
const root = "../../.."

// build builds the command with a rule taken away.
func build(t *testing.T, r rule) string {
	t.Helper()
	dir := t.TempDir()
	path, err := filepath.Abs(filepath.Join(root, r.file))
	require.NoError(t, err)
	src, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(src), r.old), "%s: the rule reads otherwise now; write it down here anew", r.file)
	broken := filepath.Join(dir, "broken.go")
	require.NoError(t, os.WriteFile(broken, []byte(strings.Replace(string(src), r.old, r.new, 1)), 0o644))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: broken}})
	require.NoError(t, err)
	list := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(list, overlay, 0o644))
	bin := filepath.Join(dir, "fednode")
	out, err := exec.Command("go", "build", "-overlay", list, "-o", bin, root+"/cmd/fednode").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return bin
}

// Each rule still reads as it is written down here. This takes no time, and is among the tests that always run.
func TestRulesRead(t *testing.T) {
	for _, r := range rules() {
		src, err := os.ReadFile(filepath.Join(root, r.file))
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(src), r.old), "%s, in %s: the rule reads otherwise now; write it down here anew", r.name, r.file)
	}
}

// Each rule that is taken away is missed, in drawn federations or in the case that was kept for it.
func TestBrokenRules(t *testing.T) {
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			bin := build(t, r)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			out, err := exec.CommandContext(ctx, bin, r.simulate()...).Output()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, "every promise held without it")
			require.Equal(t, 1, exit.ExitCode(), "%s", exit.Stderr)
			var failure struct {
				Seed          uint64
				Promise, Text string
			}
			require.NoError(t, json.Unmarshal(out, &failure), "%s", out)
			require.Contains(t, r.promises, failure.Promise, "seed %d: %s", failure.Seed, failure.Text)
			t.Logf("seed %d: %s: %s", failure.Seed, failure.Promise, failure.Text)
		})
	}
}
