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
