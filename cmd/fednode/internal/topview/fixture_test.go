package topview

import (
	"time"

	"fednode/node/api"
)

// start is when the node of the tests was started; looked is when it was looked at.
func start() time.Time { return time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC) }

func looked() time.Time { return start().Add(75*time.Minute + 12*time.Second) }

// at is a stream time so long after noon.
func at(d time.Duration) api.StreamTime {
	return api.StreamTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(d).UnixMicro())
}

func head(d time.Duration) api.Position { return api.Position{Generation: 1, ID: 9, Boundary: at(d)} }

// node is a node as one look at it shows it after so many seconds: counters grow with n, times with it too.
func node(n int) *Sample {
	s, u := time.Duration(n)*time.Second, uint64(n)
	return &Sample{
		At: looked().Add(s),
		Status: api.Status{
			Node: api.NodeStatus{Org: "north", Name: "edge", Version: "1.0", Started: start(), Ready: true,
				MemoryBytes: 182 << 20, MemoryLimitBytes: 1 << 30, CPUSeconds: 100 + 0.37*float64(n)},
			Storage:  api.StorageStatus{Dir: "data", FreeBytes: 41 << 30, ReserveBytes: 2 << 30, StoreBytes: 3 << 20},
			Sources:  []api.SourceStatus{source("north/conns", 12_000*u, s), source("north/dns", 830*u, s)},
			Queries:  []api.QueryStatus{netmon(u, s), {QueryInfo: api.QueryInfo{ID: "south/slow", Org: "south", Name: "slow", State: "stopped", Home: "south/one"}}},
			Partners: []api.PartnerStatus{{Org: "east", Up: 1, Known: 1}, {Org: "north"}, {Org: "south", Up: 1, Known: 1}},
		},
		Peers: []api.PeerInfo{
			{Peer: "12D3KooWEast", Org: "east", Node: "one", Up: true, Protocol: 1, Software: "fednode 1.0", RTT: 0.0123, Silence: 0.04, SilenceLimit: 1},
			{Peer: "12D3KooWSouth", Org: "south", Node: "one", Up: true, Protocol: 1, Software: "fednode 1.0", RTT: 0.00021, Silence: 0.1, SilenceLimit: 1, Flaps: 2},
		},
	}
}

func source(name string, rows uint64, s time.Duration) api.SourceStatus {
	return api.SourceStatus{Stream: name, Condition: "reading", Rows: rows, High: at(s), Head: head(s - 50*time.Millisecond), LogBytes: 28 << 20, LogLimitBytes: 1 << 30}
}

func netmon(u uint64, s time.Duration) api.QueryStatus {
	delay, point := 2.0, looked().Add(s-3*time.Second)
	return api.QueryStatus{
		QueryInfo: api.QueryInfo{ID: "north/netmon", Org: "north", Name: "netmon", State: "running", Term: 1, Epoch: 3, Home: "north/edge", Here: true,
			Assignments: []api.Assignment{{Fragment: "edge_south", Org: "south", Node: "one"}, {Fragment: "suspects", Org: "north", Node: "edge"}}},
		MaxDelay: &delay,
		Fragments: []api.FragmentStatus{{
			Name: "suspects", State: api.FragmentRunning, StateBytes: 8 << 20, Released: at(s - 700*time.Millisecond), PointAt: &point, PointBoundary: at(s - 3*time.Second),
			Inputs: []api.InputStatus{
				{Stream: "north/conns", Connected: true, Producer: "north/edge", Rows: 12_000 * u, Boundary: at(s), Waiting: 8400},
				{Stream: "north/netmon.edge_south.out", Connected: true, Producer: "south/one", Rows: 11_400 * u, Boundary: at(s - 700*time.Millisecond)},
			},
			Operators: []api.OperatorStatus{
				{Name: "all", Kind: "union", RowsIn: 23_400 * u, RowsOut: 23_400 * u, Lag: 0.7, Boundary: at(s - 700*time.Millisecond), HeldBy: "north/netmon.edge_south.out"},
				{Name: "per_source", Kind: "aggregate", RowsIn: 23_400 * u, RowsOut: 27 * u, StateBytes: 8 << 20, Lag: 0.7, Boundary: at(s - 700*time.Millisecond)},
				{Name: "ratio", Kind: "map", RowsIn: 27 * u, RowsOut: 27 * u, DivByZero: 4},
			},
			Outputs: []api.OutputStatus{{Stream: "north/netmon/suspects", State: "stable", Head: head(s), Bytes: 24 << 20, Limit: 64 << 20,
				Subscribers: []api.Subscriber{{Name: "north/edge/netmon/out.suspects", Acknowledged: head(s - 2*time.Second)}}}},
		}},
		Sinks: []api.SinkStatus{{Output: "suspects", Stream: "north/netmon/suspects", Connected: true, Rows: 27 * u, At: head(s), Committed: head(s - 2*time.Second)}},
	}
}

