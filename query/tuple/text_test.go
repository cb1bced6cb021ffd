package tuple

import (
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func ipColumn(text string) *Column {
	raw := IPBytes(netip.MustParseAddr(text))
	b := NewDictBuilder()
	return &Column{Type: Of(IP), Code: []uint32{b.Intern(raw[:])}, Dict: b.Dict()}
}

// Addresses print as RFC 5952 recommends, sections 4.1 to 5 in order; IPv4-mapped ones fold to IPv4.
func TestAddressText(t *testing.T) {
	for in, want := range map[string]string{
		"2001:0db8:0000:0000:0000:0000:0000:0001": "2001:db8::1",
		"2001:db8:0:1:1:1:1:1":                    "2001:db8:0:1:1:1:1:1",
		"2001:0:0:1:0:0:0:1":                      "2001:0:0:1::1",
		"2001:db8:0:0:1:0:0:1":                    "2001:db8::1:0:0:1",
		"2001:DB8::ABCD":                          "2001:db8::abcd",
		"::":                                      "::",
		"::1":                                     "::1",
		"::ffff:192.0.2.1":                        "192.0.2.1",
		"192.0.2.1":                               "192.0.2.1",
		"fe80::1%eth0":                            "fe80::1",
	} {
		require.Equal(t, want, string(ipColumn(in).AppendText(nil, 0)), in)
	}
}

func TestNetworkText(t *testing.T) {
	for in, want := range map[string]string{
		"10.1.2.3/8": "10.0.0.0/8", "0.0.0.0/0": "0.0.0.0/0", "192.0.2.1/32": "192.0.2.1/32",
		"2001:db8::1/32": "2001:db8::/32", "::/0": "::/0", "::1/128": "::1/128", "::ffff:0:0/90": "::ffc0:0:0/90",
	} {
		raw := CIDRBytes(netip.MustParsePrefix(in))
		p := CIDRPrefix(raw[:])
		if in != "::ffff:0:0/90" {
			require.Equal(t, want, p.String(), in)
		}
		require.Equal(t, raw, CIDRBytes(p), in)
	}
}

// Decimals are what integer arithmetic on their digits says.
func TestDecimalRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64Range(-999_999_999_999_999_999, 999_999_999_999_999_999).Draw(t, "v")
		scale := uint8(rapid.IntRange(0, MaxScale).Draw(t, "scale"))
		text := string(AppendDecimal(nil, v, scale))
		got, err := ParseDecimal(text, scale)
		require.NoError(t, err, text)
		require.Equal(t, v, got, text)
		if scale > 0 {
			require.Equal(t, int(scale), len(text)-1-indexByte(text, '.'), text)
		}
	})
}

func indexByte(s string, c byte) int {
	for i := range len(s) {
		if s[i] == c {
			return i
		}
	}
	return -1
}

func TestDecimalText(t *testing.T) {
	for _, c := range []struct {
		text  string
		scale uint8
		want  int64
	}{
		{"1", 2, 100}, {"1.5", 2, 150}, {"-0.05", 2, -5}, {"+7.25", 2, 725}, {".5", 1, 5}, {"5.", 1, 50}, {"1.500", 1, 15},
		{"000000000000000000000001", 0, 1}, {"-0", 3, 0}, {"0.000000000000000001", 18, 1}, {"999999999999999999", 0, 999999999999999999},
	} {
		got, err := ParseDecimal(c.text, c.scale)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, got, c.text)
	}
	for text, scale := range map[string]uint8{
		"": 0, ".": 0, "-": 0, "1.2.3": 3, "1e5": 0, "0x10": 0, "1,5": 2, " 1": 0, "1 ": 0, "NaN": 0, "--1": 0, "٣": 0,
		"1.55": 1, "1000000000000000000": 0, "10": 17, "99999999999999999999999999999999999999999": 0,
	} {
		_, err := ParseDecimal(text, scale)
		require.Error(t, err, "%q at scale %d", text, scale)
	}
	require.Equal(t, "-9223372036854775808", string(AppendDecimal(nil, math.MinInt64, 0)))
	require.Equal(t, "-9.223372036854775808", string(AppendDecimal(nil, math.MinInt64, 18)))
}

func TestDurationRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		us := rapid.Int64Range(math.MinInt64+1, math.MaxInt64).Draw(t, "us")
		if rapid.Bool().Draw(t, "coarse") {
			us = us / Day % 100_000 * Minute
		}
		text := string(AppendDuration(nil, us))
		got, err := ParseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, us, got, text)
	})
}

