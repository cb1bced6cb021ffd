package stream

import (
	"fednode/query/tuple"
)

// shape is how the values of a column lie in Arrow buffers.
type shape uint8

const (
	flags   shape = iota // a bitmap
	words                // eight bytes a row
	double               // sixteen bytes a row: decimal128
	indices              // two bytes a row: dictionary codes
	runs                 // offsets and bytes
	fixed                // width bytes a row
	lists                // offsets and a child
)

func shapeOf(t tuple.Type, plain bool) shape {
	switch k := t.Kind; {
	case k == tuple.Bool:
		return flags
	case k == tuple.Decimal:
		return double
	case k.IsInt() || k == tuple.Float64:
		return words
	case k == tuple.List:
		return lists
	case !plain:
		return indices
	case k == tuple.IP || k == tuple.CIDR:
		return fixed
	}
	return runs
}

// width returns the bytes of a value of a fixed-width binary kind, else 0.
func width(k tuple.Kind) int {
	switch k {
	case tuple.IP:
		return 16
	case tuple.CIDR:
		return 17
	}
	return 0
}

// buffers returns the number of Arrow buffers of a column, validity and children included, and of field nodes.
func buffers(t tuple.Type, plain bool) (bufs, nodes int) {
	switch shapeOf(t, plain) {
	case runs:
		return 3, 1
	case lists:
		b, n := buffers(t.ElemType(), true)
		return 2 + b, 1 + n
	}
	return 2, 1
}

// rowBytes returns what a row of the column takes in a chunk beside variable parts, rounded up.
func rowBytes(t tuple.Type, plain bool) int {
	switch shapeOf(t, plain) {
	case words:
		return 9
	case double:
		return 17
	case indices:
		return 3
	case runs, lists:
		return 5
	case fixed:
		return width(t.Kind) + 1
	}
	return 2
}
