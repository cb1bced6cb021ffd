package topview

import (
	"fmt"
	"slices"

	"fednode/node/api"
)

// peers is the table of other nodes, and of trusted organisations without a known node.
func (v *view) peers() *grid {
	g := &grid{columns: []column{
		{title: "PEER", min: 12, shrink: true},
		{title: "STATE", min: 5},
		{title: "ROUND TRIP", right: true},
		{title: "FLAPS", right: true},
		{title: "SILENT", right: true, min: 7, drop: 1},
		{title: "QUEUED", right: true, drop: 3},
		{title: "SOFTWARE", min: 8, shrink: true, drop: 2},
	}}
	for i := range v.Current.Peers {
		v.peer(g, &v.Current.Peers[i])
	}
	v.strangers(g)
	if len(g.rows) == 0 {
		g.note(2, cell{"none: trust an organisation with fednode org trust FILE", dim})
	}
	return g
}

// strangers names the trusted organisations without a known node. A node that has not said whose it is may be theirs.
func (v *view) strangers(g *grid) {
	s := &v.Current.Status
	for _, o := range s.Partners {
		if o.Known == 0 && o.Org != s.Node.Org && !slices.ContainsFunc(v.Current.Peers, unnamed) {
			g.note(0, cell{tidy(o.Org) + " is trusted, but none of its nodes is known: add one with fednode peers add ADDRESS", warn})
		}
	}
}

func unnamed(p api.PeerInfo) bool { return p.Org == "" }

// peerName is the node's name; while that is not known, the end of its peer id, since all begin alike.
func peerName(p *api.PeerInfo) string {
	if !unnamed(*p) {
		return tidy(p.Org + "/" + p.Node)
	}
	id := tidy(p.Peer)
	return "unnamed …" + id[max(0, len(id)-8):]
}

func (v *view) peer(g *grid, p *api.PeerInfo) {
	state := cell{"up", good}
	if !p.Up {
		state = cell{"down", bad}
	}
	flaps := totalCell(p.Flaps)
	if perSec, ok := v.past.rate(counter{peerFlaps, "", "", p.Peer}, p.Flaps); ok && perSec > 0 {
		flaps.tone = warn // just now; those of long ago are only counted
	}
	software := ""
	if p.Protocol > 0 {
		software = fmt.Sprintf("%s, protocol %d", tidy(p.Software), p.Protocol)
	}
	g.add(row{trouble: !p.Up, cells: []cell{
		{peerName(p), plain}, state, {rttText(p.RTT), plain}, flaps, silence(p), totalCell(uint64(max(0, p.Queued))),
		{software, dim},
	}})
	if !p.Up && p.Cause != "" {
		g.note(2, cell{tidy(p.Cause), bad})
	}
}

// silence shows for how long nothing has come from a peer that is up.
func silence(p *api.PeerInfo) cell {
	if !p.Up {
		return cell{unknown, dim}
	}
	c := cell{spanText(seconds(p.Silence)), dim}
	if p.SilenceLimit > 0 && p.Silence > p.SilenceLimit/2 {
		c.tone = warn
	}
	return c
}
