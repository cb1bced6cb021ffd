package fragment

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/query/tuple"
	"fednode/storage"
	"fednode/storage/memstore"
)

// lanesQuery has two outputs that have nothing to do with each other.
const lanesQuery = `
[query]
name = "q"
max_delay = "inf"

[streams.a]
connector = "node"
stream = "north/a"
time = "ts"
columns = { ts = "timestamp", k = "string", v = "int64" }

[streams.b]
connector = "node"
stream = "south/b"
time = "ts"
columns = { ts = "timestamp", k = "string", v = "int64" }

[operators.sums]
kind = "aggregate"
input = "a"
window = { tumbling = "1s" }
group_by = ["k"]
aggregates = { n = "count()", s = "sum(v)", f = "first(v)" }

[operators.most]
kind = "aggregate"
input = "b"
window = { tumbling = "1s" }
group_by = ["k"]
aggregates = { n = "count()", s = "max(v)", f = "first(v)" }

[outputs.sums]
input = "sums"
connector = "node"

[outputs.most]
input = "most"
connector = "node"

[fragments.f]
operators = ["sums", "most"]
`

// lane is a replica of the lanes: what lies around it, and its present life.
type lane struct {
	t      *testing.T
	cfg    Config
	mates  *network // its own streams
	runner *Runner
	ended  chan error
	stop   func()
}

// start begins a life.
func (l *lane) start() {
	l.t.Helper()
	r, err := Open(l.cfg)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, o := range r.Outputs() {
		l.mates.put(o)
	}
	l.mates.put(r.State())
	ctx, cancel := context.WithCancel(l.t.Context())
	l.runner, l.ended, l.stop = r, make(chan error, 1), cancel
	go func() { l.ended <- r.Run(ctx) }()
}

// TestPartOfAStateIsTakenOver shows that two replicas, each of which has missed all of the input of one lane that nobody holds any
// more, take over that lane from each other and keep the one they have.
func TestPartOfAStateIsTakenOver(t *testing.T) {
	h := newHarness(t, 3000)
	streams := []string{"north/a", "south/b"}
	const sums, most = "north/q/sums", "north/q/most"
	mates := map[string]*network{"north/r1": {streams: make(map[string]flow.Stream)}, "north/r2": {streams: make(map[string]flow.Stream)}}
	var lanes []*lane
	var around []*network
	for n, self := range []string{"north/r1", "north/r2"} {
		near := &network{streams: map[string]flow.Stream{streams[n]: h.net.find(streams[n])}}
		around = append(around, near)
		points, err := storage.NewRecoveryPoints(memstore.New())
		if err != nil {
			t.Fatal(err)
		}
		cfg := joined{near}.apply(Config{Name: "north/q/f", Subscriber: self + "/q/f", Plan: planOf(t, lanesQuery), Points: Store{Points: points}, Clock: connect.SystemClock{}, Log: zap.NewNop(),
			PointInterval: 2 * time.Millisecond, Readers: map[string][]string{sums: {"sink"}, most: {"sink"}}})
		cfg.Self, cfg.Peers, cfg.Network = self, []string{[]string{"north/r2", "north/r1"}[n]}, pair{joined: joined{near}, at: mates}
		h.net.find(streams[n]).(*flow.Output).Forget("north/n1/q/sums")
		lanes = append(lanes, &lane{t: t, cfg: cfg, mates: mates[self]})
	}
	for _, l := range lanes {
		l.start()
		defer func() { l.stop(); <-l.ended }()
	}
	want := map[string][]string{sums: collectStream(t, mates["north/r1"], sums), most: collectStream(t, mates["north/r2"], most)}
	gone := func(stream string) bool {
		return !slices.ContainsFunc(h.net.find(stream).(*flow.Output).Entries().Held, func(e dcaa.Held) bool { return e.Frame.Kind == tuple.Insertion })
	}
	for patience := time.After(time.Minute); !gone(streams[0]) || !gone(streams[1]); {
		select {
		case <-time.After(time.Millisecond):
		case <-patience:
			t.Fatal("the inputs still hold what has been acknowledged")
		}
	}
	for n, near := range around {
		near.put(h.net.find(streams[1-n]))
	}
	// Whichever is done first lives on at once: the other one may want its state.
	for lives := []<-chan error{lanes[0].ended, lanes[1].ended}; lives[0] != nil || lives[1] != nil; {
		var n int
		var err error
		select {
		case err = <-lives[0]:
		case err = <-lives[1]:
			n = 1
		}
		if !errors.Is(err, ErrTransferred) {
			t.Fatalf("%s ended with %v, want to begin anew with a part of the other's state", lanes[n].cfg.Self, err)
		}
		lives[n] = nil
		lanes[n].start()
	}
	for _, l := range lanes {
		for stream, rows := range want {
			if got := collectStream(t, l.mates, stream); len(rows) == 0 || !slices.Equal(got, rows) {
				t.Errorf("%s gives %d results of %s, want %d", l.cfg.Self, len(got), stream, len(rows))
			}
		}
	}
}