// well is a frame of a node without trouble, with rates over two seconds.
func well() *Frame {
	return &Frame{Previous: node(10), Current: node(12), Now: looked().Add(12 * time.Second), Interval: time.Second, Selected: Key{Query: "north/netmon"}}
}

// situations are frames to look at, by name.
func situations() map[string]func(*Frame) {
	return map[string]func(*Frame){
		"well":     func(*Frame) {},
		"first":    func(f *Frame) { f.Previous = nil },
		"details":  func(f *Frame) { f.Screen = Details },
		"fragment": func(f *Frame) { f.Screen, f.Selected.Fragment = Details, "suspects" },
		"help":     func(f *Frame) { f.Screen = Help },
		"paused":   func(f *Frame) { f.Paused, f.Selected.Fragment = true, "suspects" },
		"still":    func(f *Frame) { f.Still = true },
		"away": func(f *Frame) {
			f.Outage = &Outage{Since: f.Current.At, Cause: "no daemon answers at http://127.0.0.1:7480"}
			f.Now = f.Current.At.Add(8 * time.Second)
		},
		"restarted": func(f *Frame) {
			f.Current.Status.Node.Started = f.Current.At.Add(-time.Second)
			f.Current.Status.Node.Ready = false
		},
		"empty": func(f *Frame) {
			s := &f.Current.Status
			s.Sources, s.Queries, s.Partners, f.Current.Peers = nil, nil, nil, nil
		},
		"source_disconnected": sourceDisconnected,
		"partner_down":        partnerDown,
		"tentative_details":   func(f *Frame) { partnerDown(f); f.Screen = Details },
		"fragment_failed":     fragmentFailed,
		"storage_full":        storageFull,
		"strangers": func(f *Frame) {
			f.Current.Peers[1] = api.PeerInfo{Peer: "12D3KooWKtH8x1YY3inv8r2ku76ZWBGa1b5", Cause: "connection refused"}
			f.Current.Status.Partners = append(f.Current.Status.Partners, api.PartnerStatus{Org: "west"})
		},
		"stranger_organisation": func(f *Frame) {
			f.Current.Status.Partners = append(f.Current.Status.Partners, api.PartnerStatus{Org: "west"})
		},
		"overloaded":         overloaded,
		"overloaded_details": func(f *Frame) { overloaded(f); f.Screen = Details },
		"many":               many,
	}
}

func sourceDisconnected(f *Frame) {
	s := &f.Current.Status.Sources[1]
	s.Condition, s.Detail = "disconnected", "dial tcp 10.0.0.9:4222: connection refused"
	s.Rows = f.Previous.Status.Sources[1].Rows
	s.Errors = 17
	f.Current.Status.Sources[0].Late = 5
}

