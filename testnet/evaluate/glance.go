package evaluate

import (
	"context"
	"runtime"
	"time"

	"fednode/testnet"
)

// glance is what a federation has done so far.
type glance struct {
	at           time.Time
	written      int64
	own, machine float64 // processor time, in seconds
	daemons      []sight
}

// sight is what one daemon has done.
type sight struct {
	name string
	// answered: it said so itself; without it nothing below is known.
	answered bool
	// pid is its present process; cpu and worked are of that alone.
	pid       int
	rows      uint64
	cpu       float64
	fragments []string
	worked    map[string]float64
}

func look(ctx context.Context, net *testnet.Net) (g glance) {
	v := net.View(ctx)
	g.at, g.own, g.machine, g.written = time.Now(), ownProcessorTime(), busyProcessors(), net.Written()
	for i := range v.Nodes {
		g.daemons = append(g.daemons, sightOf(&v.Nodes[i]))
	}
	return g
}

func sightOf(n *testnet.NodeView) sight {
	s := sight{name: n.ID, answered: n.Answers, pid: n.PID, rows: n.Rows, cpu: n.CPUSeconds, worked: make(map[string]float64)}
	if n.Status == nil {
		return s
	}
	for _, q := range n.Status.Queries {
		for _, f := range q.Fragments {
			s.fragments = append(s.fragments, f.Name)
			s.worked[f.Name] = f.Worked
		}
	}
	return s
}

// since returns what a daemon has done since an earlier sight. What a process did that ended in between is not known but for the rows,
// which its source's log counts on; nothing is known of a daemon that did not answer at one of the two.
func (s *sight) since(was *sight) sight {
	d := sight{name: s.name, answered: s.answered && was.answered, pid: s.pid, worked: make(map[string]float64)}
	if !d.answered {
		return d
	}
	before := *was
	if s.pid != was.pid {
		before.cpu, before.worked = 0, nil
	}
	d.rows, d.cpu, d.fragments = s.rows-was.rows, s.cpu-before.cpu, s.fragments
	for _, f := range s.fragments {
		d.worked[f] = grown(before.worked[f], s.worked[f])
	}
	return d
}

// grown is by how much a count has risen; one that fell has begun anew, as that of a fragment that was started again.
func grown(was, is float64) float64 {
	if is < was {
		return is
	}
	return is - was
}

// between returns what was done from one glance to the next.
func between(a, b glance) Rate {
	seconds := b.at.Sub(a.at).Seconds()
	did, rows := make([]sight, len(b.daemons)), 0.0
	for i := range b.daemons {
		did[i] = b.daemons[i].since(&a.daemons[i])
		rows += float64(did[i].rows)
	}
	r := Rate{All: runtime.NumCPU(), Written: int(float64(b.written-a.written) / seconds / sources), Taken: int(rows / seconds / sources),
		Testnet: (b.own - a.own) / seconds, Machine: (b.machine - a.machine) / seconds}
	perRow := func(cpus float64) float64 {
		if rows <= 0 {
			return 0
		}
		return 1e6 * cpus * seconds / rows
	}
	for i := range did {
		d := Daemon{Name: did[i].name, CPUs: did[i].cpu / seconds, Fragments: []Working{}}
		d.PerRow = perRow(d.CPUs)
		for _, f := range did[i].fragments {
			d.Fragments = append(d.Fragments, Working{Name: f, Share: did[i].worked[f] / seconds})
		}
		if b.daemons[i].rows > 0 || a.daemons[i].rows > 0 {
			r.Sources += d.CPUs
		} else {
			r.Others += d.CPUs
		}
		r.Daemons = append(r.Daemons, d)
	}
	r.PerRow = perRow(r.Used())
	return r
}
