package op

import "fednode/query/tuple"

// assemblyRows is about how many rows an emitted batch of gathered rows has, assemblyStep how many are added between two
// looks at the size of the dictionaries: so many rows of the largest size stay far below what a dictionary can hold.
const (
	assemblyRows = 4096
	assemblyStep = 1024
)

// assembly puts rows of several batches together in one batch with dictionaries of its own. Columns are filled one by
// one; every column has the same number of rows before a flush.
type assembly struct {
	b       tuple.Batch
	recoded []*recoder // nil but for binary columns and lists of binary values
	all     []uint32   // scratch: element numbers of lists
	sel     []uint32   // scratch of whoever fills the assembly
}

func newAssembly(s *tuple.Schema) *assembly {
	a := &assembly{recoded: make([]*recoder, s.Len())}
	a.b = tuple.Batch{Schema: s, Cols: make([]tuple.Column, s.Len())}
	for j, f := range s.Fields() {
		a.b.Cols[j].Reset(f.Type)
		if f.Type.Kind.IsBinary() || f.Type.Kind == tuple.List && f.Type.Elem.IsBinary() {
			a.recoded[j] = newRecoder()
		}
	}
	return a
}

// rows is the number of rows whose stime has been added.
func (a *assembly) rows() int { return len(a.b.Time) }

// times adds the stimes of rows; nil means all.
func (a *assembly) times(src []tuple.Time, rows []uint32) {
	if rows == nil {
		a.b.Time = append(a.b.Time, src...)
		return
	}
	for _, i := range rows {
		a.b.Time = append(a.b.Time, src[i])
	}
}

// null adds one null to column j.
func (a *assembly) null(j int) { a.b.Cols[j].AppendNull() }

// int adds one value to column j, one whose kind IsInt.
func (a *assembly) int(j int, v int64) {
	c := &a.b.Cols[j]
	c.Int = append(c.Int, v)
	if c.Valid != nil {
		c.Valid = append(c.Valid, true)
	}
}

// text adds n times one value to binary column j.
func (a *assembly) text(j int, v []byte, n int) {
	dst := &a.b.Cols[j]
	code := a.recoded[j].dict.Intern(v)
	for range n {
		dst.Code = append(dst.Code, code)
	}
	if dst.Valid != nil {
		dst.Valid = appendTrue(dst.Valid, n)
	}
}

// full reports whether it is time to flush: rows enough, or a dictionary that has grown large.
func (a *assembly) full() bool {
	if len(a.b.Time) >= assemblyRows {
		return true
	}
	for _, r := range a.recoded {
		if r != nil && r.dict.Size() >= tuple.DictMaxBytes {
			return true
		}
	}
	return false
}

// batch returns the rows so far, borrowed until the next change.
func (a *assembly) batch() *tuple.Batch {
	for j, r := range a.recoded {
		if r == nil {
			continue
		}
		c := &a.b.Cols[j]
		if c.Type.Kind == tuple.List {
			c = c.Elem
		}
		c.Dict = r.dict.Dict()
	}
	return &a.b
}

// flush emits the rows so far, if any, and starts anew.
func (a *assembly) flush(port int, out Out) error {
	if a.rows() == 0 {
		return nil
	}
	err := out.Batch(port, a.batch())
	a.clear()
	return err
}

func (a *assembly) clear() {
	a.b.Time = a.b.Time[:0]
	for j := range a.b.Cols {
		a.b.Cols[j].Reset(a.b.Schema.Field(j).Type)
		if r := a.recoded[j]; r != nil {
			r.reset()
		}
	}
}
