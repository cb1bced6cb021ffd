package sim

import "fednode/query/tuple"

// same remembers what the replicas of each fragment have numbered, so that two different rows under one id are noticed,
// whoever reads them. Ids count within a generation.
type same struct {
	r *Run
	// rows are hashes by id, of each generation of a stream; 0 where none has been given.
	rows map[numbering][]uint64
}

// numbering is a generation of a stream.
type numbering struct {
	stream     int32
	generation uint64
}

func newSame(r *Run) *same { return &same{r: r, rows: make(map[numbering][]uint64)} }

// emitted takes a stable frame of a replica.
func (s *same) emitted(a *replicaActor, output int, f *tuple.Frame) {
	stream := a.outputs[output]
	n := numbering{stream, f.Generation}
	rows := s.rows[n]
	for uint64(len(rows)) <= f.LastID {
		rows = append(rows, 0)
	}
	s.rows[n] = rows
	for i := range f.Batch.Rows() {
		id, h := f.FirstID+uint64(i), hashRow(f.Batch, f.Batch.Row(i))
		if rows[id] == 0 {
			rows[id] = h
		} else if rows[id] != h {
			s.r.breach("replicas give the same rows under the same ids", "%s numbers %s as row %d:%d of %s; another replica gave a different one",
				s.r.name(a.id), rowText(f.Batch, f.Batch.Row(i)), f.Generation, id, s.r.top.Streams[stream].Name)
			return
		}
	}
}

// hashRow hashes a row, never to 0.
func hashRow(b *tuple.Batch, row int) uint64 {
	h := mix(0x9e3779b97f4a7c15, uint64(b.Time[row]))
	for c := range b.Cols {
		col := &b.Cols[c]
		switch k := col.Type.Kind; {
		case col.IsNull(row):
			h = mix(h, 1)
		case k.IsInt():
			h = mix(h, uint64(col.Int[row]))
		case k.IsBinary():
			for _, x := range col.Bin(row) {
				h = mix(h, uint64(x))
			}
		default:
			for _, x := range col.AppendText(nil, row) {
				h = mix(h, uint64(x))
			}
		}
	}
	return h | 1
}

func mix(h, x uint64) uint64 {
	h = (h ^ x) * 0xbf58476d1ce4e5b9
	return h ^ h>>29
}
