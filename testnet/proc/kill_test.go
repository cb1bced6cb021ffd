package proc

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/testnet"
)

// kills is how often a process is killed in all.
const kills = 20

// TestProcessKill kills every process in turn, at moments drawn from a seed, while data go through, and starts it again.
// The results, and their ids, are those of an undisturbed run; no row is lost or there twice.
func TestProcessKill(t *testing.T) {
	const seed = 4
	s := testnet.Default()
	s.Query, s.Data = filepath.Join("testdata", "netmon.toml"), []string{connections(t, seed, 3_000_000)}
	calm := up(t, s, nil)
	calmRows := follow(t, calm, "per_source")
	awaitView(t, calm, "all data are through", done)
	calmFollowed := calmRows.check(t, homeFile(calm, "per_source.csv"))

	rng := rand.New(rand.NewPCG(seed, 2))
	killed, rounds, followed := 0, 0, 0
	for killed < kills {
		rounds++
		net := up(t, s, nil)
		rows := follow(t, net, "per_source")
		for ; killed < kills; killed++ {
			pause(t, time.Duration(20+rng.IntN(180))*time.Millisecond)
			if v := net.View(t.Context()); v.Done {
				break // the next round goes on
			}
			node := net.Nodes()[killed%len(net.Nodes())]
			require.NoError(t, net.Kill(node))
			require.NoError(t, net.Restart(t.Context(), node), "kill %d", killed)
		}
		awaitView(t, net, fmt.Sprintf("all data are through after %d kills", killed), done)
		for _, o := range []string{"suspects.csv", "per_source.csv"} {
			require.Equal(t, sum(t, homeFile(calm, o)), sum(t, homeFile(net, o)), o)
		}
		followed += rows.check(t, homeFile(net, "per_source.csv"))
		require.NoError(t, net.Close())
	}
	t.Logf("%d kills in %d rounds, %d and %d rows followed", killed, rounds, calmFollowed, followed)
}

// pause lets a network work for a while: the moment of a kill is part of the input.
func pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
		require.NoError(t, t.Context().Err())
	}
}

// follower follows an output over the API as a client does that goes on after the last row it knows.
type follower struct {
	mu   sync.Mutex
	rows map[uint64]string // by id
	last string            // id, with its generation

	highest uint64
	// broke is why the tail was taken up again last.
	broke error
	err   error
	done  chan struct{}
}

func follow(t *testing.T, net *testnet.Net, output string) *follower {
	f := &follower{last: "beginning", done: make(chan struct{}), rows: make(map[uint64]string)}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); <-f.done })
	go func() {
		defer close(f.done)
		for ctx.Err() == nil {
			err := net.Tail(ctx, output, f.last, f.row)
			if err == nil {
				return
			}
			f.mu.Lock()
			f.broke = err
			f.mu.Unlock()
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}()
	return f
}

// row takes a row. An id comes once, and ids rise.
func (f *follower) row(id string, data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var key struct {
		ID uint64 `json:"id"`
	}
	err := json.Unmarshal(data, &key)
	if err == nil && key.ID <= f.highest {
		err = fmt.Errorf("id %d (%s) after %d: %s", key.ID, id, f.highest, data)
	}
	if f.err == nil {
		f.err = err
	}
	f.rows[key.ID], f.last, f.highest = string(data), id, key.ID
	return nil
}

// check holds what was followed, once the output has ended, to what a sink wrote: the row of an id is the line of that
// number. A tail holds nothing back, so it may have missed rows; those it has are right. It returns how many it has.
func (f *follower) check(t *testing.T, path string) int {
	t.Helper()
	select {
	case <-f.done:
	case <-time.After(patient):
		f.mu.Lock()
		defer f.mu.Unlock()
		require.Failf(t, "the tail does not end", "%d rows, the last %s; broken off before by: %v", len(f.rows), f.last, f.broke)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	require.NoError(t, f.err)
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	for id, row := range f.rows {
		var r map[string]any
		require.NoError(t, json.Unmarshal([]byte(row), &r))
		require.Less(t, id, uint64(len(records)))
		for i, name := range records[0] {
			require.Equal(t, records[id][i], fmt.Sprint(r[name]), "%s of id %d", name, id)
		}
	}
	return len(f.rows)
}
