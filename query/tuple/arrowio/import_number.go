package arrowio

import (
	"fmt"
	"math"
	"unsafe"

	"fednode/query/tuple"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// recast views a slice of one eight- or four-byte integer type as another of the same size.
func recast[T, S ~int64 | ~uint64 | ~int32 | ~uint32](v []S) []T {
	if len(v) == 0 {
		return []T{}
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&v[0])), len(v))
}

// chooseConverter returns how from becomes to, or nil if it does not.
func chooseConverter(from arrow.DataType, to tuple.Type) converter {
	if e, ok := from.(arrow.ExtensionType); ok {
		from = e.StorageType()
	}
	id := from.ID()
	switch to.Kind {
	case tuple.Bool:
		if id == arrow.BOOL {
			return convertBool
		}
	case tuple.Int64:
		if arrow.IsInteger(id) {
			return convertInt
		}
	case tuple.Float64:
		if id == arrow.FLOAT32 || id == arrow.FLOAT64 || arrow.IsInteger(id) && id != arrow.INT64 && id != arrow.UINT64 {
			return convertFloat
		}
	case tuple.Decimal:
		return decimalConverter(from, to.Scale)
	case tuple.Timestamp:
		return timeConverter(from)
	case tuple.Duration:
		if d, ok := from.(*arrow.DurationType); ok {
			return scaledConverter(d.Unit)
		}
	case tuple.String, tuple.Bytes, tuple.IP, tuple.CIDR:
		return binaryConverter(from, to.Kind)
	case tuple.List:
		if id == arrow.LIST || id == arrow.LARGE_LIST || id == arrow.FIXED_SIZE_LIST {
			return convertList
		}
	}
	return nil
}

func convertBool(_ *importColumn, arr arrow.Array, out *tuple.Column) error {
	a := arr.(*array.Boolean)
	if a.Len() > 0 {
		a.Value(a.Len() - 1) // as in convert: the last row is looked at before memory is taken for all
	}
	out.Bool = make([]bool, a.Len())
	for i := range out.Bool {
		out.Bool[i] = a.Value(i)
	}
	return nil
}

func convertInt(c *importColumn, arr arrow.Array, out *tuple.Column) error {
	if a, ok := arr.(*array.Uint64); ok {
		out.Int = recast[int64](a.Uint64Values())
		for i, v := range out.Int {
			if v < 0 && !out.IsNull(i) {
				c.fail(out, i, arr.Len(), fmt.Sprintf("%d does not fit in int64", uint64(v)))
			}
		}
		return nil
	}
	values, err := integers(arr)
	out.Int = values
	return err
}

// integers returns the values of any integer array that fits in int64.
func integers(arr arrow.Array) ([]int64, error) {
	switch a := arr.(type) {
	case *array.Int64:
		return a.Int64Values(), nil
	case *array.Int32:
		return widen[int64](a.Int32Values()), nil
	case *array.Int16:
		return widen[int64](a.Int16Values()), nil
	case *array.Int8:
		return widen[int64](a.Int8Values()), nil
	case *array.Uint32:
		return widen[int64](a.Uint32Values()), nil
	case *array.Uint16:
		return widen[int64](a.Uint16Values()), nil
	case *array.Uint8:
		return widen[int64](a.Uint8Values()), nil
	}
	return nil, fmt.Errorf("an array of type %v where integers were declared", arr.DataType())
}

type number interface {
	~int64 | ~int32 | ~int16 | ~int8 | ~uint32 | ~uint16 | ~uint8 | ~float32 | ~float64
}

func widen[T, S number](src []S) []T {
	out := make([]T, len(src))
	for i, v := range src {
		out[i] = T(v)
	}
	return out
}

func convertFloat(_ *importColumn, arr arrow.Array, out *tuple.Column) error {
	switch a := arr.(type) {
	case *array.Float64:
		out.Float = a.Float64Values()
		return nil
	case *array.Float32:
		out.Float = widen[float64](a.Float32Values())
		return nil
	}
	values, err := integers(arr)
	out.Float = widen[float64](values)
	return err
}

