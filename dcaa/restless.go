package dcaa

import "fednode/query/tuple"

// mostRuns is how many runs a producer may open within a minute before any other is preferred, until it is calm: one that
// changes its mind again and again gives nothing to rely on.
const mostRuns = 6

// inRun notes a run of the producer when its first frame comes.
func (p *producer) inRun(now Instant, run tuple.Run) {
	if p.seen > 0 && p.lastRun == run {
		return
	}
	p.lastRun = run
	p.runs[p.seen%uint64(len(p.runs))] = now
	p.seen++
}

// restless reports whether the producer has opened too many runs within the last minute.
func (p *producer) restless(now Instant) bool {
	return p.seen > mostRuns && now-p.runs[p.seen%uint64(len(p.runs))] < Instant(60*second)
}
