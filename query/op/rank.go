package op

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// sortKind declares sort: the rows of each window in the order of some columns; ties stay in the order of the stream.
//
//	by = ["bytes"]      # or [{ column = "bytes", desc = true }]; nulls come first, last when descending
//	window = "same"
func sortKind() Kind {
	return Kind{Name: "sort", MinInputs: 1, MaxInputs: 1, Build: func(r *spec.Reader, in []Input) *Plan { return buildRank(r, in[0], "sort") }}
}

// topKind declares top: of each window the first n rows in the order of some columns, or the first n of each partition.
//
//	n = 10
//	by = [{ column = "bytes", desc = true }]
//	window = "same"      # the only one, and the default
//	partition_by = ["src"]
func topKind() Kind {
	return Kind{Name: "top", MinInputs: 1, MaxInputs: 1, Build: func(r *spec.Reader, in []Input) *Plan { return buildRank(r, in[0], "top") }}
}

// rankDecl is a checked declaration of either. Rows are in order of stime, window, partition, columns, arrival.
type rankDecl struct {
	schema *tuple.Schema
	group  []int // window_start, window_end and the partition
	by     []rankColumn
	n      int64 // rows of each group that pass; 0 for all
	limit  int64 // rows of a window, 0 for no limit
}

type rankColumn struct {
	column int
	desc   bool
}

func buildRank(r *spec.Reader, in Input, kind string) *Plan {
	before := markProblems(r)
	d := &rankDecl{schema: in.Schema, limit: r.Int("limit", 0, 1, 1<<40)}
	r.OneOf("window", "same", "same")
	start, end, _ := windowColumns(r, "window", in)
	d.group = []int{start, end}
	d.readBy(r, in)
	detail := "by " + d.byText()
	if kind == "top" {
		if r.Value("n", true, spec.Int) != nil {
			d.n = r.Int("n", 1, 1, 1<<31)
		}
		partition := columnList(r, "partition_by", false, in)
		d.group = append(d.group, partition...)
		detail = fmt.Sprintf("%d %s", d.n, detail)
		if len(partition) > 0 {
			detail += " of each " + listNames(in.Schema, partition)
		}
	}
	if before.more(r) {
		return nil
	}
	return &Plan{
		Kind:        kind,
		Ports:       []Port{{Schema: in.Schema}},
		Convergence: Convergent,
		Span:        1,
		State:       "rows of one window",
		Reads:       [][]string{nil},
		Detail:      detail,
		New:         func() Operator { return newRank(d) },
	}
}

func (d *rankDecl) readBy(r *spec.Reader, in Input) {
	v := r.Value("by", true, spec.Array, spec.String, spec.TableKind)
	if v == nil {
		return
	}
	list := v.Array
	if v.Kind != spec.Array {
		list = []*spec.Value{v}
	}
	if len(list) == 0 {
		r.Errorf("by", "name at least one column", "`by` is empty")
	}
	for _, e := range list {
		switch e.Kind {
		case spec.String:
			if c, ok := columnAt(r, "by", e, in); ok {
				d.by = append(d.by, rankColumn{column: c})
			}
		case spec.TableKind:
			sub := spec.Read(e.Table, r.P)
			if name, ok := sub.NeedString("column"); ok {
				if c, ok := columnNamed(r, "by", e.Table.PosOf("column"), name, in); ok {
					d.by = append(d.by, rankColumn{column: c, desc: sub.Bool("desc", false)})
				}
			}
			sub.Bool("desc", false)
			sub.Done()
		default:
			r.P.Add(e.Pos, r.T.KeyPath("by"), "", "expected a column's name or { column, desc }, got %s", e.Kind)
		}
	}
}

func (d *rankDecl) byText() string {
	names := make([]string, len(d.by))
	for i, c := range d.by {
		names[i] = d.schema.Field(c.column).Name
		if c.desc {
			names[i] += " desc"
		}
	}
	return strings.Join(names, ", ")
}

// rank holds the rows of an instant until a later row or the boundary says that it is complete: rows of a window have
// one stime.
type rank struct {
	d        *rankDecl
	log      *rowLog
	order    []int64 // scratch: positions
	rows     *assembly
	counters Counters
}

func newRank(d *rankDecl) *rank {
	return &rank{d: d, log: newRowLog(d.schema), rows: newAssembly(d.schema)}
}

func (k *rank) Process(_ int, b *tuple.Batch, out Out) error {
	n := b.Rows()
	if n == 0 {
		return nil
	}
	k.counters.RowsIn += uint64(n)
	k.log.add(b)
	if err := k.release(b.Time[b.Row(n-1)], out); err != nil {
		return err
	}
	if k.d.limit > 0 && k.log.size() > k.d.limit {
		return &LimitError{What: "rows of a window", Limit: k.d.limit}
	}
	return nil
}

func (k *rank) Boundary(_ int, t tuple.Time, out Out) (tuple.Time, error) {
	return t, k.release(t, out)
}

// release emits every instant before limit.
func (k *rank) release(limit tuple.Time, out Out) error {
	for k.log.size() > 0 {
		at := k.log.time(k.log.first)
		if at >= limit {
			break
		}
		k.order = k.order[:0]
		for p := k.log.first; p < k.log.next && k.log.time(p) == at; p++ {
			k.order = append(k.order, p)
		}
		end := k.log.first + int64(len(k.order))
		slices.SortFunc(k.order, k.compare)
		if err := k.emit(out); err != nil {
			return err
		}
		k.log.drop(end)
	}
	return k.rows.flush(0, out)
}

func (k *rank) compare(x, y int64) int {
	if c := k.compareGroups(x, y); c != 0 {
		return c
	}
	a, i := k.log.at(x)
	b, j := k.log.at(y)
	for _, by := range k.d.by {
		if c := a.Cols[by.column].Compare(i, &b.Cols[by.column], j); c != 0 {
			if by.desc {
				return -c
			}
			return c
		}
	}
	return cmp.Compare(x, y)
}

func (k *rank) compareGroups(x, y int64) int {
	a, i := k.log.at(x)
	b, j := k.log.at(y)
	for _, g := range k.d.group {
		if c := a.Cols[g].Compare(i, &b.Cols[g], j); c != 0 {
			return c
		}
	}
	return 0
}

// emit hands on the ordered rows of one instant, of each group the first n.
func (k *rank) emit(out Out) error {
	kept, taken := k.order[:0], int64(0)
	var last int64
	for i, p := range k.order {
		if i > 0 && k.d.n > 0 && k.compareGroups(last, p) != 0 {
			taken = 0
		}
		last = p
		if taken++; k.d.n == 0 || taken <= k.d.n {
			kept = append(kept, p)
		}
	}
	k.counters.RowsOut += uint64(len(kept))
	for len(kept) > 0 {
		n := min(len(kept), assemblyStep)
		k.rows.takePositions(k.log, kept[:n])
		kept = kept[n:]
		if k.rows.full() {
			if err := k.rows.flush(0, out); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *rank) Snapshot(e *tuple.Encoder) { k.log.snapshot(e) }

func (k *rank) Restore(d *tuple.Decoder) { k.log.restore(d) }

func (k *rank) Fork() Operator {
	return &rank{d: k.d, log: k.log.fork(), rows: newAssembly(k.d.schema)}
}

func (k *rank) StateBytes() int64 { return k.log.bytes() }

func (k *rank) Counters() Counters { return k.counters }