// timeConverter takes timestamps of every unit (finer than the microsecond is rounded down) and dates.
func timeConverter(from arrow.DataType) converter {
	switch t := from.(type) {
	case *arrow.TimestampType:
		return scaledConverter(t.Unit)
	case *arrow.Date32Type:
		return func(c *importColumn, arr arrow.Array, out *tuple.Column) error {
			out.Int = widen[int64](arr.(*array.Date32).Date32Values())
			c.multiply(out, tuple.Day)
			return nil
		}
	case *arrow.Date64Type:
		return func(c *importColumn, arr arrow.Array, out *tuple.Column) error {
			out.Int = widen[int64](arr.(*array.Date64).Date64Values())
			c.multiply(out, tuple.Millisecond)
			return nil
		}
	}
	return nil
}

func scaledConverter(unit arrow.TimeUnit) converter {
	return func(c *importColumn, arr arrow.Array, out *tuple.Column) error {
		switch a := arr.(type) {
		case *array.Timestamp:
			out.Int = recast[int64](a.TimestampValues())
		case *array.Duration:
			out.Int = recast[int64](a.DurationValues())
		default:
			return fmt.Errorf("an array of type %v where a time was declared", arr.DataType())
		}
		switch unit {
		case arrow.Nanosecond:
			out.Int = floorThousandth(out.Int)
		case arrow.Millisecond:
			out.Int = append([]int64(nil), out.Int...)
			c.multiply(out, tuple.Millisecond)
		case arrow.Second:
			out.Int = append([]int64(nil), out.Int...)
			c.multiply(out, tuple.Second)
		}
		return nil
	}
}

func floorThousandth(ns []int64) []int64 {
	us := make([]int64, len(ns))
	for i, v := range ns {
		us[i] = v / 1000
		if v%1000 < 0 {
			us[i]--
		}
	}
	return us
}

// multiply scales the column's own values in place.
func (c *importColumn) multiply(out *tuple.Column, by int64) {
	lim := math.MaxInt64 / by
	for i, v := range out.Int {
		if v > lim || v < -lim {
			if !out.IsNull(i) {
				c.fail(out, i, len(out.Int), fmt.Sprintf("%d is beyond the range of microseconds", v))
			}
			continue
		}
		out.Int[i] = v * by
	}
}

const maxDecimal = 999_999_999_999_999_999

func decimalConverter(from arrow.DataType, scale uint8) converter {
	if arrow.IsInteger(from.ID()) && from.ID() != arrow.UINT64 {
		return func(c *importColumn, arr arrow.Array, out *tuple.Column) error {
			values, err := integers(arr)
			out.Int = append([]int64(nil), values...)
			c.rescale(out, 0, scale)
			return err
		}
	}
	t, ok := from.(*arrow.Decimal128Type)
	if !ok || t.Scale < 0 || t.Scale > tuple.MaxScale {
		return nil
	}
	return func(c *importColumn, arr arrow.Array, out *tuple.Column) error {
		a := arr.(*array.Decimal128)
		out.Int = make([]int64, a.Len())
		for i := range out.Int {
			v := a.Value(i)
			if !fitsInt64(v) {
				if !out.IsNull(i) {
					c.fail(out, i, a.Len(), "more than 18 digits")
				}
				continue
			}
			out.Int[i] = int64(v.LowBits())
		}
		c.rescale(out, uint8(t.Scale), scale)
		return nil
	}
}

func fitsInt64(v decimal128.Num) bool { return v.HighBits() == int64(v.LowBits())>>63 }

// rescale brings the column's own values from one scale to another; digits that would be lost are an error.
func (c *importColumn) rescale(out *tuple.Column, from, to uint8) {
	factor, down := int64(1), from > to
	for d := max(from, to) - min(from, to); d > 0; d-- {
		factor *= 10
	}
	for i, v := range out.Int {
		reason := ""
		switch {
		case out.IsNull(i):
			out.Int[i] = 0
			continue
		case down && v%factor != 0:
			reason = fmt.Sprintf("digits below scale %d", to)
		case down:
			v /= factor
		case v > maxDecimal/factor || v < -maxDecimal/factor:
			reason = fmt.Sprintf("more than 18 digits at scale %d", to)
		default:
			v *= factor
		}
		if reason == "" && (v > maxDecimal || v < -maxDecimal) {
			reason = "more than 18 digits"
		}
		if reason != "" {
			v = 0
			c.fail(out, i, len(out.Int), reason)
		}
		out.Int[i] = v
	}
}
