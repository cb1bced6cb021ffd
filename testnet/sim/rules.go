package sim

import (
	"fmt"
	"slices"

	"fednode/dcaa"
	"fednode/node/replica"
	"fednode/query/tuple"
	"fednode/testnet/sim/host"
	"fednode/testnet/sim/topology"
	"fednode/testnet/sim/world"
)

// rules are the promises that do not hang on the client's frames.
type rules struct {
	r *Run
	// normal is how long a row takes to the client when nothing fails, beyond its lag, in microseconds.
	normal int64
	// source is how far the boundary of a healthy source may lie back, beyond its lag: it may have to find first that there
	// is nothing to read.
	source int64
	// redoing is since when two replicas of a fragment that can talk have both been redoing, by fragment; 0 if they are not.
	redoing []int64
	// asking is since when each node has waited for permission.
	asking []int64
	// healed is when the last fault that ends is over.
	healed int64
	// over is when nothing more is to happen.
	over  int64
	looks int
}

func newRules(r *Run) *rules {
	s := &r.top.Spec
	hop := s.Latency + s.Jitter + 2*tuple.Millisecond
	depth := int64(r.top.Depth)
	u := &rules{r: r, redoing: make([]int64, len(r.top.Fragments)), asking: make([]int64, len(r.top.Nodes))}
	u.normal = s.Slack + s.Disorder + s.BoundaryInterval + s.BoundaryInterval/pollsPerBoundary + s.Bucket + 2*s.DiskLatency + (depth+1)*hop
	u.source = s.Slack + s.Disorder + 6*s.BoundaryInterval + 4*s.DiskLatency
	if s.Work == topology.Windows {
		u.normal += s.Window // results come when a window closes
	}
	u.healed = r.faults.Healed()
	if u.over = u.healed; len(r.faults) == 0 {
		u.over = s.Calm + s.Trouble
	}
	return u
}

// Margins in microseconds.
const (
	// switchTime is how long a replica may take to find that its producer has failed and to move to another.
	switchTime = 1_000_000
	// processing is the least that is added for processing and jitter; a tenth of max_delay if that is more.
	processing = 100_000
	// settledWay is after how long a way that was slow is taken for what it is now.
	settledWay = 3_000_000
	// restTime is for how long everything has to be stable for a run to end before its time.
	restTime = 5_000_000
	// bothRedo is how long two replicas may redo after the cut between them has healed.
	bothRedo = 60_000_000
)

// look checks what holds at every moment.
func (u *rules) look() {
	u.looks++
	if since := u.r.health.settled; since != bad && u.r.w.Now()-max(since, u.over) > restTime {
		u.r.w.Stop()
		return
	}
	u.delay()
	u.permission()
	if u.looks%10 == 0 {
		u.buffers()
		if err := u.r.ref.advance(); err != nil {
			u.r.broken("the run without failures has stopped: " + err.Error())
		}
	}
}

// tentatively says whether the query gives tentative results at all.
func (u *rules) tentatively() bool {
	s := &u.r.top.Spec
	return s.Consistency != topology.StableOnly && s.Failure != "suspend" && s.Stabilization != "suspend"
}

// delay checks that what a healthy path brings is reflected in time.
func (u *rules) delay() {
	if !u.tentatively() {
		return
	}
	now, behind := u.r.w.Now(), u.r.watch.behind()
	late := now - behind - u.normal
	if late <= u.r.result.Worst {
		return
	}
	for s := range u.r.logs {
		if !u.r.health.path(s, behind) {
			continue
		}
		u.r.result.Worst = late
		if most := u.r.settings.MaxDelay + max(processing, 0); late > most {
			u.r.breach("results come within max_delay", "the client has been given nothing behind %v for %s beyond what is normal; the way from %s has been healthy all the while",
				u.r.watch.covered, tuple.AppendDuration(nil, late), topology.SourceName(s))
		}
		return
	}
}

