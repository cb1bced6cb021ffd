package arrowio

import (
	"errors"
	"fmt"

	"fednode/query/tuple"

	"github.com/apache/arrow-go/v18/arrow"
)

// Keys of field metadata. StimeRole marks the column that carries the rows' stimes.
const (
	metaType = "fednode.type"
	metaForm = "fednode.form"
	metaKey  = "fednode.key"
	metaRole = "fednode.role"

	roleStime = "stime"
)

// Layout says how a tuple schema is laid out in Arrow. The zero value has the schema's columns only, all plain.
type Layout struct {
	// Stime puts a column with the rows' stimes in front.
	Stime bool
	// Index is the integer type of dictionary codes; nil writes no dictionaries.
	Index arrow.DataType
	// Plain names the columns, by position, that are written without a dictionary although Index is set.
	Plain []bool
}

func (l Layout) dictionary(i int, t tuple.Type) bool {
	return l.Index != nil && t.Kind.IsBinary() && (i >= len(l.Plain) || !l.Plain[i])
}

// ArrowSchema returns the Arrow schema of s in a layout. Field metadata restores the tuple types, forms and keys.
func ArrowSchema(s *tuple.Schema, l Layout) *arrow.Schema {
	fields := make([]arrow.Field, 0, s.Len()+1)
	if l.Stime {
		meta := arrow.NewMetadata([]string{metaRole}, []string{roleStime})
		fields = append(fields, arrow.Field{Name: "stime", Type: arrow.FixedWidthTypes.Timestamp_us, Metadata: meta})
	}
	for i, f := range s.Fields() {
		dt := arrowType(f.Type)
		if l.dictionary(i, f.Type) {
			dt = &arrow.DictionaryType{IndexType: l.Index, ValueType: dt}
		}
		fields = append(fields, arrow.Field{Name: f.Name, Type: dt, Nullable: true, Metadata: fieldMetadata(f)})
	}
	return arrow.NewSchema(fields, nil)
}

func fieldMetadata(f tuple.Field) arrow.Metadata {
	keys, values := []string{metaType}, []string{f.Type.String()}
	if f.Form != tuple.Plain {
		keys, values = append(keys, metaForm), append(values, f.Form.String())
	}
	if f.Key != "" {
		keys, values = append(keys, metaKey), append(values, f.Key)
	}
	return arrow.NewMetadata(keys, values)
}

func arrowType(t tuple.Type) arrow.DataType {
	switch t.Kind {
	case tuple.Bool:
		return arrow.FixedWidthTypes.Boolean
	case tuple.Int64:
		return arrow.PrimitiveTypes.Int64
	case tuple.Float64:
		return arrow.PrimitiveTypes.Float64
	case tuple.Decimal:
		return &arrow.Decimal128Type{Precision: 18, Scale: int32(t.Scale)}
	case tuple.String:
		return arrow.BinaryTypes.String
	case tuple.Bytes:
		return arrow.BinaryTypes.Binary
	case tuple.Timestamp:
		return arrow.FixedWidthTypes.Timestamp_us
	case tuple.Duration:
		return arrow.FixedWidthTypes.Duration_us
	case tuple.IP:
		return &arrow.FixedSizeBinaryType{ByteWidth: 16}
	case tuple.CIDR:
		return &arrow.FixedSizeBinaryType{ByteWidth: 17}
	case tuple.List:
		return arrow.ListOf(arrowType(t.ElemType()))
	}
	return arrow.Null
}

// TupleSchema returns the tuple schema that an Arrow schema has by itself: the one it was written from, if fields carry
// our metadata, else the nearest types. hasStime tells that the first column carries stimes and is not part of the
// schema. It fails on types that have no counterpart, naming all such columns.
func TupleSchema(a *arrow.Schema) (s *tuple.Schema, hasStime bool, err error) {
	var fields []tuple.Field
	var errs []error
	for i, af := range a.Fields() {
		if i == 0 && isStime(af) {
			hasStime = true
			continue
		}
		f, err := tupleField(af)
		if err != nil {
			errs = append(errs, fmt.Errorf("column %q: %w", af.Name, err))
			continue
		}
		fields = append(fields, f)
	}
	if len(errs) > 0 {
		return nil, false, fmt.Errorf("arrow schema: %w", errors.Join(errs...))
	}
	s, err = tuple.NewSchema(fields...)
	return s, hasStime, err
}

func isStime(f arrow.Field) bool {
	role, ok := f.Metadata.GetValue(metaRole)
	return ok && role == roleStime && arrow.TypeEqual(f.Type, arrow.FixedWidthTypes.Timestamp_us)
}

func tupleField(af arrow.Field) (tuple.Field, error) {
	f := tuple.Field{Name: af.Name}
	natural, err := naturalType(af.Type)
	text, ours := af.Metadata.GetValue(metaType)
	if !ours {
		f.Type = natural
		return f, err
	}
	if f.Type, err = tuple.ParseType(text); err != nil {
		return f, err
	}
	if !arrow.TypeEqual(valueType(af.Type), arrowType(f.Type)) {
		return f, fmt.Errorf("metadata says %v, the column is %v", f.Type, af.Type)
	}
	if form, ok := af.Metadata.GetValue(metaForm); ok {
		if f.Form, err = parseForm(form); err != nil {
			return f, err
		}
	}
	f.Key, _ = af.Metadata.GetValue(metaKey)
	return f, nil
}

func parseForm(s string) (tuple.Form, error) {
	for f := tuple.Plain; f <= tuple.PrefixPseudonym; f++ {
		if f.String() == s {
			return f, nil
		}
	}
	return tuple.Plain, fmt.Errorf("no form %q", s)
}

// valueType looks through dictionaries.
func valueType(dt arrow.DataType) arrow.DataType {
	if d, ok := dt.(*arrow.DictionaryType); ok {
		return d.ValueType
	}
	return dt
}

// naturalType returns the tuple type nearest to an Arrow type.
func naturalType(dt arrow.DataType) (tuple.Type, error) {
	switch dt.ID() {
	case arrow.BOOL:
		return tuple.Of(tuple.Bool), nil
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return tuple.Of(tuple.Int64), nil
	case arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64:
		return tuple.Of(tuple.Float64), nil
	case arrow.STRING, arrow.LARGE_STRING:
		return tuple.Of(tuple.String), nil
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.FIXED_SIZE_BINARY:
		return tuple.Of(tuple.Bytes), nil
	case arrow.TIMESTAMP, arrow.DATE32, arrow.DATE64:
		return tuple.Of(tuple.Timestamp), nil
	case arrow.DURATION:
		return tuple.Of(tuple.Duration), nil
	case arrow.DECIMAL32, arrow.DECIMAL64, arrow.DECIMAL128:
		if s := dt.(arrow.DecimalType).GetScale(); s >= 0 && s <= tuple.MaxScale {
			return tuple.DecimalType(uint8(s)), nil
		}
	case arrow.DICTIONARY:
		if v := valueType(dt); v.ID() != arrow.DICTIONARY {
			return naturalType(v)
		}
	case arrow.LIST, arrow.LARGE_LIST, arrow.FIXED_SIZE_LIST:
		elem, err := naturalType(dt.(arrow.ListLikeType).Elem())
		if err == nil && elem.Kind != tuple.List {
			return tuple.ListOf(elem), nil
		}
	case arrow.EXTENSION:
		return naturalType(dt.(arrow.ExtensionType).StorageType())
	}
	return tuple.Type{}, fmt.Errorf("the Arrow type %v has no counterpart here", dt)
}
