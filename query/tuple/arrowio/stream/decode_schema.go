package stream

import (
	"fednode/query/tuple"
	"fednode/query/tuple/arrowio/internal/flat"
)

// Slots and values of the schema tables.
const (
	slotFieldName  = 0
	slotFieldType  = 2
	slotTypeTable  = 3
	slotDictionary = 4
	slotChildren   = 5
	slotFieldMeta  = 6

	slotEncodingID    = 0
	slotEncodingIndex = 1

	typeInt       = 2
	typeFloat     = 3
	typeBinary    = 4
	typeUtf8      = 5
	typeBool      = 6
	typeDecimal   = 7
	typeTimestamp = 10
	typeList      = 12
	typeFixed     = 15
	typeDuration  = 18

	stimeColumn = "stime"
)

// arrowKind returns the Arrow type of a tuple kind. Its parameters follow from the tuple type, which the field's
// metadata gives: sizes are checked where values are read.
func arrowKind(k tuple.Kind) uint8 {
	switch k {
	case tuple.Bool:
		return typeBool
	case tuple.Int64:
		return typeInt
	case tuple.Float64:
		return typeFloat
	case tuple.Decimal:
		return typeDecimal
	case tuple.String:
		return typeUtf8
	case tuple.Bytes:
		return typeBinary
	case tuple.Timestamp:
		return typeTimestamp
	case tuple.Duration:
		return typeDuration
	case tuple.IP, tuple.CIDR:
		return typeFixed
	}
	return typeList
}

// readSchema reads a schema message: the stimes first, then columns that name their tuple types. plain tells, by column,
// which binary ones come without a dictionary.
func readSchema(m message) (s *tuple.Schema, plain []bool, err error) {
	if len(m.body) != 0 {
		return nil, nil, fault(Malformed, "a schema with a body")
	}
	f := m.meta
	first, n := f.Vector(m.header, flat.SlotSchemaFields, 4)
	if n < 1 || n > MaxColumns+1 {
		return nil, nil, fault(BadSchema, "a schema of %d columns; it has the stimes and at most %d more", n, MaxColumns)
	}
	if at := f.Ref(first); string(f.Text(at, slotFieldName)) != stimeColumn || fieldKind(f, at) != typeTimestamp {
		return nil, nil, fault(BadSchema, "the first column does not hold the stimes")
	}
	var fields []tuple.Field
	dicts := int64(0)
	for i := 1; i < n; i++ {
		field, isPlain, err := readField(f, f.Ref(first+4*i), &dicts)
		if err != nil {
			return nil, nil, err
		}
		fields, plain = append(fields, field), append(plain, isPlain)
	}
	if f.Bad() {
		return nil, nil, fault(Malformed, "a schema that points outside itself")
	}
	if s, err = tuple.NewSchema(fields...); err != nil {
		return nil, nil, fault(BadSchema, "%v", err)
	}
	return s, plain, nil
}

func fieldKind(f *flat.Buffer, field int) uint8 {
	if p := f.Field(field, slotFieldType); p != 0 {
		return f.U8(p)
	}
	return 0
}

func readField(f *flat.Buffer, at int, dicts *int64) (field tuple.Field, plain bool, err error) {
	name := f.Text(at, slotFieldName)
	if len(name) > maxName {
		return field, false, fault(BadSchema, "a column name of %d bytes", len(name))
	}
	field.Name = string(name)
	typ, form := metadata(f, at, &field)
	if field.Type, err = tuple.ParseType(typ); err != nil {
		return field, false, fault(BadSchema, "column %q: %v", field.Name, err)
	}
	if field.Form, err = parseForm(form); err != nil {
		return field, false, fault(BadSchema, "column %q: %v", field.Name, err)
	}
	if got, want := fieldKind(f, at), arrowKind(field.Type.Kind); got != want {
		return field, false, fault(BadSchema, "column %q: %v as Arrow type %d, want %d", field.Name, field.Type, got, want)
	}
	if field.Type.Kind == tuple.List {
		children, n := f.Vector(at, slotChildren, 4)
		if n != 1 || fieldKind(f, f.Ref(children)) != arrowKind(field.Type.Elem) {
			return field, false, fault(BadSchema, "column %q: not a %v", field.Name, field.Type)
		}
	}
	enc := f.Table(at, slotDictionary)
	if enc == 0 {
		return field, true, nil
	}
	if !field.Type.Kind.IsBinary() {
		return field, false, fault(BadSchema, "column %q: a dictionary of %v", field.Name, field.Type)
	}
	return field, false, readEncoding(f, enc, field.Name, dicts)
}

// readEncoding wants dictionaries numbered from 0 in the order of columns, with unsigned 16-bit codes.
func readEncoding(f *flat.Buffer, enc int, name string, dicts *int64) error {
	id := int64(0)
	if p := f.Field(enc, slotEncodingID); p != 0 {
		id = f.I64(p)
	}
	width, signed := uint32(0), false
	if index := f.Table(enc, slotEncodingIndex); index != 0 {
		if p := f.Field(index, 0); p != 0 {
			width = f.U32(p)
		}
		if p := f.Field(index, 1); p != 0 {
			signed = f.U8(p) != 0
		}
	}
	if id != *dicts || width != 16 || signed {
		return fault(BadSchema, "column %q: dictionary %d with codes of %d bits, want dictionary %d with unsigned codes of 16",
			name, id, width, *dicts)
	}
	*dicts++
	return nil
}

// metadata reads the tuple type and form of a field, and its key into field.
func metadata(f *flat.Buffer, at int, field *tuple.Field) (typ, form string) {
	first, n := f.Vector(at, slotFieldMeta, 4)
	for i := range min(n, 16) {
		pair := f.Ref(first + 4*i)
		key, value := f.Text(pair, 0), f.Text(pair, 1)
		if len(value) > maxName {
			continue
		}
		switch string(key) {
		case "fednode.type":
			typ = string(value)
		case "fednode.form":
			form = string(value)
		case "fednode.key":
			field.Key = string(value)
		}
	}
	return typ, form
}

func parseForm(s string) (tuple.Form, error) {
	if s == "" {
		return tuple.Plain, nil
	}
	for form := tuple.Plain; form <= tuple.PrefixPseudonym; form++ {
		if form.String() == s {
			return form, nil
		}
	}
	return tuple.Plain, fault(BadSchema, "no form %q", s)
}
