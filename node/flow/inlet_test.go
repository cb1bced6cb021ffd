package flow

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// script is a directory that answers each opening with the next of a list of answers, and counts them.
type script struct {
	opened  int
	answers func(opening int) (Cursor, error)
}

func (d *script) Open(context.Context, string, Subscriber) (Cursor, error) {
	d.opened++
	return d.answers(d.opened)
}

func (d *script) Ack(string, string, tuple.Position) {}

// given is a cursor of some frames, which then breaks.
type given []*tuple.Frame

func (g *given) Next(context.Context) (*tuple.Frame, error) {
	if len(*g) == 0 {
		return nil, errCut
	}
	f := (*g)[0]
	*g = (*g)[1:]
	return f, nil
}

func (g *given) Close() {}

// TestGrantedButNotGiven shows that a producer which grants a stream and gives nothing new is asked more and more
// rarely, whatever the reason: a cut, a jump in the ids, rows below a boundary, a place that is gone again and again.
func TestGrantedButNotGiven(t *testing.T) {
	boundary := func(at tuple.Time) *tuple.Frame { return &tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: at} }
	answers := map[string]func(int) (Cursor, error){
		"cut":  func(int) (Cursor, error) { return &given{}, nil },
		"jump": func(int) (Cursor, error) { return &given{insertion(5, 1)}, nil },
		"gone": func(int) (Cursor, error) { return nil, &dcaa.TruncatedError{} },
		"row below a boundary": func(opening int) (Cursor, error) {
			if opening == 1 {
				return &given{boundary(100), insertion(1, 1)}, nil
			}
			return &given{insertion(1, 1)}, nil // the promise holds over connections
		},
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // virtual
				defer cancel()
				dir := &script{answers: answer}
				in := NewInlet(dir, "a/q/o", Subscriber{Name: "me", From: tuple.Position{Time: tuple.MinTime}}, func(context.Context, InletEvent) {})
				for {
					f, err := in.Next(ctx)
					if errors.Is(err, context.DeadlineExceeded) {
						break
					}
					if err != nil || f.Kind == tuple.Insertion {
						t.Fatalf("got %v, %v", f, err)
					}
				}
				if dir.opened > 45 {
					t.Fatalf("asked %d times within a minute", dir.opened)
				}
			})
		})
	}
}

// TestGapPromisesNoBoundary shows that after a gap the boundary up to which the rows are gone still comes, and so reaches
// a consumer that goes by boundaries alone.
func TestGapPromisesNoBoundary(t *testing.T) {
	out := NewOutput(OutputConfig{Name: "a/q/o", Schema: schema, Limit: 1 << 20, Generation: 1, Start: tuple.Position{Time: tuple.MinTime}, Expected: []string{"other"}})
	out.Append(insertion(1, 3))
	out.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: tuple.MaxTime})
	out.Ack("other", tuple.Position{Generation: 1, ID: 3, Time: tuple.MaxTime})
	in := NewInlet(direct{out}, "a/q/o", Subscriber{Name: "me", Counted: true, From: tuple.Position{Time: tuple.MinTime}}, func(context.Context, InletEvent) {})
	if f, err := in.Next(t.Context()); err != nil || f.Kind != tuple.Gap || f.FirstID != 3 || f.To != tuple.MaxTime {
		t.Fatalf("got %v %v, want a gap up to id 3", f, err)
	}
	if f, err := in.Next(t.Context()); err != nil || f.Kind != tuple.Boundary || f.Time != tuple.MaxTime {
		t.Fatalf("got %v %v, want the end", f, err)
	}
}

