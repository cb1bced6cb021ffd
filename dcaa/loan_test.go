package dcaa

import (
	"fmt"
	"strings"
	"testing"

	"fednode/query/tuple"
)

// heardAll is a taker that notes everything.
type heardAll struct{ got []string }

func (h *heardAll) note(format string, args ...any) {
	h.got = append(h.got, fmt.Sprintf(format, args...))
}

func (h *heardAll) stimes(f *tuple.Frame) (text string) {
	for k := range f.Batch.Rows() {
		text += fmt.Sprintf(" %d", f.Batch.Time[f.Batch.Row(k)])
	}
	return text
}

func (h *heardAll) Rows(f *tuple.Frame) error             { h.note("stable%s", h.stimes(f)); return nil }
func (h *heardAll) Boundary(t tuple.Time, _ Age)          { h.note("boundary %d", t) }
func (h *heardAll) Gap(f *tuple.Frame)                    { h.note("gap to %d:%d", f.Generation, f.FirstID) }
func (h *heardAll) TentativeRows(f *tuple.Frame)          { h.note("tentative%s", h.stimes(f)) }
func (h *heardAll) TentativeBoundary(t tuple.Time, _ Age) { h.note("tentative boundary %d", t) }
func (h *heardAll) Trim(t tuple.Time)                     { h.note("trim %d", t) }
func (h *heardAll) Undo(tuple.Run)                        { h.note("undo") }
func (h *heardAll) Done(tuple.Run)                        { h.note("done") }
func (h *heardAll) expect(t *testing.T, want ...string) {
	t.Helper()
	if got := strings.Join(h.got, ", "); got != strings.Join(want, ", ") {
		t.Fatalf("told: %s\nwant: %s", got, strings.Join(want, ", "))
	}
	h.got = nil
}

// loanStage is an intake at 1:7@100 whose producer a has died, and whose producer b has gone on with generation 9.
type loanStage struct {
	t     *testing.T
	i     *Intake
	shell *opener
	heardAll
	now Instant
}

func newLoanStage(t *testing.T, cfg IntakeConfig) *loanStage {
	s := DefaultSettings()
	l := &loanStage{t: t, shell: &opener{}, now: 1}
	cfg.Settings, cfg.Producers, cfg.From = &s, []string{"a", "b"}, tuple.Position{Generation: 1, ID: 7, Time: 100}
	l.i = NewIntake(cfg, l.now, l.shell, &l.heardAll)
	l.i.Reachable(l.now, 1, true)
	l.i.Heard(l.now, 1, StreamStatus{State: Stable, Boundary: 150, Generation: 9, LastID: 5})
	l.i.Truncated(l.now, l.last().Conn, tuple.Position{Generation: 9, ID: 2, Time: 60})
	l.pass(100_000)
	return l
}

func (l *loanStage) last() Opening { return l.shell.asked[len(l.shell.asked)-1] }

// pass lets time go by, in which the producer b is heard.
func (l *loanStage) pass(us int64) {
	l.now = l.now.Add(us)
	l.i.Heard(l.now, 1, StreamStatus{State: Stable, Boundary: tuple.Time(150 + l.now), Generation: 9, LastID: 5})
}

func (l *loanStage) frames(list ...*tuple.Frame) {
	l.t.Helper()
	for _, f := range list {
		if err := l.i.Frame(l.now, l.last().Conn, f); err != nil {
			l.t.Fatal(err)
		}
	}
}

// other returns rows of the other history, from id 3 on.
func other(stimes ...tuple.Time) *tuple.Frame {
	b := tuple.NewBatchBuilder(bufferSchema)
	for _, at := range stimes {
		b.AppendInt(0, int64(at))
		b.EndRow(at)
	}
	return &tuple.Frame{Kind: tuple.Insertion, Generation: 9, FirstID: 3, LastID: 2 + uint64(len(stimes)), Batch: b.Take()}
}

