package expr

import "fednode/query/tuple"

// Counters are totals of what an evaluation turned into null.
type Counters struct {
	DivByZero uint64 // divisions and remainders by zero
	Overflow  uint64 // results beyond int64, the 18 digits of a decimal, or the longest string
}

// Eval evaluates one program. All its memory is reused from call to call.
type Eval struct {
	root     kernel
	counters Counters
	top      frame
	room     *Room
	inCodes  bool // while building: within a kernel that runs once a code
}

func newEval(p *plan) *Eval {
	e := &Eval{room: NewRoom(ownRoom)}
	e.root = e.build(p)
	return e
}

// Counters returns the totals since the Eval was made. A part that a row did not need (the right side of an AND that the
// left decided, a branch of CASE not taken) counts nothing for it.
func (e *Eval) Counters() Counters { return e.counters }

// Eval computes the program for the selected rows of b. The result is dense: one entry a selected row, in selection
// order. It is borrowed until the next call; where b.Sel is nil and the program is a column it is b's own.
func (e *Eval) Eval(b *tuple.Batch) *tuple.Column {
	e.top = frame{cols: b.Cols, sel: b.Sel, n: b.Rows()}
	return e.root.eval(&e.top)
}

// Select appends to dst the column rows of the selected rows of b for which the program, a condition, is true. The
// result may have the memory of dst, but not that of b.Sel.
func (e *Eval) Select(b *tuple.Batch, dst []uint32) []uint32 {
	e.top = frame{cols: b.Cols, sel: b.Sel, n: b.Rows()}
	return selectTrue(e.root, &e.top, dst)
}

// evalOne computes a program of constants.
func (e *Eval) evalOne() *tuple.Column {
	e.top = frame{n: 1}
	return e.root.eval(&e.top)
}

// frame is the rows that a kernel computes: n rows of the columns, those in sel or all where sel is nil.
type frame struct {
	cols []tuple.Column
	over *tuple.Column // stands for every column: the values of a dictionary, one a row
	sel  []uint32
	n    int
}

func (f *frame) col(i int) *tuple.Column {
	if f.over != nil {
		return f.over
	}
	return &f.cols[i]
}

// narrowed returns the frame of some of f's rows, by column row.
func (f *frame) narrowed(rows []uint32) frame {
	return frame{cols: f.cols, over: f.over, sel: rows, n: len(rows)}
}

// row returns the column row of the i-th row.
func (f *frame) row(i int) uint32 {
	if f.sel != nil {
		return f.sel[i]
	}
	return uint32(i)
}

// kernel computes one node for the rows of a frame. The result has f.n rows and is borrowed until the kernel is called
// again.
type kernel interface {
	eval(f *frame) *tuple.Column
}

// selector is a condition that finds its rows without an intermediate column.
type selector interface {
	kernel
	// selectTrue appends the column rows of f for which the condition is true, in f's order.
	selectTrue(f *frame, dst []uint32) []uint32
}

func selectTrue(k kernel, f *frame, dst []uint32) []uint32 {
	if s, ok := k.(selector); ok {
		return s.selectTrue(f, dst)
	}
	return pickTrue(k.eval(f), f, dst)
}

// pickTrue appends the rows of f whose entry in c is true.
func pickTrue(c *tuple.Column, f *frame, dst []uint32) []uint32 {
	at := len(dst)
	dst = growTo(dst, at+f.n)
	room, holds := dst[at:], c.Bool[:f.n]
	k := 0
	switch {
	case c.Valid != nil:
		for i, v := range holds {
			room[k] = f.row(i)
			k += bit(v && c.Valid[i])
		}
	case f.sel != nil:
		for i, v := range holds {
			room[k] = f.sel[i]
			k += bit(v)
		}
	default:
		for i, v := range holds {
			room[k] = uint32(i)
			k += bit(v)
		}
	}
	return dst[:at+k]
}

// bit is 1 for true; the compiler makes it a move, not a branch.
func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// growTo returns s with length n and its entries kept.
func growTo[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	t := make([]T, n, max(n, 2*cap(s)))
	copy(t, s)
	return t
}