func partnerDown(f *Frame) {
	p := &f.Current.Peers[1]
	p.Up, p.Cause, p.RTT = false, "silent for 1.2 s, suspected down", 0
	p.Flaps = 3
	f.Current.Status.Partners[2].Up = 0
	in := &f.Current.Status.Queries[0].Fragments[0].Inputs[1]
	in.Connected, in.Producer, in.Cause = false, "", "stream north/netmon.edge_south.out: no node that may produce it is up"
	in.Rows = f.Previous.Status.Queries[0].Fragments[0].Inputs[1].Rows
	out := &f.Current.Status.Queries[0].Fragments[0].Outputs[0]
	out.State, out.Bytes = "upstream_failure", 60<<20
	since, bound := f.Current.At.Add(-9*time.Second), 2.0
	out.Since, out.Bound, out.Delay, out.TentativeRows = &since, &bound, 1.4, 216
	out.Missing = []api.MissingInput{{Stream: in.Stream, Since: at(0)}}
	out.Redo = 1.3
	k := &f.Current.Status.Queries[0].Sinks[0]
	k.Producer, k.State, k.Since = "north/edge", "upstream_failure", &since
}

// overloaded has a partner's input missing, and a fragment that does not get on with its corrections, while another one would not.
func overloaded(f *Frame) {
	q := &f.Current.Status.Queries[0]
	since, bound := f.Current.At.Add(-40*time.Second), 2.0
	q.Fragments[0].CannotCatchUp, q.Fragments[0].Load = true, 1
	out := &q.Fragments[0].Outputs[0]
	out.State, out.Since, out.Bound, out.Delay, out.TentativeRows = "stabilization", &since, &bound, 1.8, 4000
	if len(q.Fragments) > 1 {
		q.Fragments[1].Load = 0.62
		q.Fragments[1].Outputs[0].Bound = &bound
	}
}

func fragmentFailed(f *Frame) {
	q := &f.Current.Status.Queries[0]
	next := f.Current.At.Add(4 * time.Second)
	q.Failure = "fragment suspects does not run"
	q.Fragments[0].State, q.Fragments[0].Failure = api.FragmentFailed, "operator per_source: state of 1.1 GiB is more than limits.max_state = 1 GiB"
	q.Fragments[0].Restarts, q.Fragments[0].NextTry = 3, &next
	q.Sinks[0].Connected, q.Sinks[0].Cause = false, "north/netmon/suspects is not there"
}

func storageFull(f *Frame) {
	f.Current.Status.Storage.Full, f.Current.Status.Storage.FreeBytes = true, 1<<30
	for i := range f.Current.Status.Sources {
		s := &f.Current.Status.Sources[i]
		s.Failure, s.Rows, s.LogBytes = "storage is full", f.Previous.Status.Sources[i].Rows, 1<<30
	}
	ends := f.Current.At.Add(50 * time.Hour)
	f.Current.Status.Node.CertificateExpires = &ends
}

// many has more of everything than a small terminal shows, and trouble at the end of each list.
func many(f *Frame) {
	for i := range 30 {
		id := string([]byte{'a' + byte(i/10), '0' + byte(i%10)})
		src := source("north/s"+id, uint64(i), 0)
		p := api.PeerInfo{Peer: "peer-" + id, Org: "east", Node: "n" + id, Up: true, RTT: 0.01, Software: "fednode 1.0", Protocol: 1}
		q := netmon(uint64(i), 0)
		q.ID = "north/q" + id
		if i == 29 {
			src.Condition, src.Detail, p.Up, p.Cause = "disconnected", "no such file", false, "refused"
			q.Fragments[0].State, q.Fragments[0].Failure = api.FragmentStopped, "memory"
		}
		f.Current.Status.Sources = append(f.Current.Status.Sources, src)
		f.Current.Status.Queries = append(f.Current.Status.Queries, q)
		f.Current.Peers = append(f.Current.Peers, p)
	}
	f.Selected = Key{Query: "north/qb4", Fragment: "suspects"}
}
