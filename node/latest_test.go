package node

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/api"
	"fednode/query/tuple"
)

// latest keeps what a tail of mode latest says: how many rows are stable, and the stimes of the tentative ones that stand.
type latest struct {
	mu     sync.Mutex
	stable uint64
	came   int // tentative rows
	stand  []tuple.Time
	fault  error
}

func (l *latest) take(f *tuple.Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var kept []tuple.Time
	switch f.Kind {
	case tuple.Insertion:
		if f.FirstID != l.stable+1 && l.fault == nil {
			l.fault = fmt.Errorf("id %d after %d", f.FirstID, l.stable)
		}
		l.stable = f.LastID
		return
	case tuple.Tentative:
		l.came += f.Batch.Rows()
		for i := range f.Batch.Rows() {
			l.stand = append(l.stand, f.Batch.Time[f.Batch.Row(i)])
		}
		return
	case tuple.Undo:
		for _, t := range l.stand {
			if t < f.Time {
				kept = append(kept, t)
			}
		}
	case tuple.RecDone:
		for _, t := range l.stand {
			if t >= f.Time {
				kept = append(kept, t)
			}
		}
	case tuple.Gap:
		l.fault = fmt.Errorf("%v", f)
		return
	default:
		return
	}
	l.stand = kept
}

func (l *latest) count() (stable uint64, tentative, standing int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stable, l.came, len(l.stand)
}

// broken is what was wrong with the stable rows.
func (l *latest) broken() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}

// tailLatest follows a stream in mode latest until the test ends.
func (m *party) tailLatest(stream string) *latest {
	l := &latest{}
	_, err := m.node.tail(stream+"x", api.TailFrom{})
	require.ErrorIs(m.t, err, api.ErrNotFound)
	require.ErrorContains(m.t, err, "it makes "+stream)
	s, err := m.node.tail(stream, api.TailFrom{Beginning: true, Latest: true})
	require.NoError(m.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	reading.Go(func() {
		defer s.Close()
		for {
			f, err := s.Next(ctx)
			if err != nil {
				return
			}
			l.take(f)
		}
	})
	m.t.Cleanup(func() { cancel(); reading.Wait() })
	return l
}

// TestLatest shows that a tail and a file of a running query have tentative rows while a source is away, that every one of
// them is voided or replaced when it is back, and that the stable rows are those of all sources, once.
func TestLatest(t *testing.T) {
	f := newFed(t, map[string]string{"north": tallies, "south": tallies + talliesExport})
	north, south := f.nodes["north"], f.nodes["south"]
	north.start()
	south.start()
	f.connect()
	out := filepath.Join(t.TempDir(), "out.csv")
	text := strings.Replace(bothSources, "input = \"some\"\nconnector = \"node\"\n", fmt.Sprintf("input = \"some\"\nconnector = \"file\"\npath = %q\ntentative = \"tag\"\n", out), 1)
	_, err := north.node.Deploy(t.Context(), "both.toml", []byte(text), false)
	require.NoError(t, err)
	south.pushTallies("south/tallies", "b", 1_000_001, 1_000_010)
	stop := north.trickle("north/tallies")
	f.eventually(func() bool { return north.node.streams.Find("north/both/out") != nil }, "the query runs")
	tail := north.tailLatest("north/both/out")
	f.eventually(func() bool { n, _, _ := tail.count(); return n > 50 }, "results come")
	south.stop()
	f.eventually(func() bool { _, n, _ := tail.count(); return n > 50 }, "tentative results come")
	f.eventually(func() bool { return strings.Contains(strings.Join(lines(out), "\n"), "\ntentative,") }, "they are in the file")
	south.start()
	f.connect()
	south.pushTallies("south/tallies", "b", 1_000_011, 1_000_020)
	f.eventually(func() bool { _, _, n := tail.count(); return n == 0 }, "no tentative row stands")
	ours := stop()
	f.eventually(func() bool { n, _, _ := tail.count(); return n == uint64(ours+20) }, "all rows are stable")
	require.NoError(t, tail.broken())

	var file fileRows
	f.eventually(func() bool { file = readTagged(lines(out)); return file.stable == ours+20 && file.standing == 0 }, "so they are in the file")
	require.Equal(t, ours+20, file.distinct)
	require.NotZero(t, file.tentative)
}

// fileRows are the rows of a tagged file.
type fileRows struct{ stable, distinct, tentative, standing int }

// readTagged reads a tagged file as the documentation says.
func readTagged(lines []string) (r fileRows) {
	seen := make(map[string]bool)
	var stand []string
	for _, line := range lines[min(1, len(lines)):] {
		state, rest, _ := strings.Cut(line, ",")
		stime, row, _ := strings.Cut(rest, ",")
		var kept []string
		switch state {
		case "stable":
			r.stable++
			seen[row] = true
			continue
		case "tentative":
			r.tentative++
			stand = append(stand, stime)
			continue
		case "undo":
			for _, t := range stand {
				if stime != "" && stampBefore(t, stime) {
					kept = append(kept, t)
				}
			}
		case "done":
			for _, t := range stand {
				if stime != "" && !stampBefore(t, stime) {
					kept = append(kept, t)
				}
			}
		}
		stand = kept
	}
	r.distinct, r.standing = len(seen), len(stand)
	return r
}

// stampBefore compares two times as the file writes them: without the digits that are 0.
func stampBefore(a, b string) bool {
	x, y := strings.TrimSuffix(a, "Z"), strings.TrimSuffix(b, "Z")
	return x < y
}
