package tuple

import "fmt"

// Batch is a run of tuples of one schema in columns. Rows are the entries of Sel in order, or all rows of the columns
// where Sel is nil. Time[i] is the stime of column row i. See the package comment for who may keep one.
type Batch struct {
	Schema *Schema
	Time   []Time
	Cols   []Column
	Sel    []uint32
	// Ordered: the stimes of the rows do not fall. It saves operators a look at every stime. Only code that has looked
	// itself, or put the rows in order, sets it; nothing from outside does. False says nothing.
	Ordered bool
}

// Rows returns the number of selected rows.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return len(b.Time)
}

// Row returns the column row of the i-th selected row.
func (b *Batch) Row(i int) int {
	if b.Sel != nil {
		return int(b.Sel[i])
	}
	return i
}

// Slice returns the selected rows [lo, hi) as a view of the same memory.
func (b *Batch) Slice(lo, hi int) *Batch {
	if b.Sel != nil {
		return &Batch{Schema: b.Schema, Time: b.Time, Cols: b.Cols, Sel: b.Sel[lo:hi], Ordered: b.Ordered}
	}
	s := &Batch{Schema: b.Schema, Time: b.Time[lo:hi], Cols: make([]Column, len(b.Cols)), Ordered: b.Ordered}
	for i := range b.Cols {
		s.Cols[i] = b.Cols[i].Slice(lo, hi)
	}
	return s
}

// Clone returns an owned, dense copy of the selected rows. Dictionaries are shared: they are immutable.
func (b *Batch) Clone() *Batch {
	n := b.Rows()
	c := &Batch{Schema: b.Schema, Time: gather(make([]Time, 0, n), b.Time, b.Sel), Cols: make([]Column, len(b.Cols)), Ordered: b.Ordered}
	for i := range b.Cols {
		c.Cols[i].Type = b.Cols[i].Type
		b.Cols[i].Gather(&c.Cols[i], b.Sel)
	}
	return c
}

// Check reports what is inconsistent about the batch: lengths, types against the schema, codes outside their
// dictionary, offsets that fall. It is for batches that come from outside; inner code trusts its own.
func (b *Batch) Check() error {
	if len(b.Cols) != b.Schema.Len() {
		return fmt.Errorf("batch: %d columns, the schema has %d", len(b.Cols), b.Schema.Len())
	}
	n := len(b.Time)
	for i := range b.Cols {
		if got, want := b.Cols[i].Type, b.Schema.Field(i).Type; got != want {
			return fmt.Errorf("batch: column %q is %v, the schema says %v", b.Schema.Field(i).Name, got, want)
		}
		if err := b.Cols[i].check(n); err != nil {
			return fmt.Errorf("batch: column %q: %w", b.Schema.Field(i).Name, err)
		}
	}
	for _, s := range b.Sel {
		if int(s) >= n {
			return fmt.Errorf("batch: row %d selected of %d", s, n)
		}
	}
	return nil
}

func (c *Column) check(n int) error {
	if c.Rows() != n {
		return fmt.Errorf("%d rows, want %d", c.Rows(), n)
	}
	if c.Valid != nil && len(c.Valid) != n {
		return fmt.Errorf("%d validity entries, want %d", len(c.Valid), n)
	}
	switch {
	case c.Type.Kind.IsBinary():
		return c.checkCodes()
	case c.Type.Kind == List:
		return c.checkList(n)
	}
	return nil
}

func (c *Column) checkCodes() error {
	size := 0
	if c.Dict != nil {
		size = c.Dict.Len()
	}
	for i, code := range c.Code {
		if c.IsNull(i) {
			continue
		}
		if int(code) >= size {
			return fmt.Errorf("row %d: code %d of a dictionary of %d", i, code, size)
		}
		if want := fixedWidth(c.Type.Kind); want > 0 && len(c.Bin(i)) != want {
			return fmt.Errorf("row %d: %d bytes, a value of type %v has %d", i, len(c.Bin(i)), c.Type, want)
		}
	}
	return nil
}

func fixedWidth(k Kind) int {
	switch k {
	case IP:
		return 16
	case CIDR:
		return 17
	}
	return 0
}

func (c *Column) checkList(n int) error {
	if c.Elem == nil || c.Elem.Type != c.Type.ElemType() {
		return fmt.Errorf("no elements of type %v", c.Type.ElemType())
	}
	rows := c.Elem.Rows()
	for i := range n {
		if c.Off[i] > c.Off[i+1] || int(c.Off[i+1]) > rows {
			return fmt.Errorf("row %d: elements [%d, %d) of %d", i, c.Off[i], c.Off[i+1], rows)
		}
	}
	return c.Elem.check(rows)
}

// BatchBuilder appends rows to columns. Binary columns intern into a dictionary of the builder's own; when one is
// Full, the next batch starts a new dictionary.
type BatchBuilder struct {
	schema *Schema
	time   []Time
	cols   []Column
	dicts  []*DictBuilder // nil for columns that are not binary (or a list of binary)
}

