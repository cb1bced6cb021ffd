package dcaa

import (
	"flag"
	"fmt"
	"strings"
	"testing"
)

var deep = flag.Bool("deep", false, "search the permission protocol with the larger bounds (some minutes): go test ./dcaa -run Permission -args -deep")

// anyFault is everything that can go wrong in a network that loses what it has delivered.
const anyFault = stepCopy | stepLose | stepTick | stepCrash | stepDie | stepCut | stepSuspect

// TestPermissionSearch: within the bounds, of the replicas that can talk at most one redoes, and from every state all
// that want are served once faults end, in whatever order things happen. Where nothing is lost it takes no second.
func TestPermissionSearch(t *testing.T) {
	for _, c := range []struct {
		search permissionSearch
		deep   bool
	}{
		{search: permissionSearch{replicas: 2, everlasting: true, suspicions: true, missed: []uint64{1, 2}, numbers: 2}},
		{search: permissionSearch{replicas: 2, everlasting: true, missed: []uint64{1}, faults: 1, may: stepCrash, numbers: 2}},
		{search: permissionSearch{replicas: 3, idle: 1, everlasting: true, missed: []uint64{1}, faults: 1, may: stepSuspect, numbers: 1}},
		{search: permissionSearch{replicas: 3, everlasting: true, missed: []uint64{1}, numbers: 1}},
		{search: permissionSearch{replicas: 2, wants: 1, missed: []uint64{1, 2}, faults: 1, may: anyFault, numbers: 8}},
		{search: permissionSearch{replicas: 2, wants: 2, missed: []uint64{1, 2}, faults: 1, may: stepCopy, unaided: true, numbers: 8}},
		{search: permissionSearch{replicas: 3, wants: 1, missed: []uint64{1}, unaided: true, numbers: 8}},
		{search: permissionSearch{replicas: 3, idle: 1, wants: 1, missed: []uint64{1}, faults: 1, may: anyFault, numbers: 8}},

		{search: permissionSearch{replicas: 2, everlasting: true, suspicions: true, missed: []uint64{1, 2}, numbers: 3}, deep: true},
		{search: permissionSearch{replicas: 2, everlasting: true, suspicions: true, missed: []uint64{1, 2}, faults: 1, may: stepCrash, numbers: 2}, deep: true},
		{search: permissionSearch{replicas: 3, everlasting: true, missed: []uint64{1}, numbers: 2}, deep: true},
		{search: permissionSearch{replicas: 2, wants: 2, missed: []uint64{1, 2}, faults: 1, may: anyFault, numbers: 8}, deep: true},
		{search: permissionSearch{replicas: 2, wants: 1, missed: []uint64{1, 2}, faults: 3, may: anyFault, numbers: 8}, deep: true},
		{search: permissionSearch{replicas: 3, everlasting: true, missed: []uint64{1}, faults: 1, may: stepSuspect, numbers: 1}, deep: true},
	} {
		if c.deep && !*deep {
			continue
		}
		t.Run(c.search.String(), func(t *testing.T) {
			t.Parallel()
			if complaint := c.search.run(); complaint != "" {
				t.Fatal(complaint)
			}
			if missing := c.search.may &^ c.search.taken; missing != 0 {
				t.Fatalf("faults of kinds %b never happened", missing)
			}
			t.Logf("%d states, of %d of which every way to the end was followed; %d more had higher request numbers",
				len(c.search.states), len(c.search.settled), c.search.cutOff)
		})
	}
}

// String tells the bounds.
func (s *permissionSearch) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d replicas ask, missed %v", s.replicas-s.idle, s.replicas, s.missed)
	if s.everlasting {
		fmt.Fprintf(&b, ", everlasting messages, %d requests each, %d faults", s.numbers, s.faults)
	} else {
		fmt.Fprintf(&b, ", each wants %d times, %d faults", s.wants, s.faults)
	}
	if s.suspicions {
		b.WriteString(", suspicions")
	}
	if s.unaided {
		b.WriteString(", no repetition")
	}
	return b.String()
}

// TestPermissionRules takes one rule away at a time: the search shows what each is for.
func TestPermissionRules(t *testing.T) {
	two := permissionSearch{replicas: 2, wants: 2, missed: []uint64{1, 2}, faults: 1, may: anyFault, numbers: 8}
	unaided := permissionSearch{replicas: 2, wants: 2, missed: []uint64{1, 2}, unaided: true, numbers: 8}
	three := permissionSearch{replicas: 3, idle: 1, everlasting: true, missed: []uint64{1}, faults: 1, may: stepSuspect, numbers: 1}
	for _, c := range []struct {
		name   string
		rule   permissionRule
		search permissionSearch
		want   string // how the complaint ends
	}{
		{"who redoes keeps its yes", ruleRedoing, two, "redo at once"},
		{"who missed more keeps its yes", ruleRank, two, "without end"},
		{"the lower name counts more", ruleTie, two, "without end"},
		{"who says yes asks again", ruleWithdraw, two, "redo at once"},
		{"a yes counts for its number", ruleNumber, two, "redo at once"},
		{"a yes counts for its incarnation", ruleIncarnation, two, "redo at once"},
		{"older requests are ignored", ruleNewest, unaided, "nothing was lost"},
		{"missed is frozen", ruleFrozen, unaided, "nothing was lost"},
		{"missed stays when it asks again", ruleSameRank, unaided, "without end"},
		{"who kept its yes says it at last", ruleOwed, unaided, "nothing was lost"},
		{"a request is repeated", ruleRepeat, two, "in a circle"},
		{"an absent peer counts as a yes", ruleAbsent, two, "in a circle"},
		{"absence is judged when the redo begins", ruleJudgedAtBegin, three, "redo at once"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.search.broken = c.rule
			complaint := c.search.run()
			if !strings.HasSuffix(complaint, c.want) {
				t.Fatalf("got %q after %d states, want one that ends with %q", complaint, len(c.search.states), c.want)
			}
			t.Logf("found after %d states:\n%s", len(c.search.states), complaint)
		})
	}
}
