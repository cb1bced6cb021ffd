package replica

import (
	"fednode/dcaa"
	"fednode/query/tuple"
)

// watch checks what has to hold at every moment: results in time, and one redo at a time.
type watch struct {
	w *world
	// healthy is since when the way from a producer over a node to the client has been whole, by node and input; Never while it
	// is not.
	healthy [][]dcaa.Instant
	// redoing is since when a node has redone, Never while it has not; talks since when two nodes can.
	redoing []dcaa.Instant
	talks   dcaa.Instant
}

func newWatch(w *world) *watch {
	v := &watch{w: w, talks: dcaa.Never}
	for range w.nodes {
		v.redoing = append(v.redoing, dcaa.Never)
		var of []dcaa.Instant
		for range w.streams {
			of = append(of, dcaa.Never)
		}
		v.healthy = append(v.healthy, of)
	}
	return v
}

// since keeps an instant up to date: when something that is so began.
func since(at *dcaa.Instant, so bool, now dcaa.Instant) {
	switch {
	case !so:
		*at = dcaa.Never
	case *at == dcaa.Never:
		*at = now
	}
}

func (v *watch) look() {
	w := v.w
	for n, x := range w.nodes {
		for i := range w.streams {
			p := w.producers[i][0]
			whole := x.r != nil && p.mode == gives && w.connected(x.name, p.name) && w.connected("client", x.name)
			since(&v.healthy[n][i], whole, w.now)
		}
		since(&v.redoing[n], x.r != nil && x.r.Redoing(), w.now)
	}
	if len(w.nodes) > 1 {
		a, b := w.nodes[0], w.nodes[1]
		since(&v.talks, a.r != nil && b.r != nil && w.connected(a.name, b.name), w.now)
		if v.redoing[0] != dcaa.Never && v.redoing[1] != dcaa.Never && v.talks <= min(v.redoing[0], v.redoing[1]) {
			w.wrong("both replicas redo, and can talk since %d ms", (v.talks-epoch)/ms)
		}
	}
	for _, c := range w.clients {
		v.inTime(c)
	}
}

// inTime checks that what a whole way has brought for X and a little is reflected.
func (v *watch) inTime(c *client) {
	const normal = 300 * ms // a bucket, a boundary interval, and a heartbeat to find who serves
	w := v.w
	covered := c.boundary
	if _, to, _, held := c.intake.Suffix(); held {
		covered = max(covered, to)
	}
	late := w.stime() - tuple.Time(w.settings.MaxDelay+normal)
	if covered >= late || late <= 0 {
		return
	}
	for n := range v.healthy {
		for i, at := range v.healthy[n] {
			if at == dcaa.Never || w.now-at < dcaa.Instant(w.settings.MaxDelay)+normal {
				continue
			}
			w.wrong("output %d reaches to %s; the way from %s over %s has been whole since %d ms", c.output, millis(covered), w.producers[i][0].name, w.nodes[n].name, (at-epoch)/ms)
			return
		}
	}
}