// TestLoan shows that a consumer which waits for a producer that may hold what comes next is given what another one has, as
// tentative rows from its boundary on; that it goes on with the first one when that is back, and with the other one when the
// wait is over.
func TestLoan(t *testing.T) {
	boundary := &tuple.Frame{Kind: tuple.Boundary, Generation: 9, Time: 130}
	l := newLoanStage(t, IntakeConfig{Tentative: true})
	want := Opening{Conn: l.last().Conn, Producer: 1, From: tuple.Position{Generation: 9, ID: 2, Time: 100}, Tentative: true, TentativeFrom: 100}
	if l.last() != want {
		t.Fatalf("asked %+v, want %+v", l.last(), want)
	}
	l.i.Opened(l.now, l.last().Conn)
	l.frames(other(60, 99, 100, 120), boundary)
	l.expect(t, "tentative 100 120", "tentative boundary 130")
	if at := l.i.Position(); at != (tuple.Position{Generation: 1, ID: 7, Time: 100}) {
		t.Fatalf("at %v", at)
	}

	l.i.Reachable(l.now, 0, true)
	l.i.Heard(l.now, 0, StreamStatus{State: Stable, Boundary: 140, Generation: 1, LastID: 9})
	if o := l.last(); l.i.loan != nil || o.Producer != 0 || o.From.Generation != 1 {
		t.Fatalf("asked %+v with the loan open: %v", o, l.i.loan != nil)
	}
	l.i.Opened(l.now, l.last().Conn)
	l.frames(insertion(8, 1, 110), &tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: 131})
	l.expect(t, "stable 110", "boundary 131", "done")

	l = newLoanStage(t, IntakeConfig{Tentative: true})
	l.i.Opened(l.now, l.last().Conn)
	l.frames(other(60, 99, 100, 120), boundary)
	l.got = nil
	l.i.Skip(l.now, "")
	if o := l.last(); l.i.loan != nil || o.From != (tuple.Position{Generation: 9, ID: 2, Time: 100}) || o.TentativeFrom != 130 {
		t.Fatalf("asked %+v with the loan open: %v", o, l.i.loan != nil)
	}
	l.i.Opened(l.now, l.last().Conn)
	l.frames(other(60, 99, 100, 120), boundary)
	l.expect(t, "gap to 9:2", "stable 100 120", "boundary 130", "done")
}

// TestLoanOfNobodysPlace shows that best effort reads the tentative results of a producer in another generation that makes no
// stable ones: it is no place to go on at, and there is no other. It is left once one that holds what comes next gives something.
func TestLoanOfNobodysPlace(t *testing.T) {
	for _, whole := range []bool{false, true} {
		s := DefaultSettings()
		s.Consistency = BestEffort
		l := &loanStage{t: t, shell: &opener{}, now: 1}
		l.i = NewIntake(IntakeConfig{Settings: &s, Producers: []string{"a", "b"}, From: tuple.Position{Generation: 1, ID: 7, Time: 100},
			Tentative: true, Whole: whole}, l.now, l.shell, &l.heardAll)
		fails := func(producer int, generation uint64) {
			l.i.Heard(l.now, producer, StreamStatus{State: UpstreamFailure, Boundary: 100, Generation: generation, LastID: 7})
		}
		l.i.Reachable(l.now, 1, true)
		fails(1, 9)
		l.i.Truncated(l.now, l.last().Conn, tuple.Position{Generation: 9, ID: 2, Time: 60})
		l.now = l.now.Add(100_000)
		l.i.Tick(l.now)
		if o := l.last(); o.Producer != 1 || o.From.Generation != 9 || !o.Tentative {
			t.Fatalf("asked %+v", o)
		}
		l.i.Opened(l.now, l.last().Conn)
		run := tuple.Run{Producer: "b", N: 1}
		l.frames(&tuple.Frame{Kind: tuple.TentativeBoundary, Run: run, Time: 140})
		l.expect(t, "tentative boundary 140")

		l.i.Reachable(l.now, 0, true)
		l.i.Heard(l.now, 0, StreamStatus{State: Stabilization, Boundary: 100, Generation: 1, LastID: 7})
		if l.i.loan == nil {
			t.Fatal("left for one that gives nothing yet")
		}
		fails(0, 1)
		if o := l.last(); l.i.loan != nil || o.Producer != 0 || o.From.Generation != 1 || o.TentativeFrom != 140 {
			t.Fatalf("asked %+v with the loan open: %v", o, l.i.loan != nil)
		}
	}
}