// TestNewGeneration shows that a source which has lost the end of its log, and reads again what it had delivered, is
// followed into its new generation: the consumer gets a gap that names what it lacks, then what lies behind its boundary,
// and nothing of before.
func TestNewGeneration(t *testing.T) {
	second := func(first, n uint64, at tuple.Time) *tuple.Frame {
		f := insertion(first, n)
		f.Generation = 2
		for k := range f.Batch.Time {
			f.Batch.Time[k] = at + tuple.Time(k)
		}
		return f
	}
	boundary := func(g uint64, at tuple.Time) *tuple.Frame {
		return &tuple.Frame{Kind: tuple.Boundary, Generation: g, Time: at}
	}
	for name, until := range map[string]tuple.Time{"behind the log": 500, "ahead of it": 40} {
		t.Run(name, func(t *testing.T) {
			dir := &script{answers: func(opening int) (Cursor, error) {
				switch opening {
				case 1:
					return &given{insertion(1, 3), boundary(1, 100)}, nil
				case 2:
					return nil, &dcaa.TruncatedError{First: tuple.Position{Generation: 2, Time: until}}
				}
				return &given{second(1, 2, 50), boundary(2, 60), second(3, 4, 98), boundary(2, 110), second(7, 1, 110)}, nil
			}}
			in := NewInlet(dir, "a/s", Subscriber{Name: "me", From: tuple.Position{Time: tuple.MinTime}}, func(context.Context, InletEvent) {})
			want := []string{
				"INSERTION 1:1-3 rows=3", boundary(1, 100).String(),
				(&tuple.Frame{Kind: tuple.Gap, Time: 100, To: max(100, until), Generation: 2, Reason: (&dcaa.TruncatedError{First: tuple.Position{Generation: 2, Time: until}}).Error()}).String(),
				"INSERTION 2:3-6 rows=2", boundary(2, 110).String(), "INSERTION 2:7-7 rows=1",
			}
			for _, w := range want {
				f, err := in.Next(t.Context())
				if err != nil || f.String() != w {
					t.Fatalf("got %v %v, want %s", f, err, w)
				}
				if f.Kind == tuple.Insertion && f.FirstID == 3 && (len(f.IDs) != 2 || f.IDs[0] != 5 || f.Batch.Time[f.Batch.Row(0)] != 100) {
					t.Fatalf("rows %v of %v, want the two from the boundary on", f.IDs, f)
				}
			}
		})
	}
}

// TestFuture shows that rows and boundaries too far ahead of the clock are not taken before their time has come, that the
// reason is told once, that nothing is dropped, and that an end is no time.
func TestFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		now := func() tuple.Time { return tuple.Time(time.Since(began).Microseconds()) } // virtual
		boundary := func(at tuple.Time) *tuple.Frame { return &tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: at} }
		row := func(id uint64, at tuple.Time) *tuple.Frame {
			f := insertion(id, 1)
			f.Batch.Time[0] = at
			return f
		}
		frames := given{row(1, 5), row(2, tuple.Time(20*tuple.Second)), boundary(tuple.Time(40 * tuple.Second)), boundary(tuple.MaxTime)}
		dir := &script{answers: func(int) (Cursor, error) { again := append(given{}, frames...); return &again, nil }}
		var told []error
		in := NewInlet(dir, "b/s", Subscriber{Name: "me", From: tuple.Position{Time: tuple.MinTime}, Latest: now}, func(_ context.Context, e InletEvent) {
			if errors.As(e.Cause, new(*FutureError)) {
				told = append(told, e.Cause)
			}
		})
		for n, due := range []tuple.Time{5, tuple.Time(20 * tuple.Second), tuple.Time(40 * tuple.Second), 0} {
			f, err := in.Next(t.Context())
			if err != nil || f.String() != frames[n].String() {
				t.Fatalf("got %v %v, want %v", f, err, frames[n])
			}
			if now() < due {
				t.Fatalf("%v was taken at %v", f, now())
			}
		}
		if len(told) != 3 {
			t.Fatalf("told %d times why the stream stands, want once for each of three frames: %v", len(told), told)
		}
	})
}

// TestGapAgain shows that a gap which is sent again, since the consumer stands within the rows behind it, leads nobody back.
func TestGapAgain(t *testing.T) {
	out := NewOutput(OutputConfig{Name: "a/q/o", Schema: schema, Limit: 1 << 20, Generation: 1, Start: tuple.Position{Generation: 1, Time: tuple.MinTime}})
	out.Append(insertion(1, 3))
	out.Append(&tuple.Frame{Kind: tuple.Gap, Generation: 1, FirstID: 3, Time: 1, To: 2})
	out.Append(insertion(4, 5))
	in := NewInlet(direct{out}, "a/q/o", Subscriber{Name: "me", From: tuple.Position{Generation: 1, ID: 6, Time: tuple.MinTime}}, func(context.Context, InletEvent) {})
	gap, err := in.Next(t.Context())
	if err != nil || gap.Kind != tuple.Gap || gap.FirstID != 6 {
		t.Fatalf("got %v behind id %d (%v), want the gap, and to stay at id 6", gap, gap.FirstID, err)
	}
	f, err := in.Next(t.Context())
	if err != nil || f.FirstID != 7 || f.Batch.Rows() != 2 {
		t.Fatalf("got %v %v, want ids 7 and 8", f, err)
	}
}
