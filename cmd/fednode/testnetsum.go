package main

import (
	"fmt"
	"strings"

	"fednode/testnet"
)

// lines tell what was seen, and what to try next.
func (sum *testnetSum) lines(s *testnetScreen, net *testnet.Net) []string {
	p := s.palette
	out := []string{"", p.paint(toneBold, "What happened")}
	var total uint64
	t := &table{}
	for _, n := range net.Nodes() {
		t.add(cell{"    " + n, toneNone}, cell{grouped(sum.Rows[n]), toneNone})
		total += sum.Rows[n]
	}
	t.alignRight(1)
	out = append(out, fmt.Sprintf("  %s rows entered in %.0f s:", grouped(total), sum.Seconds))
	out = append(out, t.lines(p)...)
	if sum.Results == 0 {
		return append(out, p.paint(toneWarn, "  No results arrived: a window has to end first. Let it run for longer."), "")
	}
	out = append(out, fmt.Sprintf("  Query %s gave %s at %s.", net.Query(), counted(sum.Results, "row"), net.Nodes()[0]))
	if len(sum.Planted) > 0 {
		out = append(out, sum.plantedLines(s)...)
	}
	out = append(out, "", p.paint(toneBold, "What to try next"))
	t = &table{}
	for _, next := range [][2]string{
		{"fednode testnet up --detach", "let it run until testnet down"},
		{"fednode testnet up --data conn.log.gz", "your own connections"},
		{"fednode query explain configs/netmon.toml", "how a query is cut up"},
		{"fednode init --org NAME", "a first node of your own"},
	} {
		t.add(cell{"  " + next[0], toneNone}, cell{next[1], toneDim})
	}
	return append(out, append(t.lines(p), "")...)
}

// plantedLines compare what was found with what the generator had hidden.
func (sum *testnetSum) plantedLines(s *testnetScreen) []string {
	p := s.palette
	t := &table{}
	all := true
	for _, src := range sum.Planted {
		n := sum.Found[src]
		c := cell{"in every window", toneGood}
		if n != sum.Windows {
			c, all = cell{fmt.Sprintf("in %d of %d windows", n, sum.Windows), toneBad}, false
		}
		t.add(cell{"    " + src, toneNone}, c, cell{s.planted[src], toneDim})
	}
	head := fmt.Sprintf("  All %d planted suspects were found, and no other, in %s that ended:", len(sum.Planted), counted(uint64(sum.Windows), "window"))
	if !all {
		head = p.paint(toneBad, "  Not every planted suspect was found:")
	} else if len(sum.Others) > 0 {
		head = p.paint(toneBad, fmt.Sprintf("  The planted suspects were found, and %d others: %s", len(sum.Others), strings.Join(sum.Others, ", ")))
	}
	return append([]string{head}, t.lines(p)...)
}
