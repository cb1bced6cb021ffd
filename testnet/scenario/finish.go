package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"fednode/testnet"
)

// finish ends the sources, lets the last results come, and checks what has to hold at the end.
func (r *runner) finish(ctx context.Context) error {
	var files []string
	if r.own != nil {
		var err error
		if files, err = r.own.StopFeeds(); err != nil {
			return err
		}
	}
	heal, err := testnet.ParseFault([]string{testnet.FaultHeal})
	if err == nil {
		_, err = r.net.Apply(ctx, heal)
	}
	if err != nil {
		return err
	}
	if len(files) > 0 {
		if err := r.compare(ctx, files); err != nil {
			return err
		}
	}
	r.measure()
	v := r.net.View(ctx)
	for _, n := range v.Nodes {
		if n.Status != nil {
			for _, src := range n.Status.Sources {
				r.report.Late += src.Late
			}
		}
	}
	for i := range r.s.Finally {
		c := &r.s.Finally[i]
		if ok, seen := r.holds(c, &v); !ok {
			r.fail(c.Pos.String(), "finally: "+c.Text, seen)
		}
	}
	return nil
}

// compare waits until the sinks have what an undisturbed run gives, or no more comes.
func (r *runner) compare(ctx context.Context, files []string) error {
	dir := filepath.Join(r.work, "undisturbed")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := reference(ctx, r.own, files, dir); err != nil {
		return err
	}
	part := slices.ContainsFunc(r.s.Finally, func(c Condition) bool { return c.kind == streamPart })
	err := r.until(ctx, settleWithin, func(*testnet.View) bool {
		r.report.Equal, r.report.Difference = r.equal(dir)
		if part && !r.report.Equal {
			r.report.Part, r.notPart = r.part(dir)
		}
		return r.report.Equal || r.report.Part
	})
	if errors.Is(err, errPatience) {
		return nil
	}
	return err
}

// equal reports whether all outputs are those of the undisturbed run, and where not.
func (r *runner) equal(dir string) (ok bool, difference string) {
	r.report.Sums = make(map[string]string)
	for _, o := range r.net.Outputs() {
		got, want := filepath.Join(r.own.Home(), o+".csv"), filepath.Join(dir, o+".csv")
		sum, size, err := sumOf(got)
		if err != nil {
			return false, err.Error()
		}
		expected, length, err := sumOf(want)
		if err != nil {
			return false, err.Error()
		}
		if sum != expected || size != length {
			return false, firstDifference(got, want)
		}
		r.report.Sums[o] = sum
	}
	return true, ""
}

// measure takes down what was seen in all.
func (r *runner) measure() {
	s, normal, open := r.observer.saw()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.StableRows, r.report.TentativeRows, r.report.Lost = s.stable, s.tentative, s.lost
	r.report.Undone, r.report.Open = len(s.undone), open
	r.report.NormalDelay = normal.Seconds()
	r.report.LongestDelay = longest(s.worst.delay, normal).Seconds()
	r.report.Slowest = r.slowest(&s.worst)
	r.report.Stabilise = r.stabilised(&s).Seconds()
	r.report.Changes, _ = r.changes.most()
}

// longest is by how much the most delayed row was later than is normal.
func longest(worst, normal time.Duration) time.Duration { return max(0, worst-normal) }

// slowest describes the row that was longest under way; nil if there was none.
func (r *runner) slowest(s *slowest) *Slowest {
	if s.at.IsZero() {
		return nil
	}
	return &Slowest{
		Offset: s.at.Sub(r.report.Began).Seconds(), Output: r.observer.output, ID: s.id, Stime: s.stime, Tentative: s.id == 0,
		Delay: s.delay.Seconds(), Quiet: s.quiet.Seconds(), After: s.after,
	}
}

// stabilised is how long after the last fault had ended results were not what they would have been without it. Callers
// hold mu.
func (r *runner) stabilised(s *seen) time.Duration {
	last := s.openUntil
	if s.lateUntil.After(last) {
		last = s.lateUntil
	}
	if r.healed.IsZero() || last.Before(r.healed) {
		return 0
	}
	return last.Sub(r.healed)
}

