package sim

import (
	"bytes"
	"fmt"

	"fednode/query"
	"fednode/query/tuple"
	"fednode/sunion"
	"fednode/testnet/sim/topology"
)

// reference is the run without failures: one copy of each fragment, fed from the same logs, in steps of stream time.
// Since neither batching nor delay change a result, it needs no clock.
type reference struct {
	top       *topology.Topology
	logs      []*sourceLog
	fragments []*calm
	// results are the frames of the client's stream that the client has not got past yet.
	results []*tuple.Frame
	done    []tuple.Time // fed up to here, by source
}

// calm is one fragment of the reference.
type calm struct {
	ref    *reference
	plan   *query.FragmentPlan
	inst   *query.Instance
	unions []*sunion.SUnion
	number []*sunion.SOutput
}

func newReference(t *topology.Topology, logs []*sourceLog) (*reference, error) {
	r := &reference{top: t, logs: logs}
	for range logs {
		r.done = append(r.done, tuple.MinTime)
	}
	for _, f := range t.Fragments {
		c := &calm{ref: r, plan: f}
		c.inst = query.NewInstance(f, c)
		for _, u := range f.Unions {
			su, err := sunion.New(sunion.Config{Schema: u.Schema, Inputs: len(u.Inputs), Bucket: f.Bucket, Unordered: u.Unordered})
			if err != nil {
				return nil, err
			}
			c.unions = append(c.unions, su)
		}
		for range f.Outputs {
			c.number = append(c.number, sunion.NewSOutput(1))
		}
		r.fragments = append(r.fragments, c)
	}
	return r, nil
}

// advance feeds everything that the logs hold.
func (r *reference) advance() error {
	rose := false
	for i, l := range r.logs {
		if l.boundary <= r.done[i] {
			continue
		}
		rose, r.done[i] = true, l.boundary
		for _, f := range l.accepted {
			if err := r.deliver(r.top.Streams[i].Name, f); err != nil {
				return err
			}
		}
		clear(l.accepted)
		l.accepted = l.accepted[:0]
		if err := r.deliver(r.top.Streams[i].Name, &tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: l.boundary}); err != nil {
			return err
		}
	}
	if !rose {
		return nil
	}
	// Fragments are in topological order, so one pass brings everything to its end.
	for _, c := range r.fragments {
		if err := c.release(); err != nil {
			return err
		}
	}
	return nil
}

// deliver files a frame wherever its stream is read.
func (r *reference) deliver(stream string, f *tuple.Frame) error {
	if stream == r.top.Streams[r.top.Output].Name && f.Kind == tuple.Insertion {
		r.results = append(r.results, f)
	}
	for _, c := range r.fragments {
		for n, u := range c.plan.Unions {
			for k, in := range u.Inputs {
				if c.plan.Inputs[in].Stream != stream {
					continue
				}
				if f.Kind == tuple.Boundary {
					c.unions[n].Boundary(k, f.Time)
				} else if err := c.unions[n].Insert(k, f); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *calm) release() error {
	for n, su := range c.unions {
		to := su.Stable()
		if to <= su.Released() {
			continue
		}
		if err := su.Release(to, func(b *tuple.Batch) error { return c.inst.Process(n, b) }); err != nil {
			return err
		}
		if err := c.inst.Boundary(n, to); err != nil {
			return err
		}
	}
	return nil
}

// Batch numbers results and hands them on.
func (c *calm) Batch(n int, b *tuple.Batch) error {
	if f := c.number[n].Batch(b); f != nil {
		return c.ref.deliver(c.plan.Outputs[n].Stream, f)
	}
	return nil
}

// Boundary hands a boundary on.
func (c *calm) Boundary(n int, t tuple.Time) error {
	if f := c.number[n].Boundary(t, 0); f != nil {
		return c.ref.deliver(c.plan.Outputs[n].Stream, f)
	}
	return nil
}

// check compares a stable frame of the client with the reference, row by row.
func (r *reference) check(f *tuple.Frame) error {
	for i := range f.Batch.Rows() {
		id := f.FirstID + uint64(i)
		if f.IDs != nil {
			id = f.IDs[i]
		}
		want, k, err := r.find(id)
		if err != nil {
			return err
		}
		if got, exp := f.Batch.Row(i), want.Batch.Row(k); !sameRow(f.Batch, got, want.Batch, exp) {
			return fmt.Errorf("row %d is %s, in the run without failures %s", id, rowText(f.Batch, got), rowText(want.Batch, exp))
		}
	}
	return nil
}

// find returns the frame and place of a result. Results before it are forgotten: the client does not go back.
func (r *reference) find(id uint64) (*tuple.Frame, int, error) {
	if n := len(r.results); n == 0 || r.results[n-1].LastID < id {
		if err := r.advance(); err != nil {
			return nil, 0, err
		}
	}
	for len(r.results) > 0 && r.results[0].LastID < id {
		r.results[0] = nil
		r.results = r.results[1:]
	}
	if len(r.results) == 0 || r.results[0].FirstID > id {
		return nil, 0, fmt.Errorf("row %d does not exist in the run without failures", id)
	}
	return r.results[0], int(id - r.results[0].FirstID), nil
}

// all returns every result so far, in order; nothing of it may have been forgotten.
func (r *reference) all() ([]*tuple.Frame, error) {
	err := r.advance()
	return r.results, err
}

// last returns the id of the last result below the boundary that the reference has reached.
func (r *reference) last() uint64 {
	c := r.fragments[r.top.Streams[r.top.Output].Fragment]
	return c.number[r.top.Streams[r.top.Output].Output].State().Next - 1
}

// sameRow compares two rows of one schema, byte for byte.
func sameRow(a *tuple.Batch, i int, b *tuple.Batch, k int) bool {
	if a.Time[i] != b.Time[k] || len(a.Cols) != len(b.Cols) {
		return false
	}
	for c := range a.Cols {
		x, y := &a.Cols[c], &b.Cols[c]
		if x.IsNull(i) != y.IsNull(k) {
			return false
		}
		if x.IsNull(i) {
			continue
		}
		switch kind := x.Type.Kind; {
		case kind.IsInt():
			if x.Int[i] != y.Int[k] {
				return false
			}
		case kind.IsBinary():
			if !bytes.Equal(x.Bin(i), y.Bin(k)) {
				return false
			}
		default:
			if !bytes.Equal(x.AppendText(nil, i), y.AppendText(nil, k)) {
				return false
			}
		}
	}
	return true
}

func rowText(b *tuple.Batch, i int) string {
	s := tuple.AppendTime(nil, b.Time[i])
	for c := range b.Cols {
		s = b.Cols[c].AppendText(append(s, ' '), i)
	}
	return string(s)
}

// missing returns the first result behind an id that a boundary passes, as far as the reference has got.
func (r *reference) missing(after uint64, boundary tuple.Time) (uint64, bool) {
	for _, f := range r.results {
		if f.LastID <= after {
			continue
		}
		id := max(f.FirstID, after+1)
		return id, f.Batch.Time[f.Batch.Row(int(id-f.FirstID))] < boundary
	}
	return 0, false
}
