package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fednode/node/api"
)

func statusCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "status",
		Short:   "Show how a running node stands, on one screen",
		Example: "  fednode status --dir fednode-north",
		Args:    exactArgs(0),
	}
	clientFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		var s api.Status
		if err := ask1(c, "/api/v1/status", &s); err != nil || jsonWanted(c) {
			return errors.Join(err, printIf(c, err == nil, s))
		}
		printStatus(c.OutOrStdout(), &s, time.Now())
		return nil
	}
	return c
}

// printStatus shows a node's status.
func printStatus(w io.Writer, s *api.Status, now time.Time) {
	pal := paletteOf(w)
	state := pal.paint(toneGood, "ready")
	if !s.Node.Ready {
		state = pal.paint(toneWarn, "starting")
	}
	fmt.Fprintf(w, "%s  %s  up %s  memory %s  %s free", pal.paint(toneBold, s.Node.Org+"/"+s.Node.Name), state, shortDuration(now.Sub(s.Node.Started)), bytesText(s.Node.MemoryBytes), bytesText(s.Storage.FreeBytes))
	if s.Storage.Full {
		fmt.Fprint(w, "  ", pal.paint(toneBad, "storage full: nothing new is taken in"))
	}
	fmt.Fprintln(w)
	printPartners(w, s.Partners)
	if len(s.Sources) > 0 {
		printSources(w, s.Sources)
	}
	for i := range s.Queries {
		printQuery(w, &s.Queries[i], now)
	}
}

func printPartners(w io.Writer, partners []api.PartnerStatus) {
	if len(partners) < 2 {
		return
	}
	fmt.Fprintln(w)
	t := table{head: []string{"ORGANISATION", "NODES UP"}}
	for _, p := range partners {
		t.add(cell{text: p.Org}, upCell(p))
	}
	t.print(w)
}

func upCell(p api.PartnerStatus) cell {
	c := cell{text: fmt.Sprintf("%d of %d", p.Up, p.Known), tone: toneGood}
	switch {
	case p.Known == 0:
		c.text, c.tone = "-", toneDim
	case p.Up == 0:
		c.tone = toneBad
	case p.Up < p.Known:
		c.tone = toneWarn
	}
	return c
}

// printSources shows a line for each source, and below why those that have failed did so.
func printSources(w io.Writer, sources []api.SourceStatus) {
	fmt.Fprintln(w)
	var failures []string
	t := table{head: []string{"STREAM", "STATE", "ROWS", "LATE", "SET ASIDE", "COMPLETE UNTIL", "LOG"}}
	for i := range sources {
		src := &sources[i]
		t.add(cell{text: src.Stream}, conditionCell(src), cell{text: grouped(src.Rows)}, countCell(src.Late), countCell(src.Future+src.Errors),
			cell{text: streamTimeText(src.Head.Boundary)}, cell{text: bytesText(src.LogBytes)})
		if src.Failure != "" {
			failures = append(failures, src.Stream+" has failed: "+clean(src.Failure))
		}
	}
	t.print(w)
	for _, f := range failures {
		fmt.Fprintln(w, f)
	}
}

func conditionCell(s *api.SourceStatus) cell {
	if s.Failure != "" {
		return cell{text: "failed", tone: toneBad}
	}
	c := cell{text: s.Condition, tone: toneGood}
	if s.Condition == "disconnected" {
		c.tone = toneBad
	}
	if s.Detail != "" {
		c.text += " (" + s.Detail + ")"
	}
	return c
}

// countCell shows a count that should be zero.
func countCell(n uint64) cell {
	if n == 0 {
		return cell{text: "0", tone: toneDim}
	}
	return cell{text: grouped(n), tone: toneWarn}
}

func printQuery(w io.Writer, q *api.QueryStatus, now time.Time) {
	pal := paletteOf(w)
	fmt.Fprintln(w)
	state := stateCell(q.QueryInfo)
	fmt.Fprintf(w, "%s  %s  term %d epoch %d  home %s\n", pal.paint(toneBold, "query "+q.ID), pal.paint(state.tone, state.text), q.Term, q.Epoch, q.Home)
	if len(q.Sources) > 0 {
		printSources(w, q.Sources)
	}
	if len(q.Fragments) > 0 {
		printFragments(w, q.ID, q.Fragments, now)
		printOutputs(w, q.ID, q.Fragments, now)
		printAnew(w, q.ID, q.Fragments)
		printOverloads(w, q)
	} else if len(q.Assignments) > 0 {
		fmt.Fprintln(w, "  no fragment runs at this node; ask one of those below with --dir or --node")
		printAssignments(w, "  ", q.Assignments)
	}
	if len(q.Sinks) > 0 {
		printSinks(w, q.Sinks, now)
	}
	printDiverged(w, q)
}

