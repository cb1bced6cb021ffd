package node

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fednode/node/config"
	"fednode/query"
	"fednode/storage"
	"fednode/storage/memstore"
)

// TestEraseSpill shows that a query which has been stopped leaves nothing on disk of what its outputs could not hold in
// memory, and that nothing of another query goes.
func TestEraseSpill(t *testing.T) {
	points, err := storage.NewRecoveryPoints(memstore.New())
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{streams: newStreams("north", nil, time.Now), points: points, cfg: &config.Config{}}
	n.cfg.Node.Org, n.cfg.Node.DataDir = "north", t.TempDir()
	of := func(query string) *deployment {
		return &deployment{n: n, owner: "south", query: query, plan: planOf("f")}
	}
	stopped, other := of("stopped"), of("other")
	for _, d := range []*deployment{stopped, other} {
		if err := os.MkdirAll(filepath.Join(d.overflowDir("f"), "log"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := stopped.erase(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(stopped.overflowDir("f"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the stopped query's directory is left: %v", err)
	}
	if _, err := os.Stat(other.overflowDir("f")); err != nil {
		t.Errorf("the other query's directory is gone: %v", err)
	}
}

// planOf is a plan of fragments without inputs or outputs.
func planOf(names ...string) *query.Plan {
	p := &query.Plan{Diagram: &query.Diagram{}}
	for _, name := range names {
		p.Fragments = append(p.Fragments, &query.FragmentPlan{Name: name})
	}
	return p
}
