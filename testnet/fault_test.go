package testnet

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/testnet/relay"
)

// TestParseFault: every fault is written as it is read.
func TestParseFault(t *testing.T) {
	for _, text := range []string{
		"kill south", "lose south", "damage core#1", "ambush south write", "ambush north-2 transfer", "ambush core#2 core#1 transfer", "end south", "restart north-2", "stop south for 5s", "cont south", "partition south for 30s", "oneway north south",
		"delay north south 40ms", "loss south 20% for 1m0s", "clock east +30s", "clock east -1.5s", "disk-full east", "heal", "heal south",
		"pause south for 2s", "resume south",
	} {
		f, err := ParseFault(strings.Fields(text))
		require.NoError(t, err, text)
		require.Equal(t, text, f.String())
	}
	for text, says := range map[string]string{
		"":                  "expected a fault: kill",
		"explode":           "there is no fault `explode`",
		"kil south":         "did you mean",
		"kill":              "expected `kill NODE`",
		"kill a b":          "expected `kill NODE`",
		"kill a for 3s":     "does not last",
		"ambush a b write":  "nobody gives a what it writes; leave `b` out",
		"ambush a b":        "`b` is no moment; expected write or transfer",
		"partition a for x": "`x` is no duration",
		"partition a for":   "expected `partition NODE [for 10s]`",
		"loss a 120%":       "is no share",
		"loss a 20":         "is no share",
		"loss south":        "loss: `south` is no share of packets such as 20%; it is written `loss NODE [NODE] 20%",
		"delay":             "expected `delay",
		"delay a b c 1s":    "expected `delay",
		"delay a -3s":       "is no duration",
		"clock a 30 days":   "is no duration",
	} {
		_, err := ParseFault(strings.Fields(text))
		require.ErrorIs(t, err, ErrSpec, text)
		require.ErrorContains(t, err, says, text)
	}
}

// FuzzParseFault: what is read is written as what is read again.
func FuzzParseFault(f *testing.F) {
	f.Add("loss a b 20% for 3s")
	f.Add("clock a -1h")
	f.Fuzz(func(t *testing.T, text string) {
		x, err := ParseFault(strings.Fields(text))
		if err != nil {
			return
		}
		y, err := ParseFault(strings.Fields(x.String()))
		require.NoError(t, err)
		require.Equal(t, x.Kind, y.Kind)
		require.Equal(t, x.Targets, y.Targets)
	})
}

// TestWays: what faults make of the ways between nodes 0 and 1 of one organisation and 2 of another.
func TestWays(t *testing.T) {
	part := &inForce{Fault: Fault{Kind: FaultPartition}, nodes: [][]int{{0, 1}}}
	oneway := &inForce{Fault: Fault{Kind: FaultOneway}, nodes: [][]int{{2}, {0}}}
	loss := &inForce{Fault: Fault{Kind: FaultLoss, Share: 0.5}, nodes: [][]int{{0}}}
	delay := &inForce{Fault: Fault{Kind: FaultDelay, Value: time.Second}, nodes: [][]int{{0}, {2}}}
	cut := relay.State{Cut: true}
	require.Equal(t, map[relay.Way]relay.State{{From: 0, To: 2}: cut, {From: 1, To: 2}: cut, {From: 2, To: 0}: cut, {From: 2, To: 1}: cut},
		waysOf([]*inForce{part}, 3), "nodes of one side reach each other")
	require.Equal(t, map[relay.Way]relay.State{{From: 2, To: 0}: cut}, waysOf([]*inForce{oneway}, 3))
	late := relay.State{Delay: time.Second}
	require.Equal(t, map[relay.Way]relay.State{{From: 0, To: 2}: late, {From: 2, To: 0}: late}, waysOf([]*inForce{delay}, 3))
	ways := waysOf([]*inForce{loss, loss, delay}, 3)
	require.Equal(t, relay.State{Loss: 0.75}, ways[relay.Way{From: 1, To: 0}], "two faults add up")
	require.Equal(t, relay.State{Loss: 0.75, Delay: time.Second}, ways[relay.Way{From: 0, To: 2}])
	require.Empty(t, waysOf(nil, 3))
}

