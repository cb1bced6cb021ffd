package tuple

import (
	"fmt"
	"hash/fnv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is the kind of a column's values.
type Kind uint8

// The kinds. Decimal holds 18 digits with a fixed scale; Timestamp and Duration are microseconds; IP is 16 bytes with
// IPv4 mapped; CIDR is 17 bytes, the masked address and the prefix length in 128-bit terms.
const (
	Invalid Kind = iota
	Bool
	Int64
	Float64
	Decimal
	String
	Bytes
	Timestamp
	Duration
	IP
	CIDR
	List
)

var kindNames = [...]string{"invalid", "bool", "int64", "float64", "decimal", "string", "bytes", "timestamp", "duration", "ip", "cidr", "list"}

// String returns the kind's name as query files write it.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// IsInt reports whether values of the kind live in Column.Int.
func (k Kind) IsInt() bool {
	return k == Int64 || k == Timestamp || k == Duration || k == Decimal
}

// IsBinary reports whether values of the kind live in Column.Code and Column.Dict.
func (k Kind) IsBinary() bool { return k == String || k == Bytes || k == IP || k == CIDR }

// MaxScale is the largest scale of a decimal.
const MaxScale = 18

// Type is the type of a column. Scale counts for Decimal (and a list of them) only, Elem for List only. Types are
// comparable.
type Type struct {
	Kind  Kind
	Scale uint8
	Elem  Kind
}

// Of returns the type of a kind that needs no parameter.
func Of(k Kind) Type { return Type{Kind: k} }

// DecimalType returns decimal(18,scale).
func DecimalType(scale uint8) Type { return Type{Kind: Decimal, Scale: scale} }

// ListOf returns the type of lists of elem; elem is not itself a list.
func ListOf(elem Type) Type { return Type{Kind: List, Elem: elem.Kind, Scale: elem.Scale} }

// ElemType returns the element type of a list.
func (t Type) ElemType() Type { return Type{Kind: t.Elem, Scale: t.Scale} }

// Valid reports whether t is one of the types the system has.
func (t Type) Valid() bool {
	switch {
	case t.Kind == Invalid || t.Kind > List:
		return false
	case t.Kind == List:
		return t.Elem != List && t.ElemType().Valid()
	case t.Elem != Invalid:
		return false
	case t.Kind == Decimal:
		return t.Scale <= MaxScale
	}
	return t.Scale == 0
}

// String returns the type as query files write it: int64, decimal(18,2), list(string).
func (t Type) String() string {
	switch t.Kind {
	case Decimal:
		return fmt.Sprintf("decimal(18,%d)", t.Scale)
	case List:
		return "list(" + t.ElemType().String() + ")"
	}
	return t.Kind.String()
}

// ParseType reads a type as String writes it; decimal(s) is short for decimal(18,s).
func ParseType(s string) (Type, error) {
	s = strings.TrimSpace(s)
	for k := Bool; k < List; k++ {
		if k != Decimal && s == kindNames[k] {
			return Of(k), nil
		}
	}
	var scale int
	if inner, ok := strings.CutPrefix(s, "decimal("); ok && strings.HasSuffix(inner, ")") {
		inner = strings.ReplaceAll(strings.TrimSuffix(inner, ")"), " ", "")
		inner = strings.TrimPrefix(inner, "18,")
		if n, err := fmt.Sscanf(inner, "%d", &scale); err == nil && n == 1 && fmt.Sprint(scale) == inner && scale >= 0 && scale <= MaxScale {
			return DecimalType(uint8(scale)), nil
		}
		return Type{}, fmt.Errorf("type %q: a decimal is decimal(18,scale) with a scale of 0 to %d", s, MaxScale)
	}
	if inner, ok := strings.CutPrefix(s, "list("); ok && strings.HasSuffix(inner, ")") {
		elem, err := ParseType(strings.TrimSuffix(inner, ")"))
		if err != nil {
			return Type{}, err
		}
		if elem.Kind == List {
			return Type{}, fmt.Errorf("type %q: a list of lists is not supported", s)
		}
		return ListOf(elem), nil
	}
	return Type{}, fmt.Errorf("no type %q; the types are bool, int64, float64, decimal(18,s), string, bytes, timestamp, duration, ip, cidr and list(T)", s)
}

// Form says how an export changed a column's values before they left their owner.
type Form uint8

// The forms. A prefix pseudonym keeps common address prefixes, so address functions still mean something.
const (
	Plain Form = iota
	Hashed
	Truncated
	Pseudonym
	PrefixPseudonym
)

var formNames = [...]string{"plain", "hashed", "truncated", "pseudonym", "prefix-pseudonym"}

// String returns the form's name.
func (f Form) String() string {
	if int(f) < len(formNames) {
		return formNames[f]
	}
	return fmt.Sprintf("form(%d)", uint8(f))
}

// Field is one column of a schema.
type Field struct {
	Name string
	Type Type
	Form Form
	// Key names the key version of a pseudonym; pseudonyms join only under one key.
	Key string
}

// Schema is an ordered list of fields with distinct names. It is immutable.
type Schema struct {
	fields []Field
	index  map[string]int
}

// NewSchema returns the schema of fields. It fails on two fields of one name, an empty name or an invalid type.
func NewSchema(fields ...Field) (*Schema, error) {
	s := &Schema{fields: append([]Field(nil), fields...), index: make(map[string]int, len(fields))}
	for i, f := range fields {
		if f.Name == "" {
			return nil, fmt.Errorf("schema: column %d has no name", i+1)
		}
		if !utf8.ValidString(f.Name) || strings.ContainsFunc(f.Name, unicode.IsControl) {
			return nil, fmt.Errorf("schema: the name of column %d, %q, has control characters", i+1, f.Name)
		}
		if !f.Type.Valid() {
			return nil, fmt.Errorf("schema: column %q has the invalid type %v", f.Name, f.Type)
		}
		if _, dup := s.index[f.Name]; dup {
			return nil, fmt.Errorf("schema: two columns named %q", f.Name)
		}
		s.index[f.Name] = i
	}
	return s, nil
}

// MustSchema is NewSchema for schemas that are correct by construction; it panics otherwise.
func MustSchema(fields ...Field) *Schema {
	s, err := NewSchema(fields...)
	if err != nil {
		panic(err)
	}
	return s
}

// Len returns the number of fields.
func (s *Schema) Len() int { return len(s.fields) }

// Field returns field i.
func (s *Schema) Field(i int) Field { return s.fields[i] }

// Fields returns the fields in order; the caller does not change them.
func (s *Schema) Fields() []Field { return s.fields }

// Index returns the position of the named field.
func (s *Schema) Index(name string) (int, bool) {
	i, ok := s.index[name]
	return i, ok
}

// Names returns the field names in order.
func (s *Schema) Names() []string {
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.Name
	}
	return names
}

// Equal reports whether both schemas have the same fields in the same order, forms included.
func (s *Schema) Equal(o *Schema) bool {
	if s == o {
		return true
	}
	if s == nil || o == nil || len(s.fields) != len(o.fields) {
		return false
	}
	for i := range s.fields {
		if s.fields[i] != o.fields[i] {
			return false
		}
	}
	return true
}

// String prints the schema on one line: "src ip, conns int64".
func (s *Schema) String() string {
	var b strings.Builder
	for i, f := range s.fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.Name)
		b.WriteByte(' ')
		b.WriteString(f.Type.String())
		if f.Form != Plain {
			b.WriteString(" " + f.Form.String())
			if f.Key != "" {
				b.WriteString("(" + f.Key + ")")
			}
		}
	}
	return b.String()
}

// Fingerprint returns a 64-bit hash of the schema, the same on every machine: nodes compare it before they exchange a
// stream.
func (s *Schema) Fingerprint() uint64 {
	// Over the binary form: as text, a column named "a int64, b" would pass for two.
	var e Encoder
	e.Schema(s)
	h := fnv.New64a()
	h.Write(e.B)
	return h.Sum64()
}
