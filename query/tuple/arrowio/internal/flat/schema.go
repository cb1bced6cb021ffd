package flat

import "fmt"

// Limits of metadata: columns with all that is nested in them, the depth of nesting, pairs of custom metadata at one
// place.
const (
	MaxFields = 4096
	MaxDepth  = 16
	MaxPairs  = 4096
)

// Slots of the tables of the Arrow format that are looked at here.
const (
	SlotSchemaFields = 1
	slotSchemaMeta   = 2

	SlotFieldType  = 2
	SlotFieldKids  = 5
	slotFieldMeta  = 6
	slotHeaderType = 1
	slotHeader     = 2
	slotBodyLength = 3
	slotCustomMeta = 4

	headerSchema = 1
)

// CheckMessage checks what a general decoder would take on trust: it allocates as lengths of custom metadata say, and
// recurses into a schema without limit. It returns the length of the message's body.
func CheckMessage(f *Buffer) (body int64, err error) {
	root := f.Root()
	if p := f.Field(root, slotBodyLength); p != 0 {
		body = f.I64(p)
	}
	if body < 0 {
		return 0, fmt.Errorf("a message body of %d bytes", body)
	}
	if err := checkPairs(f, root, slotCustomMeta); err != nil {
		return 0, err
	}
	header := f.Table(root, slotHeader)
	if p := f.Field(root, slotHeaderType); p != 0 && f.U8(p) == headerSchema {
		err = checkSchema(f, header)
	}
	if err == nil && (f.Bad() || header == 0) {
		err = fmt.Errorf("message metadata is malformed")
	}
	return body, err
}

func checkPairs(f *Buffer, table, slot int) error {
	if _, n := f.Vector(table, slot, 4); n > MaxPairs {
		return fmt.Errorf("%d pairs of metadata, at most %d are allowed", n, MaxPairs)
	}
	return nil
}

// checkSchema walks a schema. Types whose description, or whose records, carry further lengths are refused: views, unions
// and run-end encoding.
func checkSchema(f *Buffer, schema int) error {
	if err := checkPairs(f, schema, slotSchemaMeta); err != nil {
		return err
	}
	budget := MaxFields
	first, n := f.Vector(schema, SlotSchemaFields, 4)
	return checkFields(f, first, n, MaxDepth, &budget)
}

func checkFields(f *Buffer, first, n, depth int, budget *int) error {
	if n > 0 && depth == 0 {
		return fmt.Errorf("a schema nested deeper than %d", MaxDepth)
	}
	if *budget -= n; *budget < 0 {
		return fmt.Errorf("a schema of more than %d columns", MaxFields)
	}
	for i := range n {
		field := f.Ref(first + 4*i)
		if p := f.Field(field, SlotFieldType); p != 0 && !supported(f.U8(p)) {
			return fmt.Errorf("column %q has an Arrow type (number %d) that is not supported", f.Text(field, 0), f.U8(p))
		}
		if err := checkPairs(f, field, slotFieldMeta); err != nil {
			return err
		}
		children, count := f.Vector(field, SlotFieldKids, 4)
		if f.Bad() {
			return fmt.Errorf("a malformed schema")
		}
		if err := checkFields(f, children, count, depth-1, budget); err != nil {
			return err
		}
	}
	return nil
}

// supported says so of the Arrow types by number: all from null (1) to large list (21) but union (14).
func supported(t uint8) bool { return t >= 1 && t <= 21 && t != 14 }
