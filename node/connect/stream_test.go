package connect

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

func TestColumnsThatCannotBe(t *testing.T) {
	ts, text, num := tuple.Of(tuple.Timestamp), tuple.Of(tuple.String), tuple.Of(tuple.Int64)
	for _, c := range []struct {
		spec ColumnSpec
		want string
	}{
		{ColumnSpec{Type: ts, Unit: "m"}, "column x.unit: `m` is not a unit; expected s, ms, us or ns"},
		{ColumnSpec{Type: num, Unit: "s"}, "column x.unit: only a timestamp or a duration has a unit, the type is int64"},
		{ColumnSpec{Type: text, Zone: "UTC"}, "column x.type: layout, zone and from are for a timestamp, the type is string"},
		{ColumnSpec{Type: ts, Layout: "2006", Unit: "s"}, "column x.layout: a timestamp is text with a layout or a number with a unit, not both"},
		{ColumnSpec{Type: ts, Layout: "YYYY-MM-dd HH:mm:ss"}, "column x.layout: `YYYY-MM-dd HH:mm:ss` names no year, month or day in the notation 2006-01-02 15:04:05; write it as `2006-01-02 15:04:05`"},
		{ColumnSpec{Type: ts, Layout: "%Y/%m/%d %H:%M"}, "column x.layout: `%Y/%m/%d %H:%M` names no year, month or day in the notation 2006-01-02 15:04:05; write it as `2006/01/02 15:04`"},
		{ColumnSpec{Type: ts, Zone: "Mars"}, "column x.zone: no time zone `Mars`; expected a name such as UTC or Europe/Berlin"},
		{ColumnSpec{Type: ts, From: []string{"a"}}, "column x.from: without a layout, 3 to 6 fields are needed: year, month, day, hour, minute, second"},
		{ColumnSpec{Type: ts, From: []string{"a", "b", "c"}, Field: "d"}, "column x.from: a column has `field` or `from`, not both"},
		{ColumnSpec{Type: num, Field: "@row"}, "column x.field: no field `@row`; the fields of a place are @file, @line and @offset"},
		{ColumnSpec{Type: num, Field: "@file"}, "column x.type: @file is of type string, not int64"},
	} {
		c.spec.Name = "x"
		_, errs := NewStream("s", []ColumnSpec{c.spec}, "")
		require.NotEmpty(t, errs)
		require.EqualError(t, errs[0], c.want)
	}
	_, errs := NewStream("s", []ColumnSpec{{Name: "x", Type: num}}, "x")
	require.EqualError(t, errs[0], "column x.type: the time of a stream is a timestamp, got int64")
	_, errs = NewStream("s", []ColumnSpec{{Name: "x", Type: num}}, "ts")
	require.EqualError(t, errs[0], "column ts: the stream's time names a column that is not declared")
	_, errs = NewStream("s", []ColumnSpec{{Name: "x", Type: num}, {Name: "x", Type: num}}, "")
	require.Len(t, errs, 1)
	_, errs = NewStream("s", nil, "")
	require.Len(t, errs, 1)
}

func TestRejectsBecomeRows(t *testing.T) {
	b := tuple.NewBatchBuilder(RejectSchema())
	AppendReject(b, &Reject{Reason: WrongType, Field: "n", Place: Place{File: "f", Line: 3, Offset: 20}, Detail: "no number", Raw: []byte("a,\xFF")}, 5)
	AppendReject(b, &Reject{Reason: Syntax, Place: Place{Offset: 7}}, 6)
	got := b.Take()
	require.NoError(t, got.Check())
	require.Equal(t, []tuple.Time{5, 6}, got.Time)
	text := func(row int) (cells []string) {
		for i := range got.Cols {
			cells = append(cells, string(got.Cols[i].AppendText(nil, row)))
		}
		return cells
	}
	require.Equal(t, []string{"wrong_type", "n", "f", "3", "20", "no number", "612cff"}, text(0))
	require.Equal(t, []string{"syntax", "", "", "", "7", "", ""}, text(1))
}

func TestReasonsAreAClosedList(t *testing.T) {
	require.Equal(t, []string{"syntax", "field_count", "wrong_type", "out_of_range", "wrong_unit", "no_time", "bad_utf8", "too_large", "cut"}, Reasons())
	require.Equal(t, "reason(99)", Reason(99).String())
}