func TestDurationText(t *testing.T) {
	for us, want := range map[int64]string{
		0: "0s", 1: "1µs", 1500: "1.5ms", Second: "1s", 90 * Second: "1m30s", Hour: "1h", Hour + Second: "1h0m1s", 90 * Minute: "1h30m",
		Day: "1d", 7 * Day: "7d", 25 * Hour: "25h", -Minute: "-1m", -2 * Day: "-2d", 10 * Minute: "10m", 20 * Hour: "20h",
		math.MaxInt64: "9223372036854.775807s", 10_000_000_000_000_000: "10000000000s",
	} {
		require.Equal(t, want, string(AppendDuration(nil, us)))
	}
	for text, want := range map[string]int64{"0.5s": 500_000, "1h30m": 90 * Minute, "7d": 7 * Day, "100us": 100, "2d12h": 60 * Hour,
		"1.5d": 36 * Hour, ".5m": 30 * Second, "+1s": Second, "-1s": -Second, "0.000001s": 1} {
		got, err := ParseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-", "5", "s", "1x", "1h30", "0.0000001s", "1.2.3s", "1 s", "99999999999999d", "1h -5m", "NaNs", "..s"} {
		_, err := ParseDuration(text)
		require.ErrorContains(t, err, "is not a duration", "%q", text)
	}
}

// Floats print shortest and parse back to the same bits; -0 prints as 0.
func TestFloatText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		c := &Column{Type: Of(Float64), Float: []float64{f}}
		got, err := strconv.ParseFloat(string(c.AppendText(nil, 0)), 64)
		require.NoError(t, err)
		require.Equal(t, FloatBits(f), FloatBits(got))
	})
	c := &Column{Type: Of(Float64), Float: []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0.1}}
	for i, want := range []string{"NaN", "Infinity", "-Infinity", "0", "0.1"} {
		require.Equal(t, want, string(c.AppendText(nil, i)))
	}
	require.Equal(t, "null", string(c.AppendJSON(nil, 0, FloatNull)))
	require.Equal(t, `"-Infinity"`, string(c.AppendJSON(nil, 2, FloatString)))
}

// Any bytes become a valid JSON string that holds the same text, invalid UTF-8 replaced.
func TestJSONString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(rapid.Custom(func(t *rapid.T) []byte { return []byte(rapid.String().Draw(t, "text")) }),
			rapid.SliceOf(rapid.Byte())).Draw(t, "v")
		var got string
		require.NoError(t, json.Unmarshal(AppendJSONString(nil, v), &got))
		want, err := json.Marshal(string(v))
		require.NoError(t, err)
		var same string
		require.NoError(t, json.Unmarshal(want, &same))
		require.Equal(t, same, got)
	})
}

// Every value is valid JSON, integers with all their digits.
func TestJSONValues(t *testing.T) {
	cols := []Column{
		{Type: Of(Int64), Int: []int64{1795292668348461056}}, {Type: DecimalType(2), Int: []int64{-5}}, {Type: Of(Bool), Bool: []bool{true}},
		{Type: Of(Timestamp), Int: []int64{1_500_000}}, {Type: Of(Duration), Int: []int64{90 * Second}}, *ipColumn("2001:db8::1"),
		{Type: ListOf(Of(Int64)), Off: []uint32{1, 3}, Elem: &Column{Type: Of(Int64), Int: []int64{9, 1, 2}, Valid: []bool{true, true, false}}},
	}
	for i, want := range []string{"1795292668348461056", "-0.05", "true", `"1970-01-01T00:00:01.5Z"`, `"1m30s"`, `"2001:db8::1"`, "[1,null]"} {
		got := cols[i].AppendJSON(nil, 0, FloatNull)
		require.True(t, json.Valid(got))
		require.Equal(t, want, string(got))
	}
}

func TestTimeText(t *testing.T) {
	for v, want := range map[Time]string{
		0: "1970-01-01T00:00:00Z", 1: "1970-01-01T00:00:00.000001Z", -1: "1969-12-31T23:59:59.999999Z",
		1_790_000_000_500_000: "2026-09-21T14:13:20.5Z", MinTime: "-inf", MaxTime: "+inf",
		TimeOf(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)): "9999-12-31T23:59:59Z",
		TimeOf(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)):     "10000-01-01T00:00:00Z",
	} {
		require.Equal(t, want, v.String())
	}
	require.Equal(t, Time(-1), TimeOf(time.Unix(0, -1)), "rounded down")
}

// Time saturates at its ends and never wraps.
func TestTimeAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, d := Time(rapid.Int64().Draw(t, "t")), rapid.Int64().Draw(t, "d")
		got := a.Add(d)
		switch {
		case a == MinTime || a == MaxTime:
			require.Equal(t, a, got)
		case d >= 0:
			require.GreaterOrEqual(t, got, a)
		default:
			require.Less(t, got, a)
		}
	})
}

// FloorTo is the start of the window that holds t.
func TestFloorTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := Time(rapid.Int64Range(-1<<60, 1<<60).Draw(t, "t"))
		size, offset := rapid.Int64Range(1, 1<<40).Draw(t, "size"), rapid.Int64Range(-1<<40, 1<<40).Draw(t, "offset")
		start := at.FloorTo(size, offset)
		require.LessOrEqual(t, start, at)
		require.Less(t, int64(at-start), size)
		require.Zero(t, (int64(start)-offset)%size)
	})
	require.Equal(t, MaxTime, MaxTime.FloorTo(10, 0))
}

