package dcaa

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"fednode/query/tuple"
)

// TestIntakeScripts runs testdata/intake/*.txt: the rules of watching, choosing and consuming, one at a time. "intake"
// starts over, "play" goes on; the lines below are steps, and what each brings about is printed behind it. Times are
// milliseconds. Steps:
//
//	start PRODUCER... [preferred=N] [stable] [whole] [at=ID@TIME]   a new intake at time 0; stable: no tentative results
//	                                     wanted; whole: what is made of the stream depends on all of it
//	up P | down P                        whether P is heard and hears us
//	heard P STATE BOUNDARY [holding=T]   a heartbeat of P
//	rtt P T
//	owe | paid                           whether the consumer owes credit
//	hurry | wait                         whether it goes on without what does not come soon
//	opened C | refused C | closed C      what becomes of a connection
//	truncated C ID@TIME
//	rows C FIRST-LAST [at=T] [gen=N]     frames of a connection
//	boundary C T [age=T]
//	tentative C RUN T...                 tentative rows with these stimes
//	tboundary C RUN T [missing=STREAM] [age=T]
//	undo C RUN | done C RUN
//	gap C ID FROM-TO [gen=N]
//	pass T                               time passes; Tick is called when it is Due
//	resumed T                            the consumer stood still for so long
//	skip                                 gives up what nobody holds
//	state                                what is held, where it comes from and how the input fares
func TestIntakeScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/intake", func(t *testing.T, path string) {
		s := &intakeScript{t: t}
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "play" {
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			s.out.Reset()
			for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
				s.effects = nil
				s.play(newWords(t, line))
				if len(s.effects) > 0 {
					fmt.Fprintf(&s.out, "%s: %s\n", line, strings.Join(s.effects, "; "))
				}
			}
			return s.out.String()
		})
	})
}

// intakeScript is the state between the steps of one file. It is the shell of the intake.
type intakeScript struct {
	t        testing.TB
	now      Instant
	settings Settings
	names    []string
	intake   *Intake
	taker    *ledger
	effects  []string
	out      strings.Builder
}

func (s *intakeScript) note(format string, args ...any) {
	s.effects = append(s.effects, fmt.Sprintf(format, args...))
}

// Open notes what is asked.
func (s *intakeScript) Open(o Opening) {
	text := fmt.Sprintf("open %d at %s from %s", o.Conn, s.names[o.Producer], place(o.From))
	if o.Tentative {
		text += ", tentative from " + stime(o.TentativeFrom)
	}
	if o.Because != "" {
		text += ", since " + o.Because
	}
	s.note("%s", text)
}

// Close notes it.
func (s *intakeScript) Close(conn uint64) { s.note("close %d", conn) }

func (s *intakeScript) play(w *words) {
	switch w.verb {
	case "start":
		s.start(w)
	case "up", "down":
		s.intake.Reachable(s.now, s.producer(w), w.verb == "up")
	case "heard":
		p, state, boundary := s.producer(w), s.named(w.next()), w.time()
		s.intake.Heard(s.now, p, StreamStatus{State: state, Boundary: boundary, Holding: w.option("holding", 0) * 1000, Generation: 1})
	case "rtt":
		s.intake.Measured(s.producer(w), Way{RoundTrip: w.number() * 1000})
	case "hurry", "wait":
		s.intake.Hurry(s.now, w.verb == "hurry")
	case "owe", "paid":
		s.intake.Owe(w.verb == "owe")
	case "opened":
		s.intake.Opened(s.now, uint64(w.number()))
	case "refused":
		s.intake.Refused(s.now, uint64(w.number()))
	case "closed":
		s.intake.Closed(s.now, uint64(w.number()))
	case "truncated":
		conn := uint64(w.number())
		at := w.place()
		at.Generation = 1
		s.intake.Truncated(s.now, conn, at)
	case "pass":
		s.pass(w.number())
	case "resumed":
		gap := w.number() * 1000
		s.now = s.now.Add(gap)
		s.intake.Resumed(s.now, gap)
		s.intake.Tick(s.now)
	case "skip":
		s.intake.Skip(s.now, "nobody holds it")
	case "state":
		s.state()
	default:
		s.frame(w)
	}
}

func (s *intakeScript) start(w *words) {
	s.now, s.names, s.settings, s.taker = 0, nil, DefaultSettings(), newLedger(s.note)
	cfg := IntakeConfig{Settings: &s.settings, From: tuple.Position{Time: tuple.MinTime}, Tentative: !w.flag("stable"), Whole: w.flag("whole"), Preferred: int(w.option("preferred", 0))}
	if at, ok := w.options["at"]; ok {
		cfg.From = parsePlace(w.t, at)
		cfg.From.Generation = 1
		s.taker.boundary = cfg.From.Time
	}
	s.names = w.rest
	cfg.Producers = s.names
	s.intake = NewIntake(cfg, s.now, s, s.taker)
}

// frame hands in a frame of a connection.
func (s *intakeScript) frame(w *words) {
	conn := uint64(w.number())
	if err := s.intake.Frame(s.now, conn, w.frame()); err != nil {
		s.note("error: %v", err)
	}
	if problem := s.taker.problem(s.intake); problem != "" {
		s.note("WRONG: %s", problem)
	}
}

// pass lets time pass; Tick is called when it is due, and at the end.
func (s *intakeScript) pass(d int64) {
	for end := s.now.Add(d * 1000); ; {
		s.now = min(end, s.intake.Due(s.now))
		before := len(s.effects)
		s.intake.Tick(s.now)
		if len(s.effects) > before {
			s.effects[before] = fmt.Sprintf("at %d ", s.now/1000) + s.effects[before]
		}
		if s.now == end {
			return
		}
	}
}

func (s *intakeScript) state() {
	i := s.intake
	s.note("P to %s", place(i.pos))
	if run, to, missing, held := i.Suffix(); held {
		s.note("Q %v to %s", run, stime(to))
		for _, m := range missing {
			s.note("lacks %s", m.Stream)
		}
	}
	for _, c := range []struct {
		what string
		conn *conn
	}{{"data", i.data}, {"next", i.next}, {"correct", i.correct}} {
		if c.conn != nil {
			s.note("%s %d from %s", c.what, c.conn.id, s.names[c.conn.producer])
		}
	}
	if s.note("%v", i.Condition(s.now)); i.Unproven() {
		s.note("unproven")
	}
}

func (s *intakeScript) producer(w *words) int {
	name := w.next()
	for n := range s.names {
		if s.names[n] == name {
			return n
		}
	}
	s.t.Fatalf("%s: no producer %s", w.line, name)
	return -1
}

func (s *intakeScript) named(name string) State {
	for state := Starting; state <= Ended; state++ {
		if state.String() == name {
			return state
		}
	}
	s.t.Fatalf("no state %s", name)
	return 0
}
