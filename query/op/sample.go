package op

import (
	"fmt"
	"math"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// sampleKind declares sample: a share of the rows, chosen by a hash of some columns (of all and the stime, if none are
// named), so that every replica and every run chooses the same.
//
//	fraction = 0.1
//	by = ["src"]        # all rows of a source or none
func sampleKind() Kind {
	return Kind{Name: "sample", MinInputs: 1, MaxInputs: 1, Build: buildSample}
}

func buildSample(r *spec.Reader, in []Input) *Plan {
	before := markProblems(r)
	fraction := 0.0
	if v := r.Value("fraction", true, spec.Float, spec.Int); v != nil {
		fraction = v.Float
		if v.Kind == spec.Int {
			fraction = float64(v.Int)
		}
		if !(fraction > 0 && fraction <= 1) {
			r.Errorf("fraction", "0.1 keeps a tenth", "%v is not above 0 and at most 1", fraction)
		}
	}
	by := columnList(r, "by", false, in[0])
	if before.more(r) {
		return nil
	}
	withTime := len(by) == 0
	text := "all columns"
	if withTime {
		for i := range in[0].Schema.Len() {
			by = append(by, i)
		}
	} else {
		text = listNames(in[0].Schema, by)
	}
	limit := uint64(math.MaxUint64)
	if fraction < 1 {
		limit = uint64(math.Ldexp(fraction, 64))
	}
	return &Plan{
		Kind:             "sample",
		Ports:            []Port{{Schema: in[0].Schema}},
		OrderInsensitive: true,
		Convergence:      Stateless,
		State:            "none",
		Reads:            [][]string{nil},
		Detail:           fmt.Sprintf("%v by %s", fraction, text),
		New:              func() Operator { return &sample{by: by, withTime: withTime, limit: limit} },
	}
}

type sample struct {
	stateless
	by       []int
	withTime bool
	limit    uint64 // rows whose hash is at most this pass
	sel      []uint32
	hash     []uint64
	out      tuple.Batch
}

func (s *sample) Process(_ int, b *tuple.Batch, out Out) error {
	n := b.Rows()
	s.hash = s.hash[:0]
	for i := range n {
		h := uint64(0)
		if s.withTime {
			h = tuple.Mix64(uint64(b.Time[b.Row(i)]))
		}
		s.hash = append(s.hash, h)
	}
	for _, j := range s.by {
		c := &b.Cols[j]
		for i := range s.hash {
			s.hash[i] = c.HashInto(s.hash[i], b.Row(i))
		}
	}
	s.sel = s.sel[:0]
	for i, h := range s.hash {
		if h <= s.limit {
			s.sel = append(s.sel, uint32(b.Row(i)))
		}
	}
	s.count(n, len(s.sel))
	if len(s.sel) == 0 {
		return nil
	}
	s.out = tuple.Batch{Schema: b.Schema, Time: b.Time, Cols: b.Cols, Sel: s.sel}
	return out.Batch(0, &s.out)
}

func (s *sample) Fork() Operator { return &sample{by: s.by, withTime: s.withTime, limit: s.limit} }