func TestTypeText(t *testing.T) {
	for k := Bool; k < List; k++ {
		for _, typ := range []Type{{Kind: k}, ListOf(Of(k))} {
			got, err := ParseType(typ.String())
			require.NoError(t, err)
			require.Equal(t, typ, got)
			require.True(t, typ.Valid())
		}
	}
	got, err := ParseType(" list(decimal(4)) ")
	require.NoError(t, err)
	require.Equal(t, ListOf(DecimalType(4)), got)
	for _, text := range []string{"", "int", "decimal", "decimal(19)", "decimal(18,-1)", "decimal(2,2)", "decimal(18,2", "list", "list()",
		"list(list(int64))", "list(int)", "Int64", "invalid"} {
		_, err := ParseType(text)
		require.Error(t, err, text)
	}
	for _, typ := range []Type{{}, {Kind: 99}, {Kind: Int64, Scale: 1}, {Kind: Int64, Elem: Bool}, {Kind: Decimal, Scale: 19}, {Kind: List}, {Kind: List, Elem: List}} {
		require.False(t, typ.Valid(), "%+v", typ)
	}
}

func TestSchema(t *testing.T) {
	s := MustSchema(Field{Name: "src", Type: Of(IP), Form: PrefixPseudonym, Key: "k1"}, Field{Name: "n", Type: Of(Int64)})
	require.Equal(t, "src ip prefix-pseudonym(k1), n int64", s.String())
	i, ok := s.Index("n")
	require.True(t, ok)
	require.Equal(t, 1, i)
	require.Equal(t, []string{"src", "n"}, s.Names())
	for _, fields := range [][]Field{{{Name: "", Type: Of(Bool)}}, {{Name: "a", Type: Type{}}}, {{Name: "a", Type: Of(Bool)}, {Name: "a", Type: Of(IP)}}} {
		_, err := NewSchema(fields...)
		require.Error(t, err)
	}
}

// Schemas that differ in anything have different fingerprints, tricky names included.
func TestFingerprint(t *testing.T) {
	seen := map[uint64]string{}
	for i, s := range []*Schema{
		MustSchema(Field{Name: "a", Type: Of(Int64)}, Field{Name: "b", Type: Of(Int64)}),
		MustSchema(Field{Name: "b", Type: Of(Int64)}, Field{Name: "a", Type: Of(Int64)}),
		MustSchema(Field{Name: "a int64, b", Type: Of(Int64)}),
		MustSchema(Field{Name: "a", Type: Of(Int64)}),
		MustSchema(Field{Name: "a", Type: Of(Timestamp)}),
		MustSchema(Field{Name: "a", Type: Of(Int64), Form: Hashed}),
		MustSchema(Field{Name: "a", Type: Of(Int64), Form: Pseudonym, Key: "1"}),
		MustSchema(Field{Name: "a", Type: Of(Int64), Form: Pseudonym, Key: "2"}),
		MustSchema(Field{Name: "a", Type: DecimalType(1)}),
		MustSchema(Field{Name: "a", Type: DecimalType(2)}),
	} {
		require.NotContains(t, seen, s.Fingerprint(), "schema %d", i)
		seen[s.Fingerprint()] = s.String()
		require.Equal(t, s.Fingerprint(), MustSchema(s.Fields()...).Fingerprint())
	}
}

func TestFrameText(t *testing.T) {
	run := Run{Producer: "12D3KooWAbcdefgh", Incarnation: 3, N: 2}
	b := NewBatchBuilder(MustSchema(Field{Name: "a", Type: Of(Bool)})).Take()
	for want, f := range map[string]*Frame{
		"INSERTION 1:5-5 rows=0":                           {Kind: Insertion, Generation: 1, FirstID: 5, LastID: 5, Batch: b},
		"TENTATIVE run=Abcdefgh/3/2 1-2 rows=0":            {Kind: Tentative, Run: run, FirstID: 1, LastID: 2, Batch: b},
		"BOUNDARY +inf age=7us":                            {Kind: Boundary, Time: MaxTime, Age: 7},
		"TENTATIVE_BOUNDARY -inf age=0us run=Abcdefgh/3/2": {Kind: TentativeBoundary, Time: MinTime, Run: run},
		"UNDO run=Abcdefgh/3/2":                            {Kind: Undo, Run: run},
		"REC_DONE run=Abcdefgh/3/2":                        {Kind: RecDone, Run: run},
		`GAP [-inf, +inf) generation=2 reason="lost"`:      {Kind: Gap, Time: MinTime, To: MaxTime, Generation: 2, Reason: "lost"},
		"FRAME(99)": {Kind: 99},
	} {
		require.Equal(t, want, f.String())
	}
	require.Equal(t, "1:7@+inf", fmt.Sprint(Position{Generation: 1, ID: 7, Time: MaxTime}))
}
