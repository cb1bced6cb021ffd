package replica

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// TestScripts runs testdata/scripts/*.txt: the automaton on a stage. Each command prints what happens, with the time in
// milliseconds. Inputs are read from producers a1, a2, …, b1, …; nodes are r1, r2, …. Every source gives a row and a boundary
// each 100 ms; the client of each output checks the promises all the while. Commands:
//
//	world query=NAME [replicas=N] [producers=N] [max_delay=T] [failure=P] [stabilization=P] [stable-only] [undo] [slice=ROWS] [slow]
//	                                     slow: one slice each 10 ms, so that a redo takes time
//	run for=T
//	cut NAME NAME | heal NAME NAME       the way between two of nodes, producers and "client"
//	set PRODUCER MODE                    gives, lacks (two rows of three, tentatively), floods (each 20
//	                                     times), corrects, stalls, fails
//	forget PRODUCER                      it holds nothing any more of what it has given
//	save NODE | crash NODE | restart NODE
//	pause NODE | resume NODE             a node that stands still, as after SIGSTOP
//	state                                of nodes and clients
//	end                                  all heals, the streams end: each client holds what a run without failures gives
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		s := &script{t: t}
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string {
			return s.command(d)
		})
	})
}

type script struct {
	t     *testing.T
	w     *world
	scene scene
	stood dcaa.Instant
}

func (s *script) command(d *datadriven.TestData) string {
	if d.Cmd == "world" {
		s.begin(d)
	}
	s.w.events = nil
	switch d.Cmd {
	case "world":
	case "run":
		var d64 int64
		d.ScanArgs(s.t, "for", &d64)
		s.w.run(d64 * ms)
	case "cut", "heal":
		s.w.connect(d.CmdArgs[0].Key, d.CmdArgs[1].Key, d.Cmd == "heal")
	case "set":
		p, _ := s.w.find(d.CmdArgs[0].Key)
		m, ok := modes[d.CmdArgs[1].Key]
		if p == nil || !ok {
			d.Fatalf(s.t, "set %v: no such producer or mode", d.CmdArgs)
		}
		p.set(m)
	case "forget":
		p, _ := s.w.find(d.CmdArgs[0].Key)
		p.buffer.Shed(0)
	case "save", "crash", "restart", "pause", "resume":
		s.life(d)
	case "state":
		return s.state()
	case "end":
		return s.end()
	default:
		d.Fatalf(s.t, "unknown command %s", d.Cmd)
	}
	return s.said()
}

func (s *script) said() string {
	lines := append([]string(nil), s.w.events...)
	for _, p := range s.w.problems {
		lines = append(lines, "WRONG: "+p)
	}
	s.w.problems = nil
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

func (s *script) begin(d *datadriven.TestData) {
	queries := map[string]string{"union": unionQuery, "join": joinQuery, "limit": limitQuery}
	var name string
	d.ScanArgs(s.t, "query", &name)
	if queries[name] == "" {
		d.Fatalf(s.t, "no query %s", name)
	}
	s.scene = scene{plan: testPlan(s.t, queries[name]), settings: dcaa.DefaultSettings(), replicas: 1, producers: 1}
	d.MaybeScanArgs(s.t, "replicas", &s.scene.replicas)
	d.MaybeScanArgs(s.t, "producers", &s.scene.producers)
	d.MaybeScanArgs(s.t, "slice", &s.scene.slice)
	s.scene.slow = d.HasArg("slow")
	c := &s.scene.settings
	if d.MaybeScanArgs(s.t, "max_delay", &c.MaxDelay) {
		c.MaxDelay *= ms
	}
	policies := map[string]dcaa.Policy{"process": dcaa.Process, "delay": dcaa.Delay, "suspend": dcaa.Suspend}
	for key, policy := range map[string]*dcaa.Policy{"failure": &c.Failure, "stabilization": &c.Stabilization} {
		var text string
		if d.MaybeScanArgs(s.t, key, &text) {
			*policy = policies[text]
		}
	}
	if d.HasArg("stable-only") {
		c.Consistency = dcaa.StableOnly
	}
	if d.HasArg("undo") {
		c.Redo = dcaa.RedoUndo
	}
	s.w = newWorld(s.t, s.scene)
}

func (s *script) life(d *datadriven.TestData) {
	_, x := s.w.find(d.CmdArgs[0].Key)
	if x == nil {
		d.Fatalf(s.t, "%s %v: no such node", d.Cmd, d.CmdArgs)
	}
	switch d.Cmd {
	case "save":
		x.save()
	case "crash":
		s.w.crash(x)
	case "restart":
		s.w.restart(x)
	case "pause":
		x.paused, s.stood = true, s.w.now
	case "resume":
		x.paused = false
		x.r.Resumed(s.w.now, int64(s.w.now-s.stood))
	}
}

func (s *script) state() string {
	var b strings.Builder
	for _, x := range s.w.nodes {
		fmt.Fprintln(&b, x.state())
	}
	for o, c := range s.w.clients {
		fmt.Fprintf(&b, "client of output %d: %d stable rows to %s", o, len(c.rows), millis(c.boundary))
		if run, to, _, held := c.intake.Suffix(); held {
			fmt.Fprintf(&b, ", %d tentative to %s of %v", len(c.q), millis(to), run)
		}
		if c.ever > 0 {
			fmt.Fprintf(&b, "; so far %d tentative, %d undone, %d done", c.ever, c.undone, c.done)
		}
		if c.gaps > 0 {
			fmt.Fprintf(&b, ", %d gaps", c.gaps)
		}
		if n := c.intake.Source(); n >= 0 && len(s.w.nodes) > 1 {
			fmt.Fprintf(&b, ", from %s", s.w.names[n])
		}
		b.WriteString("\n")
	}
	return b.String()
}

func millis(t tuple.Time) string {
	switch t {
	case tuple.MinTime:
		return "nothing"
	case tuple.MaxTime:
		return "the end"
	}
	return fmt.Sprintf("%d ms", t/ms)
}

func (s *script) end() string {
	w := s.w
	w.heal()
	w.withReference(s.scene, int64(w.now-epoch))
	w.conclude()
	w.said("ended")
	for o, c := range w.clients {
		w.said("output %d: %d stable rows as without failures, %d tentative in all", o, len(c.rows), c.ever)
	}
	return s.said()
}
