package topview

import (
	"fmt"

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
	for _, o := range v.Current.Status.Partners {
		if o.Known == 0 && o.Org != v.Current.Status.Node.Org {
			g.note(0, cell{tidy(o.Org) + " is trusted, but none of its nodes is known: add one with fednode peers add ADDRESS", warn})
		}
	}
	if len(g.rows) == 0 {
		g.note(2, cell{"none: trust an organisation with fednode org trust FILE", dim})
	}
	return g
}

func (v *view) peer(g *grid, p *api.PeerInfo) {
	name := tidy(p.Org + "/" + p.Node)
	if p.Org == "" {
		name = "not admitted: " + tidy(p.Peer)
	}
	state := cell{"up", good}
	if !p.Up {
		state = cell{"down", bad}
	}
	flaps := totalCell(p.Flaps)
	if perSec, ok := v.past.rate(counter{peerFlaps, "", "", p.Peer}, p.Flaps); ok && perSec > 0 {
		flaps.tone = warn // just now; those of long ago are only counted
	}
	g.add(row{trouble: !p.Up, cells: []cell{
		{name, plain}, state, {rttText(p.RTT), plain}, flaps, silence(p), totalCell(uint64(max(0, p.Queued))),
		{fmt.Sprintf("%s, protocol %d", tidy(p.Software), p.Protocol), dim},
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
