package export

import (
	"fmt"
	"slices"
	"time"

	"fednode/query/expr"
	"fednode/query/tuple"
)

// Export lets one stream leave, for some organisations.
type Export struct {
	Name   string
	Stream string // full name
	// To lists the organisations; nobody else gets it.
	To []string
	// Where holds rows back; nil holds none back.
	Where *expr.Program
	// Columns that leave, in the stream's order; others do not.
	Columns []Column
	Purpose string
	// Expires ends the export; the zero time is never.
	Expires time.Time
	// History is how far back from the stream's head a partner may begin in microseconds of stream time; 0 lets it read all
	// that is held.
	History int64
	// Rate limits what one partner is sent; zero fields do not.
	Rate Rate
}

// Rate is rows and bytes a second.
type Rate struct {
	Rows  float64
	Bytes float64
}

// DeniedError says why a stream does not leave for an organisation.
type DeniedError struct {
	Stream string
	Org    string
	Why    string
}

// Error names the stream, the organisation and the missing clause.
func (e *DeniedError) Error() string {
	return fmt.Sprintf("stream %s does not leave for %s: %s", e.Stream, e.Org, e.Why)
}

// Allows returns nil if the export lets the stream leave for an organisation at a time.
func (x *Export) Allows(org string, now time.Time) error {
	switch {
	case !slices.Contains(x.To, org):
		return &DeniedError{x.Stream, org, fmt.Sprintf("exports.%s.to does not name it", x.Name)}
	case !x.Expires.IsZero() && !now.Before(x.Expires):
		return &DeniedError{x.Stream, org, fmt.Sprintf("exports.%s expired on %s", x.Name, x.Expires.Format(time.DateOnly))}
	}
	return nil
}

// Schema returns what a partner sees of a stream.
func (x *Export) Schema(s *tuple.Schema) (*tuple.Schema, error) {
	v, err := x.View(s)
	if err != nil {
		return nil, err
	}
	return v.schema, nil
}

// View applies an export to the frames of one subscription.
type View struct {
	export *Export
	// Since holds back rows with a smaller stime: what lies further back than the export's history.
	Since  tuple.Time
	schema *tuple.Schema
	where  *expr.Eval
	cols   []viewColumn
	sel    []uint32
	// run is the run of the tentative rows seen last, next the number of its next row that leaves.
	run  tuple.Run
	next uint64
}

// viewColumn is one column on its way out.
type viewColumn struct {
	from int
	to   transform // nil keeps the values
	// Of the dictionary seen last: one more than the new code of each of its codes, 0 for those that no row has used.
	line  *tuple.Lineage
	codes []uint32
	dict  *tuple.DictBuilder
	buf   []byte
}

// View returns a view of a stream with schema s.
func (x *Export) View(s *tuple.Schema) (*View, error) {
	v := &View{export: x, Since: tuple.MinTime}
	if x.Where != nil {
		v.where = x.Where.NewEval()
	}
	var fields []tuple.Field
	for _, c := range x.Columns {
		i, ok := s.Index(c.Name)
		if !ok {
			return nil, fmt.Errorf("export %s: stream %s has no column %s", x.Name, x.Stream, c.Name)
		}
		t, f, err := newTransform(c, s.Field(i))
		if err != nil {
			return nil, fmt.Errorf("export %s: %w", x.Name, err)
		}
		fields = append(fields, f)
		v.cols = append(v.cols, viewColumn{from: i, to: t, dict: tuple.NewDictBuilder()})
	}
	schema, err := tuple.NewSchema(fields...)
	if err != nil {
		return nil, fmt.Errorf("export %s: %w", x.Name, err)
	}
	v.schema = schema
	return v, nil
}

// Schema returns what the subscription sees.
func (v *View) Schema() *tuple.Schema { return v.schema }

// Frame returns what leaves of an owned frame, owned. An INSERTION of which all rows are held back still leaves, since its
// ids are accounted for. Of TENTATIVE rows nobody accounts for ids: those that leave are numbered anew, and nil is returned
// if none does. What is missing, and why rows are lost, leaves without the names and places behind it.
func (v *View) Frame(f *tuple.Frame) *tuple.Frame {
	f = v.export.Unnamed(f)
	if f.Batch == nil {
		return f
	}
	out := *f
	b := f.Batch
	sel := v.rows(b)
	if f.Kind == tuple.Tentative {
		if len(sel) == 0 {
			return nil
		}
		v.number(&out, len(sel))
	}
	if len(sel) < b.Rows() {
		if f.Kind != tuple.Tentative {
			out.IDs = idsOf(f, sel)
		}
		b = &tuple.Batch{Schema: b.Schema, Time: b.Time, Cols: b.Cols, Sel: sel}
	}
	out.Batch = v.batch(b)
	return &out
}

