package arrowio

import (
	"fednode/query/tuple"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Exporter turns batches of one tuple schema into Arrow records. The records share the batch's memory where the layouts
// agree, so they live by the same rules as the batch: an owned batch gives a record that may be kept.
type Exporter struct {
	layout Layout
	arrow  *arrow.Schema
	cols   []exportColumn
}

// exportColumn keeps the Arrow form of the dictionary exported last.
type exportColumn struct {
	source *tuple.Dict
	values arrow.Array
}

// NewExporter returns an exporter. The layout's Index, if set, is arrow.PrimitiveTypes.Int32.
func NewExporter(s *tuple.Schema, layout Layout) *Exporter {
	return &Exporter{layout: layout, arrow: ArrowSchema(s, layout), cols: make([]exportColumn, s.Len())}
}

// Schema returns the schema of the records.
func (ex *Exporter) Schema() *arrow.Schema { return ex.arrow }

// Record returns the selected rows of b as a record.
func (ex *Exporter) Record(b *tuple.Batch) arrow.RecordBatch {
	if b.Sel != nil {
		b = b.Clone()
	}
	var cols []arrow.Array
	if ex.layout.Stime {
		cols = append(cols, wordArray(arrow.FixedWidthTypes.Timestamp_us, recast[int64](b.Time), nil))
	}
	for i := range b.Cols {
		c := &b.Cols[i]
		if ex.layout.dictionary(i, c.Type) {
			cols = append(cols, ex.cols[i].dictionary(c, ex.layout.Index))
		} else {
			cols = append(cols, plainArray(c))
		}
	}
	return array.NewRecordBatch(ex.arrow, cols, int64(len(b.Time)))
}

// validity returns the bitmap of a column and its nulls; a nil buffer where there are none.
func validity(c *tuple.Column) (*memory.Buffer, int) {
	if c.Valid == nil {
		return nil, 0
	}
	nulls := 0
	for _, ok := range c.Valid {
		if !ok {
			nulls++
		}
	}
	return bitmap(c.Valid), nulls
}

func bitmap(v []bool) *memory.Buffer {
	bits := make([]byte, (len(v)+7)/8)
	for i, ok := range v {
		if ok {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return memory.NewBufferBytes(bits)
}

func makeArray(dt arrow.DataType, c *tuple.Column, rows int, buffers ...*memory.Buffer) arrow.Array {
	valid, nulls := validity(c)
	return array.MakeFromData(array.NewData(dt, rows, append([]*memory.Buffer{valid}, buffers...), nil, nulls, 0))
}

func wordArray(dt arrow.DataType, words []int64, c *tuple.Column) arrow.Array {
	if c == nil {
		c = &tuple.Column{}
	}
	return makeArray(dt, c, len(words), memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(words)))
}

func plainArray(c *tuple.Column) arrow.Array {
	dt := arrowType(c.Type)
	switch c.Type.Kind {
	case tuple.Bool:
		return makeArray(dt, c, len(c.Bool), bitmap(c.Bool))
	case tuple.Int64, tuple.Timestamp, tuple.Duration:
		return wordArray(dt, c.Int, c)
	case tuple.Float64:
		return makeArray(dt, c, len(c.Float), memory.NewBufferBytes(arrow.Float64Traits.CastToBytes(c.Float)))
	case tuple.Decimal:
		return decimalArray(dt, c)
	case tuple.String, tuple.Bytes:
		return bytesArray(dt, c)
	case tuple.IP, tuple.CIDR:
		return fixedArray(dt.(*arrow.FixedSizeBinaryType), c)
	}
	return listArray(dt, c)
}

func decimalArray(dt arrow.DataType, c *tuple.Column) arrow.Array {
	values := make([]decimal128.Num, len(c.Int))
	for i, v := range c.Int {
		values[i] = decimal128.FromI64(v)
	}
	return makeArray(dt, c, len(values), memory.NewBufferBytes(arrow.Decimal128Traits.CastToBytes(values)))
}

func bytesArray(dt arrow.DataType, c *tuple.Column) arrow.Array {
	off := make([]int32, 1, len(c.Code)+1)
	var data []byte
	for i := range c.Code {
		if !c.IsNull(i) {
			data = append(data, c.Bin(i)...)
		}
		off = append(off, int32(len(data)))
	}
	return makeArray(dt, c, len(c.Code), memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(off)), memory.NewBufferBytes(data))
}

func fixedArray(dt *arrow.FixedSizeBinaryType, c *tuple.Column) arrow.Array {
	data := make([]byte, dt.ByteWidth*len(c.Code))
	for i := range c.Code {
		if !c.IsNull(i) {
			copy(data[i*dt.ByteWidth:(i+1)*dt.ByteWidth], c.Bin(i))
		}
	}
	return makeArray(dt, c, len(c.Code), memory.NewBufferBytes(data))
}

// listArray takes the offsets as they are: Arrow's are the same numbers, signed. Elements before the first are kept.
func listArray(dt arrow.DataType, c *tuple.Column) arrow.Array {
	valid, nulls := validity(c)
	elem := plainArray(c.Elem)
	buffers := []*memory.Buffer{valid, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(recast[int32](c.Off)))}
	return array.MakeFromData(array.NewData(dt, c.Rows(), buffers, []arrow.ArrayData{elem.Data()}, nulls, 0))
}

// dictionary writes codes; the values are converted once for each snapshot.
func (ec *exportColumn) dictionary(c *tuple.Column, index arrow.DataType) arrow.Array {
	if ec.values == nil || ec.source != c.Dict {
		ec.source, ec.values = c.Dict, dictionaryValues(c)
	}
	dt := &arrow.DictionaryType{IndexType: index, ValueType: ec.values.DataType()}
	indices := makeArray(index, c, len(c.Code), memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(recast[int32](c.Code))))
	return array.NewDictionaryArray(dt, indices, ec.values)
}

func dictionaryValues(c *tuple.Column) arrow.Array {
	all := &tuple.Column{Type: c.Type, Dict: c.Dict}
	if c.Dict != nil {
		all.Code = make([]uint32, c.Dict.Len())
	}
	for i := range all.Code {
		all.Code[i] = uint32(i)
	}
	return plainArray(all)
}
