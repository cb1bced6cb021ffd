package expr

import "fednode/query/tuple"

var listFunctions = []function{
	{name: "len", group: "list", params: params("l list"), result: tuple.Int64,
		row: func(c *call, i int) bool { return c.setInt(i, int64(c.args[0].Off[i+1]-c.args[0].Off[i])) },
		doc: "The number of elements."},
	{name: "contains_element", group: "list", params: params("l list", "x any"), result: tuple.Bool, row: containsElement, element: true,
		doc: "Whether an element equals x; elements that are null do not."},
	{name: "element_at", group: "list", params: params("l list", "n int64"), typed: elementType, row: elementAt,
		doc: "The n-th element, counted from 1, or from the end where n is negative; null if there is none."},
}

func elementType(args []*plan) tuple.Type { return args[0].typ.ElemType() }

func containsElement(c *call, i int) bool {
	l := c.args[0]
	for j := l.Off[i]; j < l.Off[i+1]; j++ {
		if !l.Elem.IsNull(int(j)) && l.Elem.Compare(int(j), c.args[1], i) == 0 {
			return c.setBool(i, true)
		}
	}
	return c.setBool(i, false)
}

func elementAt(c *call, i int) bool {
	l, n := c.args[0], c.int(1, i)
	size := int64(l.Off[i+1] - l.Off[i])
	if n < 0 {
		n += size + 1
	}
	if n < 1 || n > size {
		return false
	}
	at := int(l.Off[i]) + int(n) - 1
	if l.Elem.IsNull(at) {
		return false
	}
	switch k := l.Elem.Type.Kind; {
	case k == tuple.Bool:
		return c.setBool(i, l.Elem.Bool[at])
	case k.IsInt():
		return c.setInt(i, l.Elem.Int[at])
	case k == tuple.Float64:
		return c.setFloat(i, l.Elem.Float[at])
	}
	return c.setBin(i, l.Elem.Bin(at))
}