// permission checks that of the replicas that can talk one redoes.
func (u *rules) permission() {
	now := u.r.w.Now()
	for f := range u.redoing {
		ids := u.r.top.ReplicasOf(f)
		both := false
		for i, a := range ids {
			for _, b := range ids[i+1:] {
				x, y := u.r.replicas[a], u.r.replicas[b]
				if x == nil || y == nil || x.core == nil || y.core == nil || !x.core.Redoing() || !y.core.Redoing() {
					continue
				}
				both = both || u.r.health.way[u.r.health.index(a, b)] <= min(x.redoing, y.redoing)
			}
		}
		if both {
			u.r.breach("one replica of a fragment redoes at a time", "two of %s do, and can talk", u.r.top.Fragments[f].Name)
		}
	}
	for id, a := range u.r.replicas {
		if a == nil || a.core == nil {
			continue
		}
		if !a.core.Redoing() {
			a.redoing = 0
		}
		a.noteRedo()
		if !a.core.Asking() {
			u.asking[id] = 0
		} else if u.asking[id] == 0 {
			u.asking[id] = now
		} else if since := max(u.asking[id], u.healed); now-since > bothRedo {
			u.r.breach("every request for permission ends", "%s has waited for %s", u.r.name(world.NodeID(id)), tuple.AppendDuration(nil, now-since))
		}
	}
}

// mostBytes is the limit of an output buffer.
const mostBytes = 64 << 20

// buffers checks that what is held stays below its limits.
func (u *rules) buffers() {
	for id, a := range u.r.replicas {
		if a == nil {
			continue
		}
		for _, b := range a.buffers {
			if n := b.Stable.Bytes(); n > mostBytes {
				u.r.breach("buffers stay below their limits", "%s holds %d bytes of an output", u.r.name(world.NodeID(id)), n)
			}
		}
	}
}

// changed checks that an output becomes tentative for a reason.
func (u *rules) changed(a *replicaActor, c replica.Change) {
	if c.To != dcaa.UpstreamFailure || c.From != dcaa.Stable || c.Lost {
		return
	}
	first := true // nobody upstream has given up before
	oldest := tuple.MaxTime
	for _, m := range c.Missing {
		s := u.r.top.Stream(m.Stream)
		if s < 0 || a.inputOf[s] < 0 {
			first = false
			continue
		}
		oldest = min(oldest, m.Since)
		u.unneeded(a, s, m.Since)
	}
	if first && oldest != tuple.MaxTime && oldest != tuple.MinTime && u.timely(a, c.Missing) {
		u.held(a, oldest)
	}
}

// timely reports whether what a replica does not miss has come over healthy ways for a while: only then are the ages of its
// boundaries right, by which hold times run.
func (u *rules) timely(a *replicaActor, missing []tuple.Missing) bool {
	since := u.r.w.Now() - settledWay
	for n := range a.inputs {
		if slices.ContainsFunc(missing, func(m tuple.Missing) bool { return m.Stream == a.plan.Inputs[n].Stream }) {
			continue
		}
		for _, id := range a.producers[n] {
			if u.r.w.Up(id) && u.r.health.way[u.r.health.index(a.id, id)] > since {
				return false
			}
		}
	}
	return true
}

// holds reports whether a producer of a stream still has in its buffer what a replica needs next. One that has not cannot give
// it, however stable it is: the replica takes over the state of another one.
func (r *Run) holds(stream int32, producer world.NodeID, a *replicaActor) bool {
	var o *host.Buffer
	if s := &r.top.Streams[stream]; s.Source >= 0 {
		o = r.logs[s.Source].output
	} else if p := r.replicas[producer]; p != nil && p.core != nil {
		o = p.buffers[s.Output]
	}
	_, at, _, _ := a.core.Input(int(a.inputOf[stream]))
	return o != nil && o.Gone(at) == nil
}

