package api

import (
	"maps"
	"math"
	"slices"
	"time"
)

const (
	// scrapes bounds the scrapes at one time, scrapeTimeout the time of one.
	scrapes       = 4
	scrapeTimeout = 10 * time.Second
)

// points gathers the values of a scrape.
type points struct{ list []point }

func (p *points) add(metric int, value float64, labels ...string) {
	p.list = append(p.list, point{metric: metric, value: value, labels: labels})
}

// addTime adds a stream time; its ends are no time.
func (p *points) addTime(metric int, t StreamTime, labels ...string) {
	if sec, ok := t.Unix(); ok {
		p.add(metric, sec, labels...)
	}
}

func (p *points) node(s *Status, goVersion string) {
	p.add(buildInfo, 1, s.Node.Version, goVersion)
	p.add(nodeReady, truth(s.Node.Ready))
	p.add(storageFull, truth(s.Storage.Full))
	if at := s.Node.CertificateExpires; at != nil {
		p.add(certificateExpiry, float64(at.UnixMilli())/1e3)
	}
	for _, o := range s.Partners {
		if o.Org != s.Node.Org {
			p.add(partnerUp, truth(o.Up > 0), o.Org)
		}
	}
}

func (p *points) source(s *SourceStatus) {
	p.add(streamRows, float64(s.Rows), s.Stream)
	p.add(streamLate, float64(s.Late), s.Stream)
	p.addTime(streamBoundary, s.Head.Boundary, s.Stream)
	p.add(bufferBytes, float64(s.LogBytes), s.Stream)
	p.add(bufferLimit, float64(s.LogLimitBytes), s.Stream)
}

// reasons adds the rejected rows of a source, also for reasons that have not occurred: a counter that appears with its
// first increment hides it from rate().
func (p *points) reasons(s *SourceStatus, reasons []string) {
	for _, r := range reasons {
		p.add(streamRejected, float64(s.ByReason[r]), s.Stream, r)
	}
}

// query adds the values of a query, the most telling first.
func (p *points) query(q *QueryStatus) {
	bound := math.Inf(1)
	if q.MaxDelay != nil {
		bound = *q.MaxDelay
	}
	p.add(availabilityBound, bound, q.ID)
	for i := range q.Fragments {
		p.fragment(q.ID, &q.Fragments[i])
	}
	p.diverged(q)
	for i := range q.Sources {
		p.source(&q.Sources[i])
	}
	for i := range q.Sinks {
		p.add(sinkRows, float64(q.Sinks[i].Rows), q.ID, q.Sinks[i].Output)
	}
	for i := range q.Fragments {
		p.outputs(q.ID, &q.Fragments[i])
	}
	for i := range q.Fragments {
		p.delays(q.ID, &q.Fragments[i])
	}
	for i := range q.Sources {
		p.reasons(&q.Sources[i], rejectReasons())
	}
}

// diverged adds how many producers of what a query reads here differ from another.
func (p *points) diverged(q *QueryStatus) {
	streams := make(map[string]int)
	for i := range q.Fragments {
		for k := range q.Fragments[i].Inputs {
			in := &q.Fragments[i].Inputs[k]
			streams[in.Stream] = max(streams[in.Stream], len(in.Diverged))
		}
	}
	for i := range q.Sinks {
		s := &q.Sinks[i]
		streams[s.Stream] = max(streams[s.Stream], len(s.Diverged))
	}
	for _, name := range slices.Sorted(maps.Keys(streams)) {
		if streams[name] > 0 {
			p.add(streamDiverged, float64(streams[name]), q.ID, name)
		}
	}
}

func (p *points) fragment(query string, f *FragmentStatus) {
	p.add(fragmentUp, truth(f.State == FragmentRunning), query, f.Name)
	p.add(stateBytes, float64(f.StateBytes), query, f.Name)
	n := &f.Renewals
	p.add(forkRenewals, float64(n.Done), query, f.Name, "done")
	p.add(forkRenewals, float64(n.Long), query, f.Name, "long")
	p.add(forkRenewals, float64(n.Forgotten), query, f.Name, "forgotten")
	p.add(forkRenewals, float64(n.Failed), query, f.Name, "failed")
	if f.PointAt != nil {
		p.add(checkpointAge, max(0, time.Since(*f.PointAt).Seconds()), query, f.Name)
	}
}

func (p *points) outputs(query string, f *FragmentStatus) {
	for i := range f.Outputs {
		o := &f.Outputs[i]
		p.addTime(streamBoundary, o.Head.Boundary, o.Stream)
		p.add(bufferBytes, float64(o.Bytes), o.Stream)
		p.add(bufferLimit, float64(o.Limit), o.Stream)
		p.add(spareBytes, float64(o.SpareBytes), o.Stream)
		p.add(spilledBytes, float64(o.SpilledBytes), o.Stream)
		p.add(spillLimit, float64(o.SpillLimit), o.Stream)
		p.add(outputTentative, float64(o.TentativeRows), query, o.Stream)
		if o.Anew.Phase != PhaseNone {
			p.add(outputAnew, float64(o.Anew.Times), query, o.Stream)
		}
		for _, state := range outputStates() {
			p.add(outputState, truth(state == o.State), query, o.Stream, state)
		}
	}
}

// delays adds the histograms of a fragment's outputs.
func (p *points) delays(query string, f *FragmentStatus) {
	for i := range f.Outputs {
		o := &f.Outputs[i]
		p.list = append(p.list, point{metric: outputDelay, labels: []string{query, o.Stream}, delays: &o.Delays})
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
