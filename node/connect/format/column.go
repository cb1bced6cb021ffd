package format

import (
	"fednode/node/connect"
	"fednode/query/tuple"
)

// parse says how the text of a value is read: the one switch that a value passes.
type parse uint8

const (
	parseBool parse = iota
	parseInt
	parseFloat
	parseDecimal
	parseString
	parseHex // bytes
	parseRaw
	parseBase64
	parseIP
	parseCIDR
	parseTime
	parseDuration
	parseList
	parsePlace // never read from a value
)

// column collects the values of one column. Only the slices of its type are used.
type column struct {
	// fixed after init
	parse parse
	spec  *connect.ColumnSpec
	typ   tuple.Type
	unit  connect.Unit // Mul 0: a number has no unit

	serial uint64 // of the JSON record that gave the column its last value

	// the rows collected
	valid  []bool // nil: none is null
	bools  []bool
	ints   []int64
	floats []float64
	codes  []uint32
	off    []uint32

	words *words      // binary columns
	times *timeParser // timestamps
	elem  *column     // lists
	sep   byte        // between the elements of a Zeek set
}

func (c *column) init(s *connect.ColumnSpec, o *Options) {
	*c = column{spec: s, typ: s.Type}
	if s.Unit != "" {
		c.unit, _ = connect.UnitMicros(s.Unit)
	} else if o.Format == Zeek {
		c.unit, _ = connect.UnitMicros("s")
	}
	switch s.Type.Kind {
	case tuple.Bool:
		c.parse = parseBool
	case tuple.Int64:
		c.parse = parseInt
	case tuple.Float64:
		c.parse = parseFloat
	case tuple.Decimal:
		c.parse = parseDecimal
	case tuple.String:
		c.parse = parseString
	case tuple.Bytes:
		c.parse = parseHex
		switch o.Format {
		case JSONL:
			c.parse = parseBase64
		case Zeek:
			c.parse = parseRaw
		}
	case tuple.IP:
		c.parse = parseIP
	case tuple.CIDR:
		c.parse = parseCIDR
	case tuple.Timestamp:
		c.parse = parseTime
		c.times = newTimeParser(s)
	case tuple.Duration:
		c.parse = parseDuration
	case tuple.List:
		c.initList(s, o)
	}
	if s.Type.Kind.IsBinary() {
		c.words = newWords(c.parse)
	}
	switch s.Field {
	case connect.FieldFile, connect.FieldLine, connect.FieldOffset:
		c.parse = parsePlace
	}
}

func (c *column) initList(s *connect.ColumnSpec, o *Options) {
	c.parse = parseList
	elem := *s
	elem.Type = s.Type.ElemType()
	elem.Field = ""
	inner := *o
	if o.Format != Zeek {
		inner.Format = JSONL // lists are JSON arrays in CSV, too
	} else {
		c.sep = ','
	}
	c.elem = &column{}
	c.elem.init(&elem, &inner)
}

func (c *column) start(capacity int) {
	c.valid = nil
	switch k := c.typ.Kind; {
	case k == tuple.Bool:
		c.bools = make([]bool, 0, capacity)
	case k.IsInt():
		c.ints = make([]int64, 0, capacity)
	case k == tuple.Float64:
		c.floats = make([]float64, 0, capacity)
	case k.IsBinary():
		c.codes = make([]uint32, 0, capacity)
	case k == tuple.List:
		c.off = append(make([]uint32, 0, capacity+1), 0)
		c.elem.start(capacity)
	}
}

func (c *column) len() int {
	switch k := c.typ.Kind; {
	case k.IsInt():
		return len(c.ints)
	case k.IsBinary():
		return len(c.codes)
	case k == tuple.Float64:
		return len(c.floats)
	case k == tuple.Bool:
		return len(c.bools)
	}
	return len(c.off) - 1
}

func (c *column) truncate(n int) {
	if c.len() <= n {
		return
	}
	if c.valid != nil {
		c.valid = c.valid[:n]
	}
	switch k := c.typ.Kind; {
	case k == tuple.Bool:
		c.bools = c.bools[:n]
	case k.IsInt():
		c.ints = c.ints[:n]
	case k == tuple.Float64:
		c.floats = c.floats[:n]
	case k.IsBinary():
		c.codes = c.codes[:n]
		c.words.undo(n)
	case k == tuple.List:
		c.off = c.off[:n+1]
		c.elem.truncate(int(c.off[n]))
	}
}

func (c *column) appendNull() {
	if c.valid == nil {
		n := c.len()
		c.valid = make([]bool, n, max(n+1, cap(c.codes), cap(c.ints)))
		for i := range c.valid {
			c.valid[i] = true
		}
	}
	c.valid = append(c.valid, false)
	switch k := c.typ.Kind; {
	case k == tuple.Bool:
		c.bools = append(c.bools, false)
	case k.IsInt():
		c.ints = append(c.ints, 0)
	case k == tuple.Float64:
		c.floats = append(c.floats, 0)
	case k.IsBinary():
		c.codes = append(c.codes, c.words.null(len(c.codes)))
	case k == tuple.List:
		c.off = append(c.off, c.off[len(c.off)-1])
	}
}

func (c *column) appendInt(v int64) {
	c.ints = append(c.ints, v)
	c.markValid()
}

func (c *column) appendFloat(v float64) {
	c.floats = append(c.floats, v)
	c.markValid()
}

func (c *column) appendBool(v bool) {
	c.bools = append(c.bools, v)
	c.markValid()
}

// appendValue appends a binary value as it is.
func (c *column) appendValue(v []byte) {
	c.codes = append(c.codes, c.words.value(v, len(c.codes)))
	c.markValid()
}

func (c *column) endList() {
	c.off = append(c.off, uint32(c.elem.len()))
	c.markValid()
}

func (c *column) markValid() {
	if c.valid != nil {
		c.valid = append(c.valid, true)
	}
}

// take moves the rows into an owned column.
func (c *column) take(dst *tuple.Column) {
	*dst = tuple.Column{Type: c.typ, Valid: c.valid}
	switch k := c.typ.Kind; {
	case k == tuple.Bool:
		dst.Bool = c.bools
	case k.IsInt():
		dst.Int = c.ints
	case k == tuple.Float64:
		dst.Float = c.floats
	case k.IsBinary():
		dst.Code = c.codes
		dst.Dict = c.words.take(len(c.codes))
	case k == tuple.List:
		dst.Off = c.off
		dst.Elem = &tuple.Column{}
		c.elem.take(dst.Elem)
	}
}