// unneeded checks that no stable replica of a missing input has been within reach.
func (u *rules) unneeded(a *replicaActor, stream int32, missing tuple.Time) {
	h, now := u.r.health, u.r.w.Now()
	for k, id := range u.r.top.Streams[stream].Producers {
		// It has had what is missing for a while: its boundary was beyond.
		if h.past[stream][k][(h.looks+1)%pastLooks] < missing.Add(u.r.settings.Bucket) {
			continue
		}
		if !u.r.holds(stream, id, a) {
			continue
		}
		since := max(h.stable[stream][k], h.since[id], h.since[a.id], h.way[h.index(a.id, id)])
		if since <= now-switchTime {
			u.r.breach("nothing is tentative while a stable replica can be reached", "%s goes on without %s, which %s has given, STABLE and within reach, for %s",
				u.r.name(a.id), u.r.top.Streams[stream].Name, u.r.name(id), tuple.AppendDuration(nil, now-since))
		}
	}
}

// held checks that a failure's first bucket has been held for its time: the one in which the input that is furthest behind
// has come to a stand.
func (u *rules) held(a *replicaActor, oldest tuple.Time) {
	end := oldest.FloorTo(u.r.settings.Bucket, 0).Add(u.r.settings.Bucket)
	held := u.r.w.Now() - int64(end-epoch) - u.r.top.Spec.Lag - u.r.top.Spec.Slack
	if least := u.holdTime(a); held < least {
		u.r.breach("nothing is tentative before the hold time is spent", "%s gives the bucket before %v after %s, its hold time is %s",
			u.r.name(a.id), end, tuple.AppendDuration(nil, held), tuple.AppendDuration(nil, least))
	}
}

// holdTime is H of the last SUnion of a fragment, less what a clock may be wrong: the least of the fragment.
func (u *rules) holdTime(a *replicaActor) int64 {
	s := &u.r.settings
	least := s.MaxDelay
	for _, p := range a.plan.Unions {
		reserve := max(s.Heartbeat*int64(s.Miss+1), s.IdleAfter+s.BoundaryInterval)
		least = min(least, s.MaxDelay-s.BoundaryInterval-int64(p.Path-p.Depth+3)*s.Grace-reserve)
	}
	// Rows out of order make the boundaries of one source rise unevenly, and the clock of a bucket begins with the first.
	return least - tuple.Millisecond - min(3*s.BoundaryInterval, u.r.top.Spec.Disorder)
}

// last checks that the run has come to rest.
func (u *rules) last() {
	u.r.health.look()
	now, h := u.r.w.Now(), u.r.health
	if h.settled == bad {
		u.r.breach("everything becomes stable once the faults are over", "%s after the last of them: %s", tuple.AppendDuration(nil, now-u.healed), u.unsettled())
		return
	}
	u.r.result.Settled = max(0, h.settled-u.healed)
	if err := u.r.ref.advance(); err != nil {
		u.r.broken("the run without failures has stopped: " + err.Error())
	}
	if lost, ok := u.r.watch.missing(u.r.watch.boundary); ok {
		u.r.breach("the stable stream is that of a run without failures", "the boundary %v passes row %d, which did not come", u.r.watch.boundary, lost)
	}
}

// unsettled says what is not stable.
func (u *rules) unsettled() string {
	text := ""
	for n := range u.r.top.Streams {
		s := &u.r.top.Streams[n]
		for _, id := range s.Producers {
			if stable, _ := u.r.health.state(n, id); stable || !u.r.w.Up(id) {
				continue
			}
			if a := u.r.replicas[id]; a == nil || a.core == nil {
				text += u.r.name(id) + " has no state; "
			} else {
				st := a.core.Status(s.Output)
				text += fmt.Sprintf("%s is %v at %v, holding for %s; ", u.r.name(id), st.State, st.Boundary, tuple.AppendDuration(nil, st.Holding))
			}
		}
	}
	if !u.r.watch.level(u.r.w.Now()) {
		text += "the client is at " + u.r.watch.boundary.String()
		if u.r.watch.tentative {
			text += " and holds tentative rows"
		}
	}
	return text
}
