package arrowio

import (
	"fmt"
	"net/netip"
	"sort"
	"unsafe"

	"fednode/query/tuple"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// noCode marks a dictionary value that does not convert, nullCode a null in a dictionary.
const (
	noCode   = ^uint32(0)
	nullCode = noCode - 1
)

func isText(id arrow.Type) bool {
	return id == arrow.STRING || id == arrow.LARGE_STRING
}

func isBytes(id arrow.Type) bool {
	return id == arrow.BINARY || id == arrow.LARGE_BINARY || id == arrow.FIXED_SIZE_BINARY
}

// binaryConverter takes text for all four kinds and bytes for all but strings, plain or in a dictionary.
func binaryConverter(from arrow.DataType, to tuple.Kind) converter {
	id := valueType(from).ID()
	if !isText(id) && (to == tuple.String || !isBytes(id)) {
		return nil
	}
	if from.ID() == arrow.DICTIONARY {
		return convertDictionary
	}
	return convertPlain
}

func convertPlain(c *importColumn, arr arrow.Array, out *tuple.Column) error {
	get, err := binaryValues(arr)
	if err != nil {
		return err
	}
	if c.dict.Full() {
		c.dict.Reset()
	}
	if n := arr.Len(); n > 0 {
		get(n - 1) // as in convert
	}
	out.Code = make([]uint32, arr.Len())
	for i := range out.Code {
		if out.IsNull(i) {
			continue
		}
		code, err := c.intern(get(i))
		if err != nil {
			c.fail(out, i, arr.Len(), err.Error())
			continue
		}
		out.Code[i] = code
	}
	out.Dict = c.dict.Dict()
	return nil
}

// convertDictionary interns the values of an Arrow dictionary once and maps the rows' codes.
func convertDictionary(c *importColumn, arr arrow.Array, out *tuple.Column) error {
	d := arr.(*array.Dictionary)
	if err := c.learn(d.Dictionary()); err != nil {
		return err
	}
	out.Code = make([]uint32, d.Len())
	if err := c.mapCodes(d.Indices(), out); err != nil {
		return err
	}
	out.Dict = c.dict.Dict()
	return nil
}

// learn makes remap fit an Arrow dictionary. The same dictionary object as last time costs nothing.
func (c *importColumn) learn(values arrow.Array) error {
	if c.source == values.Data() {
		return nil
	}
	get, err := binaryValues(values)
	if err != nil {
		return err
	}
	if c.dict.Full() {
		c.dict.Reset()
	}
	c.remap, c.same = c.remap[:0], true
	for i := range values.Len() {
		code := nullCode
		if values.IsValid(i) {
			if code, err = c.intern(get(i)); err != nil {
				code = noCode
			}
		}
		c.same = c.same && code == uint32(i)
		c.remap = append(c.remap, code)
	}
	c.source = values.Data()
	return nil
}

func (c *importColumn) mapCodes(indices arrow.Array, out *tuple.Column) error {
	switch a := indices.(type) {
	case *array.Int32:
		if c.same {
			return c.adopt(recast[uint32](a.Int32Values()), out)
		}
		return mapCodes(c, a.Int32Values(), out)
	case *array.Uint32:
		if c.same {
			return c.adopt(a.Uint32Values(), out)
		}
		return mapCodes(c, a.Uint32Values(), out)
	case *array.Int8:
		return mapCodes(c, a.Int8Values(), out)
	case *array.Int16:
		return mapCodes(c, a.Int16Values(), out)
	case *array.Int64:
		return mapCodes(c, a.Int64Values(), out)
	case *array.Uint8:
		return mapCodes(c, a.Uint8Values(), out)
	case *array.Uint16:
		return mapCodes(c, a.Uint16Values(), out)
	case *array.Uint64:
		return mapCodes(c, a.Uint64Values(), out)
	}
	return fmt.Errorf("dictionary codes of type %v", indices.DataType())
}

// adopt takes codes as they are when the dictionary here equals the one there. Null rows must still hold code 0, so a
// column with nulls is copied.
func (c *importColumn) adopt(codes []uint32, out *tuple.Column) error {
	if out.Valid != nil {
		return mapCodes(c, codes, out)
	}
	top := uint32(0)
	for _, code := range codes {
		top = max(top, code)
	}
	if len(codes) > 0 && int(top) >= len(c.remap) {
		return fmt.Errorf("code %d of a dictionary of %d", top, len(c.remap))
	}
	out.Code = codes
	return nil
}

func mapCodes[T ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64](c *importColumn, codes []T, out *tuple.Column) error {
	for i, v := range codes {
		if out.IsNull(i) {
			continue
		}
		if uint64(v) >= uint64(len(c.remap)) {
			return fmt.Errorf("row %d: code %d of a dictionary of %d", i, v, len(c.remap))
		}
		switch code := c.remap[v]; code {
		case noCode:
			c.fail(out, i, len(codes), fmt.Sprintf("not of type %v", c.to))
		case nullCode:
			if out.Valid == nil {
				out.Valid = make([]bool, len(codes))
				for j := range out.Valid {
					out.Valid[j] = true
				}
			}
			out.Valid[i] = false
		default:
			out.Code[i] = code
		}
	}
	return nil
}

// binaryValues returns the accessor of a text or bytes array; the bytes are borrowed.
func binaryValues(arr arrow.Array) (func(i int) []byte, error) {
	switch a := arr.(type) {
	case *array.String:
		return func(i int) []byte { return textBytes(a.Value(i)) }, nil
	case *array.LargeString:
		return func(i int) []byte { return textBytes(a.Value(i)) }, nil
	case *array.Binary:
		return a.Value, nil
	case *array.LargeBinary:
		return a.Value, nil
	case *array.FixedSizeBinary:
		return a.Value, nil
	}
	return nil, fmt.Errorf("an array of type %v where text or bytes were declared", arr.DataType())
}

func textBytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// intern brings a value into the column's type and returns its code.
func (c *importColumn) intern(v []byte) (uint32, error) {
	switch c.to.Kind {
	case tuple.IP:
		raw, err := c.address(v)
		if err != nil {
			return 0, err
		}
		return c.dict.Intern(raw[:]), nil
	case tuple.CIDR:
		raw, err := c.network(v)
		if err != nil {
			return 0, err
		}
		return c.dict.Intern(raw[:]), nil
	}
	return c.dict.Intern(v), nil
}

// address reads text or 4 or 16 bytes; which of the two is the column's property, never guessed from a value.
func (c *importColumn) address(v []byte) ([16]byte, error) {
	addr, ok := netip.AddrFromSlice(v)
	if c.text {
		var err error
		addr, err = netip.ParseAddr(string(v))
		ok = err == nil
	}
	if !ok {
		return [16]byte{}, fmt.Errorf("%.40q is not an address", v)
	}
	return tuple.IPBytes(addr), nil
}

func (c *importColumn) network(v []byte) ([17]byte, error) {
	if !c.text && len(v) == 17 && v[16] <= 128 {
		return [17]byte(v), nil
	}
	p, err := netip.ParsePrefix(string(v))
	if !c.text || err != nil {
		return [17]byte{}, fmt.Errorf("%.40q is not a network", v)
	}
	return tuple.CIDRBytes(p), nil
}

func convertList(c *importColumn, arr arrow.Array, out *tuple.Column) error {
	list := arr.(array.ListLike)
	elems := list.ListValues()
	out.Elem = &tuple.Column{}
	if err := c.elem.convert(elems, out.Elem); err != nil {
		return err
	}
	if err := listOffsets(list, out); err != nil {
		return err
	}
	// A bad element is reported for the row whose list holds it.
	for _, v := range c.elem.bad {
		row := sort.Search(arr.Len(), func(i int) bool { return int(out.Off[i+1]) > v.row })
		if row < arr.Len() && int(out.Off[row]) <= v.row {
			c.bad = append(c.bad, badValue{row: row, reason: "in a list: " + v.reason})
		}
	}
	return nil
}

// listOffsets makes consecutive offsets of the rows' own ones. A null row may span elements in Arrow; it keeps them as
// a hole, which Compare and Hash never look into.
func listOffsets(list array.ListLike, out *tuple.Column) error {
	n := list.Len()
	if n > 0 {
		list.ValueOffsets(n - 1) // as in convert
	}
	out.Off = make([]uint32, n+1)
	last := int64(0)
	for i := range n {
		start, end := list.ValueOffsets(i)
		if i == 0 {
			last = start
			out.Off[0] = uint32(start)
		}
		if start < 0 || start != last || end < start || end > int64(list.ListValues().Len()) {
			return fmt.Errorf("row %d: elements [%d, %d) of %d", i, start, end, list.ListValues().Len())
		}
		out.Off[i+1], last = uint32(end), end
	}
	return nil
}