// TestLoanTakenBack shows that what the other producer takes back is undone, and is given anew.
func TestLoanTakenBack(t *testing.T) {
	l := newLoanStage(t, IntakeConfig{Tentative: true})
	run := tuple.Run{Producer: "b", N: 1}
	rows := *other(140)
	rows.Kind, rows.Run = tuple.Tentative, run
	l.i.Opened(l.now, l.last().Conn)
	l.frames(other(100, 120), &tuple.Frame{Kind: tuple.Boundary, Generation: 9, Time: 130}, &rows, &tuple.Frame{Kind: tuple.TentativeBoundary, Run: run, Time: 150})
	l.expect(t, "tentative 100 120", "tentative boundary 130", "tentative 140", "tentative boundary 150")
	first := l.last().Conn
	l.frames(&tuple.Frame{Kind: tuple.Undo, Run: run})
	l.pass(200_000)
	if o := l.last(); o.Conn == first || o.From.Generation != 9 || o.TentativeFrom != 100 {
		t.Fatalf("asked %+v", o)
	}
	l.expect(t, "undo")
}

// TestLoanOfReplica shows that who makes something of the stream reads another history too, while it waits for a state.
func TestLoanOfReplica(t *testing.T) {
	l := newLoanStage(t, IntakeConfig{Tentative: true, Whole: true})
	if o := l.last(); len(l.shell.asked) != 2 || o.From.Generation != 9 {
		t.Fatalf("asked %+v", l.shell.asked)
	}
	l.i.Opened(l.now, l.last().Conn)
	l.frames(other(100, 120), &tuple.Frame{Kind: tuple.Boundary, Generation: 9, Time: 130})
	l.expect(t, "tentative 100 120", "tentative boundary 130")
	if !l.i.Borrowed() || l.i.Position().Generation != 1 {
		t.Fatalf("borrowed %v, at %+v", l.i.Borrowed(), l.i.Position())
	}
}

// TestNoLoan shows who reads no other history: who takes no tentative rows, and who can go on.
func TestNoLoan(t *testing.T) {
	if l := newLoanStage(t, IntakeConfig{}); len(l.shell.asked) != 1 {
		t.Errorf("stable rows alone: asked %+v", l.last())
	}
	l := newLoanStage(t, IntakeConfig{Tentative: true})
	l.i.Reachable(l.now, 0, true)
	l.i.Heard(l.now, 0, StreamStatus{State: Stable, Boundary: 140, Generation: 1, LastID: 9})
	l.i.Opened(l.now, l.last().Conn)
	asked := len(l.shell.asked)
	l.pass(200_000)
	if len(l.shell.asked) != asked {
		t.Errorf("asked %+v although the first producer is there", l.last())
	}
	l.pass(900_000)
	if o := l.last(); len(l.shell.asked) != asked+1 || o.From.Generation != 9 {
		t.Errorf("asked %+v, want the other history: the first producer gives nothing", o)
	}
}

// TestLoanThatIsLate shows that who has nothing else is given what comes beyond the bound.
func TestLoanThatIsLate(t *testing.T) {
	l := newLoanStage(t, IntakeConfig{Tentative: true})
	l.i.Opened(l.now, l.last().Conn)
	run := tuple.Run{Producer: "b", N: 1}
	l.i.Heard(l.now, 1, StreamStatus{State: UpstreamFailure, Boundary: 130, Generation: 9, LastID: 5})
	age := l.i.cfg.Settings.MaxDelay + second
	want := []string{}
	for k := range 10 {
		l.now = l.now.Add(100_000)
		at := tuple.Time(140 + k)
		l.frames(&tuple.Frame{Kind: tuple.TentativeBoundary, Run: run, Time: at, Age: age})
		l.i.Tick(l.now)
		want = append(want, fmt.Sprintf("tentative boundary %d", at))
	}
	if r := l.i.rank(l.now, 1); r != late {
		t.Fatalf("rank %d, want %d", r, late)
	}
	l.expect(t, want...)
}

