package dcaa

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"fednode/query/tuple"
)

// TestWaitScripts runs testdata/wait/*.txt: how long the buckets of an SUnion are held. "play" goes on where the one before
// ended. Times are milliseconds. Steps:
//
//	settings [max_delay=T|never] [stable-only]                  the default settings, but for that
//	place [depth=J] [path=J] [slack=T] [lag=T] [latency=T] [skew=T]  where the SUnion stands; time 0, nothing has come
//	outside INPUT                                               it comes from outside the query
//	boundary INPUT T [age=T] [normal=T]    rows INPUT T         at the present instant
//	normal                                                      what is normal of the age of a complete bucket
//	pass T                      resumed T                       the node stood still for so long
//	passed T                                                    buckets up to there have been let go
//	next [after=T]              the oldest stretch that something has come of, and since when its delay counts
//	hold CONDITION... [later] [policy=P] [after=T]  until when it is held for inputs in these conditions, "none" for no input:
//	                            failed, live, idle (live, but nobody above gives up first), redo (the node's own) or starting; later: not the first
//	                            of the failure
//	limits                      the hold times of the place, and the smallest sensible max_delay
func TestWaitScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/wait", func(t *testing.T, path string) {
		s := &waitScript{t: t, settings: DefaultSettings()}
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "play" {
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			var out strings.Builder
			for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
				if said := s.play(newWords(t, line)); said != "" {
					fmt.Fprintf(&out, "%s: %s\n", line, said)
				}
			}
			return out.String()
		})
	})
}

type waitScript struct {
	t        testing.TB
	settings Settings
	place    Place
	wait     *Wait
	now      Instant
}

// play does one step and returns what it says.
func (s *waitScript) play(w *words) string {
	switch w.verb {
	case "settings":
		s.configure(w)
	case "place":
		s.now = 0
		s.place = Place{Depth: int(w.option("depth", 1)), Path: int(w.option("path", 1)), Slack: 1000 * w.option("slack", 0),
			Lag: 1000 * w.option("lag", 0), Latency: 1000 * w.option("latency", 0), Skew: 1000 * w.option("skew", 0)}
		s.wait = NewWait(&s.settings, 3)
	case "outside":
		s.wait.Outside(int(w.number()), s.place)
	case "normal":
		return fmt.Sprint(s.wait.Normal() / 1000)
	case "boundary":
		in, to := int(w.number()), w.time()
		s.wait.Boundary(in, to, Age{Total: 1000 * w.option("age", 0), Normal: 1000 * w.option("normal", 0)}, s.now)
	case "rows":
		in, high := int(w.number()), w.time()
		s.wait.Rows(in, high, s.now)
	case "pass":
		s.now = s.now.Add(1000 * w.number())
	case "resumed":
		gap := 1000 * w.number()
		s.now = s.now.Add(gap)
		s.wait.Shift(gap)
	case "passed":
		s.wait.Passed(w.time())
	case "next":
		return s.next(w)
	case "hold":
		return s.hold(w)
	case "limits":
		return fmt.Sprintf("failed %s, live %s, stragglers %s, max_delay at least %s", instant(Instant(s.settings.failedLimit(s.place))),
			instant(Instant(s.settings.liveLimit(s.place))), instant(Instant(s.settings.shortLimit(s.place))), instant(Instant(s.settings.MinDelay(s.place))))
	default:
		s.t.Fatalf("unknown step %q", w.line)
	}
	return ""
}

func (s *waitScript) configure(w *words) {
	s.settings = DefaultSettings()
	if w.flag("stable-only") {
		s.settings.Consistency = StableOnly
	}
	switch bound, ok := w.options["max_delay"]; {
	case bound == "never":
		s.settings.MaxDelay = Unbounded
	case ok:
		s.settings.MaxDelay = 1000 * w.parse(bound)
	}
}

func (s *waitScript) known(w *words) (Known, bool) {
	after := tuple.MinTime
	if text, ok := w.options["after"]; ok {
		after = parseTime(s.t, text)
	}
	return s.wait.Next(after, s.place)
}

func (s *waitScript) next(w *words) string {
	k, ok := s.known(w)
	if !ok {
		return "nothing"
	}
	return fmt.Sprintf("to %s, counts from %s, came at %s", stime(k.End), instant(k.From), instant(k.Came))
}

func (s *waitScript) hold(w *words) string {
	at := Situation{First: !w.flag("later"), Policy: Delay}
	switch w.options["policy"] {
	case "process":
		at.Policy = Process
	case "suspend":
		at.Policy = Suspend
	}
	var ok bool
	if at.Known, ok = s.known(w); !ok {
		return "nothing"
	}
	var lacks []Missing
	for _, name := range w.rest {
		switch name {
		case "failed":
			lacks = append(lacks, Missing{Condition: Failed})
		case "live":
			lacks = append(lacks, Missing{Condition: Live})
		case "idle":
			lacks = append(lacks, Missing{Condition: Live, Idle: true})
		case "redo":
			lacks = append(lacks, Missing{Condition: Live, Redo: true})
		case "starting":
			lacks = append(lacks, Missing{Condition: Waiting})
		case "none":
		default:
			s.t.Fatalf("%s: no condition %s", w.line, name)
		}
	}
	until := s.settings.Deadline(s.place, at, lacks)
	if until <= s.now {
		return "leaves at once"
	}
	return "until " + instant(until)
}

// instant renders milliseconds, with a fraction where there is one.
func instant(t Instant) string {
	switch {
	case t == Never:
		return "never"
	case t%1000 != 0:
		return fmt.Sprintf("%.3f", float64(t)/1000)
	}
	return fmt.Sprint(int64(t) / 1000)
}
