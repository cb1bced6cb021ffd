package generate

import (
	"fednode/node/connect"
	"fednode/query/tuple"
)

// columns collects the rows of a block. The texts and addresses of a generator are few, so each field has one
// dictionary for its whole life.
type columns struct {
	stream *connect.Stream
	shape  *shape
	cols   []tuple.Column
	dicts  []*words // by column; nil if it is not binary
	time   []tuple.Time
	timed  bool
}

// words gives the codes of a dictionary for the keys that a maker uses. Before the map stands a table with one place
// for each low end of a key, which most rows find theirs in.
type words struct {
	text  func(key int64) []byte
	near  []nearWord
	codes map[int64]uint32
	dict  *tuple.DictBuilder
}

type nearWord struct {
	key  int64
	code uint32 // +1; 0 is empty
}

// nearWords is the number of places, a power of two.
const nearWords = 1 << 14

func newColumns(s *connect.Stream, sh *shape) *columns {
	c := &columns{stream: s, shape: sh, dicts: make([]*words, len(s.Columns)), timed: s.TimeColumn >= 0}
	for i, j := range sh.columns {
		f := sh.kind.fields[j]
		if f.typ.Kind.IsBinary() {
			c.dicts[i] = &words{text: textOf(f), near: make([]nearWord, nearWords), codes: make(map[int64]uint32), dict: tuple.NewDictBuilder()}
		}
	}
	return c
}

func (w *words) code(key int64) uint32 {
	place := &w.near[uint64(key)%nearWords]
	if place.key == key && place.code != 0 {
		return place.code - 1
	}
	code, ok := w.codes[key]
	if !ok {
		code = w.dict.Intern(w.text(key))
		w.codes[key] = code
	}
	*place = nearWord{key, code + 1}
	return code
}

func (c *columns) start(rows int) {
	c.cols = make([]tuple.Column, len(c.shape.columns))
	c.time = make([]tuple.Time, 0, rows)
	for i := range c.cols {
		col := &c.cols[i]
		switch col.Type = c.stream.Columns[i].Type; {
		case col.Type.Kind == tuple.Float64:
			col.Float = make([]float64, 0, rows)
		case col.Type.Kind.IsBinary():
			col.Code = make([]uint32, 0, rows)
		default:
			col.Int = make([]int64, 0, rows)
		}
	}
}

func (c *columns) append(v *values) {
	for i, j := range c.shape.columns {
		col := &c.cols[i]
		switch {
		case v.null[j]:
			col.AppendNull()
			continue
		case c.dicts[i] != nil:
			col.Code = append(col.Code, c.dicts[i].code(v.ints[j]))
		case col.Type.Kind == tuple.Float64:
			col.Float = append(col.Float, v.floats[j])
		default:
			col.Int = append(col.Int, v.ints[j])
		}
		if col.Valid != nil {
			col.Valid = append(col.Valid, true)
		}
	}
	t := tuple.Time(0)
	if c.timed {
		t = tuple.Time(v.ints[0])
	}
	c.time = append(c.time, t)
}

func (c *columns) take() *tuple.Batch {
	for i, w := range c.dicts {
		if w != nil {
			c.cols[i].Dict = w.dict.Dict()
			if w.dict.Full() {
				w.dict.Reset()
				clear(w.codes)
				clear(w.near)
			}
		}
	}
	return &tuple.Batch{Schema: c.stream.Schema, Time: c.time, Cols: c.cols}
}