// NewBatchBuilder returns an empty builder for a schema.
func NewBatchBuilder(s *Schema) *BatchBuilder {
	b := &BatchBuilder{schema: s, dicts: make([]*DictBuilder, s.Len())}
	for i, f := range s.fields {
		if f.Type.Kind.IsBinary() || f.Type.Kind == List && f.Type.Elem.IsBinary() {
			b.dicts[i] = NewDictBuilder()
		}
	}
	b.start(0)
	return b
}

func (b *BatchBuilder) start(capacity int) {
	b.time = make([]Time, 0, capacity)
	b.cols = make([]Column, b.schema.Len())
	for i, f := range b.schema.fields {
		c := &b.cols[i]
		c.Reset(f.Type)
		switch k := f.Type.Kind; {
		case k == Bool:
			c.Bool = make([]bool, 0, capacity)
		case k.IsInt():
			c.Int = make([]int64, 0, capacity)
		case k == Float64:
			c.Float = make([]float64, 0, capacity)
		case k.IsBinary():
			c.Code = make([]uint32, 0, capacity)
		}
	}
}

// Rows returns the number of rows so far.
func (b *BatchBuilder) Rows() int { return len(b.time) }

// Schema returns the schema of the batches built.
func (b *BatchBuilder) Schema() *Schema { return b.schema }

// Col returns column i for appending; every column gets one entry a row before EndRow.
func (b *BatchBuilder) Col(i int) *Column { return &b.cols[i] }

// AppendBin appends a binary value to column i.
func (b *BatchBuilder) AppendBin(i int, v []byte) {
	c := &b.cols[i]
	c.Code = append(c.Code, b.dicts[i].Intern(v))
	if c.Valid != nil {
		c.Valid = append(c.Valid, true)
	}
}

// AppendInt appends a value to column i, one whose kind IsInt.
func (b *BatchBuilder) AppendInt(i int, v int64) {
	c := &b.cols[i]
	c.Int = append(c.Int, v)
	if c.Valid != nil {
		c.Valid = append(c.Valid, true)
	}
}

// AppendFloat appends a value to column i, a Float64.
func (b *BatchBuilder) AppendFloat(i int, v float64) {
	c := &b.cols[i]
	c.Float = append(c.Float, v)
	if c.Valid != nil {
		c.Valid = append(c.Valid, true)
	}
}

// AppendBool appends a value to column i, a Bool.
func (b *BatchBuilder) AppendBool(i int, v bool) {
	c := &b.cols[i]
	c.Bool = append(c.Bool, v)
	if c.Valid != nil {
		c.Valid = append(c.Valid, true)
	}
}

// AppendNull appends a null to column i.
func (b *BatchBuilder) AppendNull(i int) { b.cols[i].AppendNull() }

// AppendElemBin appends a binary element to the list that column i is building; EndList closes the list.
func (b *BatchBuilder) AppendElemBin(i int, v []byte) {
	e := b.cols[i].Elem
	e.Code = append(e.Code, b.dicts[i].Intern(v))
	if e.Valid != nil {
		e.Valid = append(e.Valid, true)
	}
}

// EndList closes the current list of column i as one value.
func (b *BatchBuilder) EndList(i int) {
	c := &b.cols[i]
	c.Off = append(c.Off, uint32(c.Elem.Rows()))
	if c.Valid != nil {
		c.Valid = append(c.Valid, true)
	}
}

// EndRow gives the row that every column has just received its stime.
func (b *BatchBuilder) EndRow(t Time) { b.time = append(b.time, t) }

// Undo drops what has been appended to the columns since the last EndRow: a record turned out unusable half way.
func (b *BatchBuilder) Undo() {
	n := len(b.time)
	for i := range b.cols {
		b.cols[i].truncate(n)
	}
}

func (c *Column) truncate(n int) {
	if c.Valid != nil {
		c.Valid = c.Valid[:min(n, len(c.Valid))]
	}
	switch k := c.Type.Kind; {
	case k == Bool:
		c.Bool = c.Bool[:min(n, len(c.Bool))]
	case k.IsInt():
		c.Int = c.Int[:min(n, len(c.Int))]
	case k == Float64:
		c.Float = c.Float[:min(n, len(c.Float))]
	case k.IsBinary():
		c.Code = c.Code[:min(n, len(c.Code))]
	case k == List:
		c.Off = c.Off[:min(n+1, len(c.Off))]
		c.Elem.truncate(int(c.Off[len(c.Off)-1]))
	}
}

// Take returns the rows so far as an owned batch and starts the next one with room for as many.
func (b *BatchBuilder) Take() *Batch {
	out := &Batch{Schema: b.schema, Time: b.time, Cols: b.cols}
	for i, d := range b.dicts {
		if d == nil {
			continue
		}
		if out.Cols[i].Type.Kind == List {
			out.Cols[i].Elem.Dict = d.Dict()
		} else {
			out.Cols[i].Dict = d.Dict()
		}
		if d.Full() {
			d.Reset()
		}
	}
	b.start(len(out.Time))
	return out
}