// TestNoLoanBetweenWindows shows that who reads windows does not take another history for want of rows that are not due yet.
func TestNoLoanBetweenWindows(t *testing.T) {
	l := newLoanStage(t, IntakeConfig{Tentative: true})
	l.i.Reachable(l.now, 0, true)
	hear := func() { l.i.Heard(l.now, 0, StreamStatus{State: Stable, Boundary: 140, Generation: 1, LastID: 7}) }
	hear()
	l.i.Opened(l.now, l.last().Conn)
	l.frames(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: 140, Age: -5 * second})
	asked := len(l.shell.asked)
	for range 55 {
		l.pass(100_000)
		hear()
	}
	if len(l.shell.asked) != asked {
		t.Fatalf("asked %+v before the window is over", l.last())
	}
	for range 10 {
		l.pass(100_000)
		hear()
	}
	if o := l.last(); len(l.shell.asked) == asked || o.From.Generation != 9 {
		t.Fatalf("asked %+v, want the other history: the window is not given", o)
	}
}

// TestWaitsOnce shows that a consumer which has waited for lost rows, and finds that those behind them are gone as well by then,
// does not wait for as long again; and that for what is lost later it does.
func TestWaitsOnce(t *testing.T) {
	l := newLoanStage(t, IntakeConfig{})
	skip := func() {
		t.Helper()
		if at := l.i.AbandonAt(); l.now < at {
			t.Fatalf("waits until %d at %d", at, l.now)
		}
		l.i.Skip(l.now, "")
		for range 20 { // until it may be asked again
			l.pass(100_000)
		}
	}
	l.pass(l.i.cfg.Settings.AbandonAfter)
	for id := uint64(10); id < 40; id += 10 {
		skip()
		l.i.Truncated(l.now, l.last().Conn, tuple.Position{Generation: 9, ID: id, Time: 60})
	}
	skip()
	if o := l.last(); o.From.Generation != 9 || o.From.ID != 30 {
		t.Fatalf("asked %+v", o)
	}
	l.i.Opened(l.now, l.last().Conn)
	rows := other(100, 120)
	rows.FirstID, rows.LastID = 31, 32
	l.frames(rows)
	l.i.Truncated(l.now, l.last().Conn, tuple.Position{Generation: 9, ID: 50, Time: 60})
	if at := l.i.AbandonAt(); at != l.now.Add(l.i.cfg.Settings.AbandonAfter) {
		t.Fatalf("waits until %d at %d", at, l.now)
	}
}

// TestLoanOfTheMean shows that a producer of another history which gives nothing is left for one that does, is not gone back to
// while that one gives, and is asked again when it does not.
func TestLoanOfTheMean(t *testing.T) {
	for _, whole := range []bool{false, true} {
		s := DefaultSettings()
		l := &loanStage{t: t, shell: &opener{}, now: 1}
		l.i = NewIntake(IntakeConfig{Settings: &s, Producers: []string{"a", "b", "c"}, From: tuple.Position{Generation: 1, ID: 7, Time: 100}, Tentative: true, Whole: whole}, l.now, l.shell, &l.heardAll)
		hear := func() {
			for n := 1; n < 3; n++ {
				l.i.Heard(l.now, n, StreamStatus{State: Stable, Boundary: tuple.Time(150 + l.now), Generation: 9, LastID: 5})
			}
		}
		for n := 1; n < 3; n++ { // c lacks more
			l.i.Reachable(l.now, n, true)
			hear()
			l.i.Truncated(l.now, l.last().Conn, tuple.Position{Generation: 9, ID: uint64(n), Time: 60})
		}
		wait := func(us int64, each func()) {
			for range us / 100_000 {
				l.now = l.now.Add(100_000)
				hear()
				each()
			}
		}
		asked := func(producer int) {
			t.Helper()
			if l.i.loan == nil || l.i.loan.producer != producer {
				t.Fatalf("whole %v, at %d: asked %+v, want producer %d", whole, l.now, l.last(), producer)
			}
		}
		nothing := func() {}
		wait(100_000, nothing)
		asked(1)
		l.i.Opened(l.now, l.last().Conn)
		wait(600_000, nothing)
		asked(2)
		l.i.Opened(l.now, l.last().Conn)
		at := tuple.Time(130)
		wait(2*meanFor, func() {
			at++
			l.frames(&tuple.Frame{Kind: tuple.Boundary, Generation: 9, Time: at})
			asked(2)
		})
		wait(600_000, nothing)
		asked(1)
		l.i.Opened(l.now, l.last().Conn)
		wait(600_000, nothing) // nobody gives anything: it stays
		asked(1)
		wait(meanFor, nothing)
		asked(2)
	}
}

