package enginebench

import (
	"encoding/binary"
	"hash/maphash"

	"fednode/query/tuple"
)

// Rows takes the results of either side. While it compares it folds every row into a digest; in timed runs it only
// counts them, so that neither side pays for more than producing its rows.
type Rows struct {
	digest *maphash.Hash // nil in timed runs
	n      int

	data *Data
	time []tuple.Time
	src  []uint32
	dst  []uint32
	bits []int64
	line []byte
}

// room returns output columns for up to n rows of Q1; take ends them.
func (r *Rows) room(n int) ([]tuple.Time, []uint32, []uint32, []int64) {
	if len(r.time) < n {
		r.time, r.src, r.dst, r.bits = make([]tuple.Time, n), make([]uint32, n), make([]uint32, n), make([]int64, n)
	}
	return r.time, r.src, r.dst, r.bits
}

func (r *Rows) take(n int) {
	r.n += n
	if r.digest == nil {
		return
	}
	b := r.data.Batches[0]
	for i := range n {
		r.begin(r.time[i])
		r.text(b.Cols[colSrc].Dict.At(r.src[i]))
		r.text(b.Cols[colDst].Dict.At(r.dst[i]))
		r.number(r.bits[i])
		r.end()
	}
}

// window takes one result of a window that begins at start.
func (r *Rows) window(start tuple.Time, key []byte, values ...int64) {
	r.n++
	if r.digest == nil {
		return
	}
	r.begin(start.Add(window - 1))
	r.number(int64(start))
	r.number(int64(start) + window)
	r.text(key)
	for _, v := range values {
		r.number(v)
	}
	r.end()
}

// batch takes results of the engine.
func (r *Rows) batch(b *tuple.Batch) error {
	r.n += b.Rows()
	if r.digest == nil {
		return nil
	}
	for i := range b.Rows() {
		row := b.Row(i)
		r.begin(b.Time[row])
		for c := range b.Cols {
			if col := &b.Cols[c]; col.Type.Kind.IsBinary() {
				r.text(col.Bin(row))
			} else {
				r.number(col.Int[row])
			}
		}
		r.end()
	}
	return nil
}

func (r *Rows) begin(t tuple.Time) {
	r.line = r.line[:0]
	r.number(int64(t))
}

func (r *Rows) number(v int64) { r.line = binary.LittleEndian.AppendUint64(r.line, uint64(v)) }

func (r *Rows) text(v []byte) {
	r.number(int64(len(v)))
	r.line = append(r.line, v...)
}

func (r *Rows) end() { r.digest.Write(r.line) }
