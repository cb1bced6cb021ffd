package replica

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"fednode/dcaa"
)

var deep = flag.Bool("deep", false, "search with larger bounds (some minutes): go test ./node/replica -run Search -args -deep")

// toggles are the ways and nodes that fail and heal again in the search. Inputs are alike: a sequence in which a and b change
// places is left out.
var toggles = []string{"a1-r1", "b1-r1", "a1-r2", "b1-r2", "r1-r2", "r1", "r2"}

// mirrored is each toggle with a and b exchanged.
var mirrored = []int{1, 0, 3, 2, 4, 5, 6}

// slotTime is between two changes: longer than the hold time of a failed input, shorter than that of a live one.
const slotTime = 700 * ms

// TestSearch follows every sequence of failures and healings of two replicas with two inputs, within bounds: no promise is
// broken on the way, and when all has healed every client has everything, nothing is tentative, and nobody waits.
func TestSearch(t *testing.T) {
	for _, c := range []struct {
		slots, changes int
		policy         dcaa.Policy
		deep           bool
	}{
		{slots: 1, changes: 7, policy: dcaa.Process},
		{slots: 2, changes: 2, policy: dcaa.Process},
		{slots: 2, changes: 2, policy: dcaa.Delay},
		{slots: 4, changes: 1, policy: dcaa.Process},
		{slots: 2, changes: 3, policy: dcaa.Process, deep: true},
		{slots: 2, changes: 7, policy: dcaa.Process, deep: true},
		{slots: 3, changes: 2, policy: dcaa.Process, deep: true},
		{slots: 3, changes: 2, policy: dcaa.Delay, deep: true},
		{slots: 6, changes: 1, policy: dcaa.Process, deep: true},
	} {
		if c.deep && !*deep {
			continue
		}
		t.Run(fmt.Sprintf("%d times up to %d changes, %v", c.slots, c.changes, c.policy), func(t *testing.T) {
			s := search{t: t, policy: c.policy, choices: choices(c.changes)}
			s.scene = scene{plan: testPlan(t, plainQuery), settings: dcaa.DefaultSettings(), replicas: 2, producers: 1}
			s.scene.settings.MaxDelay, s.scene.settings.Failure = 1000*ms, c.policy
			s.extend(nil, c.slots)
			t.Logf("%d states of %d sequences, %d of them with tentative results", s.states, s.leaves, s.tentative)
			if s.tentative == 0 {
				t.Fatal("no sequence had tentative results")
			}
		})
	}
}

type search struct {
	t         *testing.T
	scene     scene
	policy    dcaa.Policy
	choices   []uint
	reference *world
	states    int
	leaves    int
	tentative int
}

// choices are the sets of at most so many toggles, as bits.
func choices(most int) []uint {
	var sets []uint
	for set := range uint(1) << len(toggles) {
		n := 0
		for k := range toggles {
			n += int(set >> k & 1)
		}
		if n <= most {
			sets = append(sets, set)
		}
	}
	return sets
}

// extend goes on from a sequence in all ways.
func (s *search) extend(sequence []uint, slots int) {
	if slots == 0 {
		if canonical(sequence) {
			s.follow(sequence)
		}
		return
	}
	for _, set := range s.choices {
		s.extend(append(sequence[:len(sequence):len(sequence)], set), slots-1)
	}
}

// canonical reports whether a sequence is the lesser of itself and its mirror image.
func canonical(sequence []uint) bool {
	for _, set := range sequence {
		m := uint(0)
		for k := range toggles {
			m |= (set >> k & 1) << mirrored[k]
		}
		if m != set {
			return set < m
		}
	}
	return true
}

// follow runs a sequence to its end.
func (s *search) follow(sequence []uint) {
	w := newWorld(s.t, s.scene)
	length := int64(len(sequence)+1) * slotTime
	if s.reference == nil {
		w.withReference(s.scene, length)
		s.reference = w.reference
	}
	w.reference = s.reference
	w.watch = newWatch(w)
	w.run(slotTime)
	for _, set := range sequence {
		for k, name := range toggles {
			if set>>k&1 == 1 {
				w.toggle(name)
			}
		}
		w.run(slotTime)
		s.states++
	}
	w.heal()
	w.conclude()
	s.leaves++
	for _, c := range w.clients {
		if c.ever > 0 {
			s.tentative++
			break
		}
	}
	if len(w.problems) > 0 {
		s.t.Fatalf("%s\nafter:\n%s\nof %s", strings.Join(w.problems, "\n"), strings.Join(w.events, "\n"), describe(sequence))
	}
}

func describe(sequence []uint) string {
	var parts []string
	for k, set := range sequence {
		var names []string
		for n, name := range toggles {
			if set>>n&1 == 1 {
				names = append(names, name)
			}
		}
		parts = append(parts, fmt.Sprintf("at %d ms: %s", int64(k+1)*slotTime/ms, strings.Join(names, " ")))
	}
	return strings.Join(parts, "; ")
}

// toggle cuts or heals a way, or lets a node crash or restart.
func (w *world) toggle(name string) {
	if a, b, way := strings.Cut(name, "-"); way {
		w.connect(a, b, w.cuts[link(a, b)])
		return
	}
	if _, x := w.find(name); x.r != nil {
		x.save()
		w.crash(x)
	} else {
		w.restart(x)
	}
}