// TestLoanCorrected shows that rows which the other producer has given tentatively, and gives stable before a boundary has passed
// them, do not stand in the suffix twice.
func TestLoanCorrected(t *testing.T) {
	l := newLoanStage(t, IntakeConfig{Tentative: true})
	led := newLedger(func(string, ...any) {})
	l.i.taker = led
	run := tuple.Run{Producer: "b", N: 1}
	rows := *other(110, 125)
	rows.Kind, rows.Run = tuple.Tentative, run
	stable := []*tuple.Frame{other(60, 110), other(125, 127), {Kind: tuple.Boundary, Generation: 9, Time: 130}}
	l.i.Opened(l.now, l.last().Conn)
	l.frames(&rows, &tuple.Frame{Kind: tuple.TentativeBoundary, Run: run, Time: 120})
	first := l.last().Conn
	l.frames(stable...)
	l.pass(100_000)
	if l.last().Conn == first {
		t.Fatal("it is not asked again")
	}
	l.i.Opened(l.now, l.last().Conn)
	l.frames(stable...)
	if fmt.Sprint(led.q) != fmt.Sprint([]tuple.Time{110, 125, 127}) || led.qTo != 130 {
		t.Fatalf("the suffix has %v up to %v", led.q, led.qTo)
	}
}

// TestWaitsOnceForAll shows that a producer which comes and goes, and lacks the rows each time, does not put off what the others are
// waited for.
func TestWaitsOnceForAll(t *testing.T) {
	l := newLoanStage(t, IntakeConfig{})
	since := l.i.LostSince()
	for range 5 {
		l.pass(10 * second)
		l.i.Reachable(l.now, 1, false)
		if l.i.LostSince() != Never {
			t.Fatal("nobody is there who lacks them")
		}
		l.pass(second)
		l.i.Reachable(l.now, 1, true)
		l.pass(0)
		l.i.Truncated(l.now, l.last().Conn, tuple.Position{Generation: 9, ID: 2, Time: 60})
	}
	if at := l.i.AbandonAt(); l.i.LostSince() != since || at != since.Add(l.i.cfg.Settings.AbandonAfter) {
		t.Fatalf("lost since %d and given up at %d, want since %d", l.i.LostSince(), at, since)
	}
	l.i.Reachable(l.now, 0, true) // may have them
	l.pass(second)
	l.i.Reachable(l.now, 0, false)
	if at := l.i.AbandonAt(); at != l.now.Add(l.i.cfg.Settings.AbandonAfter) {
		t.Fatalf("given up at %d at %d, want a wait for who has just gone", at, l.now)
	}
}

// TestStandstillGivesNothingUp shows that a standstill of the consumer does not shorten the wait for who is away, where rows were
// given up before and what lies behind them is lost as well.
func TestStandstillGivesNothingUp(t *testing.T) {
	l := newLoanStage(t, IntakeConfig{})
	l.i.producers[0].downAt = l.now.Add(-60 * second)
	l.i.Skip(l.now, "")
	l.i.Truncated(l.now, l.last().Conn, tuple.Position{Generation: 9, ID: 4, Time: 160})
	before := l.i.AbandonAt()
	const gap = 20 * second
	l.now = l.now.Add(gap)
	l.i.Resumed(l.now, gap)
	l.pass(100_000)
	if at := l.i.AbandonAt(); at != before.Add(gap) {
		t.Fatalf("given up at %d, want %d, as long after the standstill as it would have been without", at, before.Add(gap))
	}
}
