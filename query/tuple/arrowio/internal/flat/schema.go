package flat

import "fmt"

// Limits of a schema: columns with all that is nested in them, and the depth of nesting.
const (
	MaxFields = 4096
	MaxDepth  = 16
)

// Slots of the tables of the Arrow format, and the types that are told apart here.
const (
	SlotSchemaFields  = 1
	SlotMessageHeader = 2
	SlotFieldType     = 2
	SlotFieldChildren = 5
	SlotFooterSchema  = 1

	typeBinaryView = 23
	typeUtf8View   = 24
)

// CheckSchema walks a schema before a general decoder is let at it: that one recurses without limit and allocates what
// a length claims. Views are refused, since records that hold them carry further lengths of that sort.
func CheckSchema(f *Buffer, schema int) error {
	budget := MaxFields
	first, n := f.Vector(schema, SlotSchemaFields, 4)
	err := checkFields(f, first, n, MaxDepth, &budget)
	if err == nil && f.Bad() {
		err = fmt.Errorf("schema: malformed")
	}
	return err
}

func checkFields(f *Buffer, first, n, depth int, budget *int) error {
	if depth == 0 {
		return fmt.Errorf("schema: nested deeper than %d", MaxDepth)
	}
	if *budget -= n; *budget < 0 {
		return fmt.Errorf("schema: more than %d columns", MaxFields)
	}
	for i := range n {
		field := f.Ref(first + 4*i)
		if t := f.Field(field, SlotFieldType); t != 0 {
			if typ := f.U8(t); typ == typeBinaryView || typ == typeUtf8View {
				return fmt.Errorf("schema: string and binary views are not supported; write the column as utf8 or binary")
			}
		}
		if f.Bad() {
			return fmt.Errorf("schema: malformed")
		}
		children, count := f.Vector(field, SlotFieldChildren, 4)
		if err := checkFields(f, children, count, depth-1, budget); err != nil {
			return err
		}
	}
	return nil
}