// TestFeed: a live source has the rows that are due, older under lag, and none of a pause.
func TestFeed(t *testing.T) {
	path := t.TempDir() + "/conns.csv"
	f, err := newFeed(path, "south", feedOptions{rate: 10, step: feedStep})
	require.NoError(t, err)
	at := time.UnixMicro(1_000_000_000)
	require.NoError(t, f.write(at, at.Add(250*time.Millisecond)))
	f.pause(true)
	require.NoError(t, f.write(at.Add(250*time.Millisecond), at.Add(450*time.Millisecond)))
	f.pause(false)
	f.lag = time.Second
	require.NoError(t, f.write(at.Add(450*time.Millisecond), at.Add(500*time.Millisecond)))
	require.NoError(t, f.end())
	require.NoError(t, f.end(), "a second time")
	text, err := readLimited(path, 1000)
	require.NoError(t, err)
	require.Equal(t, "ts,src,n\n1000210000,south,1\n1000210100,south,2\n999500000,south,3\n", string(text), "late rows bear a later time")
}

// TestFeedRate: a source whose rate is changed goes on with other distances, and with no time twice.
func TestFeedRate(t *testing.T) {
	path := t.TempDir() + "/conns.csv"
	f, err := newFeed(path, "s", feedOptions{rate: 10, step: feedStep})
	require.NoError(t, err)
	at := time.UnixMicro(1_000_000_000)
	require.NoError(t, f.write(at, at.Add(100*time.Millisecond)))
	f.setRate(100_000, stepOf(100_000, 3))
	require.NoError(t, f.write(at.Add(100*time.Millisecond), at.Add(110*time.Millisecond)))
	require.Equal(t, int64(1+1000), f.written())
	f.setRate(1_000_000, stepOf(1_000_000, 3))
	require.NoError(t, f.write(at.Add(110*time.Millisecond), at.Add(111*time.Millisecond)))
	require.Equal(t, int64(1+1000+1000), f.written(), "several rows bear the same time")
	f.setRate(10, stepOf(10, 3))
	require.NoError(t, f.write(at.Add(111*time.Millisecond), at.Add(200*time.Millisecond)))
	require.Equal(t, int64(1+1000+1000+1), f.written())
	require.NoError(t, f.end())
}

// TestFeedOfManyRows: at a high rate times are narrower, no two alike and none to come, also after a stall.
func TestFeedOfManyRows(t *testing.T) {
	path := t.TempDir() + "/conns.csv"
	step := stepOf(200_000, 3)
	require.Equal(t, 3*time.Microsecond, step)
	f, err := newFeed(path, "s", feedOptions{rate: 200_000, step: step})
	require.NoError(t, err)
	at := time.UnixMicro(1_000_000_000)
	require.NoError(t, f.write(at, at.Add(20*time.Millisecond)))
	require.Equal(t, int64(4000), f.rows)
	until := at.Add(time.Second)
	require.NoError(t, f.write(at.Add(20*time.Millisecond), until), "a stall of 0.98 s")
	require.Less(t, f.rows, int64(4000+15_000), "what finds no room behind the stall is left out")
	require.NoError(t, f.end())
	text, err := readLimited(path, 1<<20)
	require.NoError(t, err)
	last := int64(0)
	for line := range strings.Lines(string(text)) {
		when, _, _ := strings.Cut(line, ",")
		if when == "ts" {
			continue
		}
		us, err := strconv.ParseInt(when, 10, 64)
		require.NoError(t, err)
		require.Greater(t, us, last)
		require.LessOrEqual(t, us, until.UnixMicro())
		last = us
	}
}