// printDiverged names the replicas whose rows differ from those of another: one of them computes wrongly.
func printDiverged(w io.Writer, q *api.QueryStatus) {
	streams := make(map[string][]string)
	for i := range q.Fragments {
		for _, in := range q.Fragments[i].Inputs {
			streams[in.Stream] = append(streams[in.Stream], in.Diverged...)
		}
	}
	for i := range q.Sinks {
		streams[q.Sinks[i].Stream] = append(streams[q.Sinks[i].Stream], q.Sinks[i].Diverged...)
	}
	t := table{head: []string{"  DIVERGED", "NOT READ FROM", "WHY"}}
	for _, name := range slices.Sorted(maps.Keys(streams)) {
		producers := streams[name]
		slices.Sort(producers)
		for _, p := range slices.Compact(producers) {
			t.add(cell{text: "  " + clean(name), tone: toneBad}, cell{text: clean(p)}, cell{text: "it gave other rows than another replica"})
		}
	}
	if len(t.rows) > 0 {
		t.print(w)
		fmt.Fprintf(w, "  if what it differs from is gone for good: %s\n", acceptCall(q.ID, "REPLICA"))
	}
}

// acceptCall is the command that lets a replica be read from again.
func acceptCall(query, replica string) string {
	return "fednode query accept " + clean(query) + " " + clean(replica)
}

func printFragments(w io.Writer, query string, fragments []api.FragmentStatus, now time.Time) {
	t := table{head: []string{"  FRAGMENT", "STATE", "ROWS IN", "COMPLETE UNTIL", "STATE SIZE", "RECOVERY POINT", "HELD BACK BY"}}
	for i := range fragments {
		f := &fragments[i]
		rows, holder := uint64(0), ""
		for _, in := range f.Inputs {
			rows += in.Rows
			if !in.Connected {
				holder = streamIn(query, in.Stream) + ": " + clean(in.Cause)
			}
		}
		if holder == "" {
			holder = streamIn(query, slowest(f))
		}
		t.add(cell{text: "  " + f.Name}, fragmentCell(f), cell{text: grouped(rows)}, cell{text: streamTimeText(f.Released)}, cell{text: bytesText(f.StateBytes)},
			cell{text: agoText(f.PointAt, now)}, cell{text: holder, tone: toneWarn})
	}
	t.print(w)
}

// heldFrom is how far an input has to be behind the others to be worth naming: in calm they take turns at being last.
const heldFrom = api.StreamTime(500_000) // µs

// slowest names the input whose boundary is lowest, if others are ahead of it.
func slowest(f *api.FragmentStatus) string {
	low, high := -1, -1
	for i := range f.Inputs {
		if low < 0 || f.Inputs[i].Boundary < f.Inputs[low].Boundary {
			low = i
		}
		if high < 0 || f.Inputs[i].Boundary > f.Inputs[high].Boundary {
			high = i
		}
	}
	if low < 0 {
		return ""
	}
	last, first := f.Inputs[low].Boundary, f.Inputs[high].Boundary
	if last == first || last != api.NoTime && first != api.EndTime && first-last < heldFrom {
		return ""
	}
	return f.Inputs[low].Stream
}

func fragmentCell(f *api.FragmentStatus) cell {
	if f.State == api.FragmentRunning {
		return cell{text: f.State, tone: toneGood}
	}
	return cell{text: f.State + ": " + clean(f.Failure), tone: toneBad}
}

func peersCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "peers",
		Short:   "Show the nodes that a running node knows, with round trips and versions",
		Example: "  fednode peers --dir fednode-north",
		Args:    exactArgs(0),
	}
	clientFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		var list []api.PeerInfo
		if err := ask1(c, "/api/v1/peers", &list); err != nil || jsonWanted(c) {
			return errors.Join(err, printIf(c, err == nil, list))
		}
		if len(list) == 0 {
			fmt.Fprintln(c.OutOrStdout(), "no peer is known; add one with fednode peers add ADDRESS")
			return nil
		}
		printPeers(c.OutOrStdout(), list)
		return nil
	}
	c.AddCommand(peersAddCommand())
	return c
}

// printPeers shows a line for each peer, and below why those that are down are so: causes are longer than columns.
func printPeers(w io.Writer, list []api.PeerInfo) {
	t := table{head: []string{"NODE", "STATE", "ROUND TRIP", "VERSION", "FLAPS", "ADDRESS"}}
	var causes []string
	for _, p := range list {
		name := p.Org + "/" + p.Node
		if p.Org == "" {
			name = "not admitted yet"
		}
		state, version := cell{text: "up", tone: toneGood}, fmt.Sprintf("%d, %s", p.Protocol, p.Software)
		if !p.Up {
			state, version = cell{text: "down", tone: toneBad}, "-"
			if p.Cause != "" {
				causes = append(causes, name+" is down: "+clean(strings.Join(strings.Fields(p.Cause), " ")))
			}
		}
		t.add(cell{text: name}, state, cell{text: rttText(p.RTT)}, cell{text: version}, cell{text: fmt.Sprint(p.Flaps)}, cell{text: addressText(p)})
	}
	t.print(w)
	for _, cause := range causes {
		fmt.Fprintln(w, cause)
	}
}

func peersAddCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "add ADDRESS",
		Short:   "Keep a session with a node from now on; ADDRESS ends in /p2p/PEER",
		Example: "  fednode peers add /dns4/edge.south.example/tcp/7481/p2p/12D3KooW…",
		Args:    exactArgs(1),
	}
	clientFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		cl, err := newClient(c)
		if err != nil {
			return err
		}
		defer cl.Close()
		return cl.post(c.Context(), "/api/v1/peers", map[string]string{"address": args[0]}, nil)
	}
	return c
}

func addressText(p api.PeerInfo) string {
	if p.Address != "" || len(p.Dialled) == 0 {
		return p.Address
	}
	return p.Dialled[0]
}