// Unnamed returns a frame that tells of no other stream than the one that leaves: what that is made from may belong to
// somebody who has not said that its name may be told, and the reason of a gap may hold a path of this machine. Nor has it a
// checksum of what stays. Rows are as they were.
func (x *Export) Unnamed(f *tuple.Frame) *tuple.Frame {
	out := *f
	switch {
	case f.Sum != 0:
		out.Sum = 0 // it is of rows and columns that may not leave
	case f.Kind == tuple.Gap:
		out.Reason = "rows of " + x.Stream + " are lost"
	case len(f.Missing) > 0:
		since := f.Missing[0].Since
		for _, m := range f.Missing[1:] {
			since = min(since, m.Since)
		}
		out.Missing = []tuple.Missing{{Stream: x.Stream, Since: since}}
	default:
		return f
	}
	return &out
}

// number numbers so many tentative rows on in their run.
func (v *View) number(f *tuple.Frame, rows int) {
	if f.Run != v.run {
		v.run, v.next = f.Run, f.FirstID
	}
	f.FirstID, f.LastID = v.next, v.next+uint64(rows)-1
	v.next += uint64(rows)
}

// rows returns the column rows that leave.
func (v *View) rows(b *tuple.Batch) []uint32 {
	v.sel = v.sel[:0]
	if v.where != nil {
		v.sel = v.where.Select(b, v.sel)
	} else {
		for i := range b.Rows() {
			v.sel = append(v.sel, uint32(b.Row(i)))
		}
	}
	if v.Since == tuple.MinTime {
		return v.sel
	}
	kept := v.sel[:0]
	for _, r := range v.sel {
		if b.Time[r] >= v.Since {
			kept = append(kept, r)
		}
	}
	return kept
}

// Limit sets how far back the subscription may read, given where the stream stands when it begins.
func (v *View) Limit(x *Export, head tuple.Time) {
	if x.History > 0 && head != tuple.MinTime && head != tuple.MaxTime {
		v.Since = head.Add(-x.History)
	}
}

// idsOf returns the ids of the column rows sel. Selected rows of an owned frame are dense, or name their rows.
func idsOf(f *tuple.Frame, sel []uint32) []uint64 {
	place := make(map[uint32]int)
	if f.Batch.Sel != nil {
		for i, r := range f.Batch.Sel {
			place[r] = i
		}
	}
	ids := make([]uint64, len(sel))
	for i, r := range sel {
		at := int(r)
		if f.Batch.Sel != nil {
			at = place[r]
		}
		if f.IDs != nil {
			ids[i] = f.IDs[at]
		} else {
			ids[i] = f.FirstID + uint64(at)
		}
	}
	return ids
}

// batch copies the selected rows and the columns that leave.
func (v *View) batch(b *tuple.Batch) *tuple.Batch {
	out := &tuple.Batch{Schema: v.schema, Cols: make([]tuple.Column, len(v.cols))}
	n := b.Rows()
	out.Time = make([]tuple.Time, n)
	for i := range n {
		out.Time[i] = b.Time[b.Row(i)]
	}
	for i := range v.cols {
		src := &b.Cols[v.cols[i].from]
		dst := &out.Cols[i]
		dst.Type = src.Type
		src.Gather(dst, b.Sel)
		if src.Type.Kind.IsBinary() {
			v.cols[i].apply(dst, v.schema.Field(i).Type)
		}
	}
	return out
}

// apply replaces the values of a binary column, and its dictionary even where the values stay: the producer's holds
// values of rows and times that do not leave.
func (c *viewColumn) apply(col *tuple.Column, t tuple.Type) {
	col.Type = t
	if col.Dict == nil {
		return
	}
	if c.dict.Full() {
		c.dict.Reset()
		c.line = nil
	}
	if c.line != col.Dict.Lineage() {
		c.line, c.codes = col.Dict.Lineage(), c.codes[:0]
	}
	if more := col.Dict.Len() - len(c.codes); more > 0 {
		c.codes = append(c.codes, make([]uint32, more)...)
	}
	for i, code := range col.Code {
		if col.IsNull(i) {
			col.Code[i] = 0
			continue
		}
		if c.codes[code] == 0 { // not seen yet
			c.codes[code] = c.intern(col.Dict.At(code)) + 1
		}
		col.Code[i] = c.codes[code] - 1
	}
	col.Dict = c.dict.Dict()
}

func (c *viewColumn) intern(v []byte) uint32 {
	if c.to != nil {
		c.buf = c.to.value(c.buf[:0], v)
		v = c.buf
	}
	return c.dict.Intern(v)
}