// holds reports whether a condition holds, and what is instead.
func (r *runner) holds(c *Condition, v *testnet.View) (ok bool, seen string) {
	switch c.kind {
	case queryIs:
		return r.queryHolds(c, v)
	case nodeRuns:
		return runs(c.node, v)
	case nodesMet:
		return met(v)
	case rowUndone:
		s, _, _ := r.observer.saw()
		if len(s.undone) == 0 {
			return false, "no stable row was undone"
		}
		return true, s.undone[0]
	case streamPart:
		if r.report.Equal || r.report.Part {
			return true, ""
		}
		return false, fmt.Sprintf("%s (%d rows came late to a source)", r.notPart, r.report.Late)
	case streamEqual:
		if r.report.Equal {
			return true, ""
		}
		return false, fmt.Sprintf("%s (%d rows came late to a source)", r.report.Difference, r.report.Late)
	}
	value := r.value(c.name)
	seen = c.name + " " + written(c.name, value)
	if _, who := r.changes.most(); c.name == replicas && who != "" {
		seen += ", at " + who
	}
	return c.holds(value), seen
}

// value measures now.
func (r *runner) value(name string) float64 {
	s, normal, _ := r.observer.saw()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch name {
	case longestDelay:
		return longest(s.worst.delay, normal).Seconds()
	case stabilise:
		return r.stabilised(&s).Seconds()
	case tentative:
		return float64(s.tentative)
	case late:
		return float64(r.report.Late)
	case replicas:
		n, _ := r.changes.most()
		return float64(n)
	}
	return float64(s.lost)
}

func written(name string, value float64) string {
	if measures()[name] {
		return fmt.Sprintf("%.2f s", value)
	}
	return fmt.Sprintf("%.0f", value)
}

// queryHolds reports whether a query is in a state: on a node, all its outputs there if the state is stable, else any; on no
// named node the same of all nodes that run.
func (r *runner) queryHolds(c *Condition, v *testnet.View) (bool, string) {
	node := c.node
	if node != "" {
		var err error
		if node, err = r.resolveNow(node); err != nil {
			return false, err.Error()
		}
	}
	in, all := 0, 0
	seen := ""
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if node != "" && n.ID != node || node == "" && n.State != testnet.StateRunning {
			continue
		}
		if node == "" && n.Status == nil {
			return false, fmt.Sprintf("node %s does not answer", n.ID)
		}
		k, m := outputsIn(n, c.query, c.state)
		in, all = in+k, all+m
		seen += described(n, c.query)
	}
	if all == 0 {
		return false, fmt.Sprintf("query %s runs on no such node that answers", c.query)
	}
	if c.state == "stable" {
		return in == all, seen
	}
	return in > 0, seen
}

// resolveNow is resolve for roles that are known from the beginning.
func (r *runner) resolveNow(name string) (string, error) {
	if name == stabilising {
		return "", errors.New("stabilising is no node of a condition")
	}
	return r.resolve(context.Background(), name)
}

// described tells the states of a query's outputs on a node.
func described(n *testnet.NodeView, query string) (text string) {
	if n.Status == nil {
		return n.ID + " does not answer. "
	}
	for _, q := range n.Status.Queries {
		if q.Name != query {
			continue
		}
		for _, f := range q.Fragments {
			for _, o := range f.Outputs {
				text += fmt.Sprintf("%s/%s is %s. ", n.ID, f.Name, o.State)
			}
		}
	}
	return text
}

func runs(node string, v *testnet.View) (bool, string) {
	for _, n := range v.Nodes {
		if (node == "" || n.ID == node) && (n.State != testnet.StateRunning || !n.Answers) {
			return false, fmt.Sprintf("node %s is %s", n.ID, n.State)
		}
	}
	return true, ""
}

// met reports whether all nodes that run have sessions with each other.
func met(v *testnet.View) (bool, string) {
	running := 0
	for _, n := range v.Nodes {
		if n.State == testnet.StateRunning {
			running++
		}
	}
	for _, n := range v.Nodes {
		if n.State == testnet.StateRunning && n.Peers < running-1 {
			return false, fmt.Sprintf("node %s has met %d of %d", n.ID, n.Peers, running-1)
		}
	}
	return true, ""
}
