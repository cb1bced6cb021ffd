package replica

import (
	"testing"

	"fednode/dcaa"
)

// undoes makes a replica undo before it redoes.
func undoes(c *Config) { c.Settings.Redo = dcaa.RedoUndo }

// Whether the tentative state is kept or given up for the redo, the stable results are the same, within the same bound.
func TestUndoGivesTheSame(t *testing.T) {
	for name, text := range map[string]string{"union": unionQuery, "join": joinQuery} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, text, undoes)
			s.run(5000 * ms)
			s.cut(0, true)
			s.run(10_000 * ms)
			s.cut(0, false)
			s.run(5000 * ms)
			compare(t, s, reference(t, text, 20_000*ms))
			if s.longest > 2600*ms {
				t.Fatalf("a result was %d ms late", s.longest/ms)
			}
		})
	}
}

// A replica that holds too many rows redoes before all that it gave tentatively can be corrected. Then the run ends with the
// tentative state that it came from, and a later one gives what is still missing.
func TestUndoOfAPart(t *testing.T) {
	s := newStage(t, unionQuery, func(c *Config) {
		undoes(c)
		c.WaitingRows = 60
	})
	s.run(5000 * ms)
	s.cut(0, true)
	s.run(10_000 * ms)
	o := s.outputs[0]
	if o.everTent == 0 || o.undone != 0 {
		t.Fatalf("%d tentative rows, undone %d times", o.everTent, o.undone)
	}
	src := s.sources[0]
	src.most = len(src.log) / 2
	s.cut(0, false)
	s.run(3000 * ms)
	if o.undone == 0 {
		t.Fatalf("nothing was undone; changes %v", s.changes)
	}
	src.most = 0
	s.run(7000 * ms)
	compare(t, s, reference(t, unionQuery, 25_000*ms))
	if len(s.r.paths) != 1 || s.r.paths[0].fork != nil {
		t.Fatal("the failure has not ended")
	}
}

// A redo that takes longer than new rows may be held does not keep them back: there is a fork again, and one run all the
// while.
func TestUndoServesWhatTheRedoIsLateFor(t *testing.T) {
	for name, text := range map[string]string{"union": unionQuery, "join": joinQuery} {
		for _, policy := range []dcaa.Policy{dcaa.Process, dcaa.Delay} {
			t.Run(name+"/"+policy.String(), func(t *testing.T) {
				s := scene{plan: testPlan(t, text), settings: dcaa.DefaultSettings(), replicas: 1, producers: 1, slice: 1, slow: true}
				s.settings.Redo, s.settings.Failure, s.settings.MaxDelay = dcaa.RedoUndo, policy, 1500*ms
				w := newWorld(t, s)
				w.watch = newWatch(w)
				w.run(3000 * ms)
				w.connect("a1", "r1", false)
				w.run(30_000 * ms)
				w.connect("a1", "r1", true)
				w.run(15_000 * ms)
				w.check()
				w.withReference(s, int64(w.now-epoch))
				w.conclude()
				w.check()
				if c := w.clients[0]; c.undone > 0 || c.done != 1 {
					t.Fatalf("undone %d times, corrected %d times", c.undone, c.done)
				}
			})
		}
	}
}
