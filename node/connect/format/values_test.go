package format

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// value reads one value as the only column of a CSV row.
func value(t *testing.T, decl, text string) string {
	s := stream(t, "", decl)
	name := s.Columns[0].Source()
	lines := read(t, s, csvOptions(), name+"\n\""+strings.ReplaceAll(text, `"`, `""`)+"\"\n")
	require.Len(t, lines, 1)
	return strings.TrimPrefix(lines[0], "! f:2: column x: ")
}

func TestTimestamps(t *testing.T) {
	for _, c := range []struct{ decl, text, want string }{
		{"x timestamp", "2024-04-19T00:00:00Z", `"2024-04-19T00:00:00Z"`},
		{"x timestamp", "2024-02-29 23:59:59.1234567Z", `"2024-02-29T23:59:59.123456Z"`},
		{"x timestamp", "2024-04-19T02:00:00+02:00", `"2024-04-19T00:00:00Z"`},
		{"x timestamp", "2024-04-19T02:00:00+0200", `"2024-04-19T00:00:00Z"`},
		{"x timestamp", "2024-04-18T19:30:00.5-04:30", `"2024-04-19T00:00:00.5Z"`},
		{"x timestamp", "1969-12-31T23:59:59.999999Z", `"1969-12-31T23:59:59.999999Z"`},
		{"x timestamp", "2016-12-31T23:59:60Z", `"2017-01-01T00:00:00Z"`},
		{"x timestamp", "2023-02-29T00:00:00Z", `wrong_type: "2023-02-29T00:00:00Z" is not a timestamp; expected RFC 3339 with an offset, such as 2006-01-02T15:04:05Z; a number needs ` + "`unit`, another form `layout`, text without an offset `zone`"},
		{"x timestamp | zone=UTC", "2018-04-01T10:00:55", `"2018-04-01T10:00:55Z"`},
		{"x timestamp | zone=Europe/Berlin", "2018-07-01 10:00:55", `"2018-07-01T08:00:55Z"`},
		{"x timestamp | zone=Europe/Berlin", "2018-07-01T10:00:55Z", `"2018-07-01T10:00:55Z"`},
		{"x timestamp | layout=2006/01/02 15:04:05.000000", "2019/04/04 16:23:00.325010", `"2019-04-04T16:23:00.32501Z"`},
		{"x timestamp | layout=2006-01-02+15:04:05.000000", "2009-11-18+09:00:03.914398", `"2009-11-18T09:00:03.914398Z"`},
		{"x timestamp | layout=2006-01-02 15:04:05 | zone=Asia/Shanghai", "2021-08-18 15:16:23", `"2021-08-18T07:16:23Z"`},
		{"x timestamp | layout=2006-01-02 15:04:05", "2021-08-18T15:16:23", `wrong_type: "2021-08-18T15:16:23" is not a timestamp; expected the layout 2006-01-02 15:04:05`},
		{"x timestamp | layout=Jan _2 2006 3:04PM | zone=UTC", "Aug  8 2021 3:16PM", `"2021-08-08T15:16:00Z"`},
		{"x timestamp | unit=s", "1664462456.755299", `"2022-09-29T14:40:56.755299Z"`},
		{"x timestamp | unit=s", "1664462456.7552999", `"2022-09-29T14:40:56.755299Z"`},
		{"x timestamp | unit=s", "-0.0000001", `"1969-12-31T23:59:59.999999Z"`},
		{"x timestamp | unit=s", "1.664462456e9", `"2022-09-29T14:40:56Z"`},
		{"x timestamp | unit=ns", "1718905365392963999", `"2024-06-20T17:42:45.392963Z"`},
		{"x timestamp | unit=ms", "60000", `"1970-01-01T00:01:00Z"`},
		{"x timestamp | unit=ms", "1718905365392", `"2024-06-20T17:42:45.392Z"`},
		{"x timestamp | unit=ms", "1718905365", `wrong_unit: "1718905365" in ms is 1970-01-20: looks like s`},
		{"x timestamp | unit=ms", "1718905365392963", `wrong_unit: "1718905365392963" in ms is year 56439: looks like us`},
		{"x timestamp | unit=s", "1718905365392963000", `wrong_unit: "1718905365392963000" in s is beyond all years: looks like ns`},
		{"x timestamp | unit=s", "99999999999999999999999", `out_of_range: "99999999999999999999999" is beyond the range of timestamp`},
		{"x timestamp | unit=s", "1e999999999", `wrong_type: "1e999999999" is not a timestamp; expected a number in s`},
		{"x timestamp", "1718905365", `wrong_type: "1718905365" is not a timestamp; expected RFC 3339 with an offset, such as 2006-01-02T15:04:05Z; a number needs ` + "`unit`, another form `layout`, text without an offset `zone`"},
		{"x timestamp", " 15:16:23", `wrong_type: " 15:16:23" is not a timestamp; expected RFC 3339 with an offset, such as 2006-01-02T15:04:05Z; a number needs ` + "`unit`, another form `layout`, text without an offset `zone`"},
		{"x timestamp", strings.Repeat("\x00", 16) + ":00Z", `wrong_type: "` + strings.Repeat(`\x00`, 16) + `:00Z" is not a timestamp; expected RFC 3339 with an offset, such as 2006-01-02T15:04:05Z; a number needs ` + "`unit`, another form `layout`, text without an offset `zone`"},
	} {
		t.Run(c.decl+" "+c.text, func(t *testing.T) { require.Equal(t, c.want, value(t, c.decl, c.text)) })
	}
}

func TestOtherValues(t *testing.T) {
	for _, c := range []struct{ decl, text, want string }{
		{"x float64", "0.1", "0.1"},
		{"x float64", "73.96732207", "73.96732207"},
		{"x float64", "74.93588199999998", "74.93588199999998"},
		{"x float64", "-1e-300", "-1e-300"},
		{"x float64", "nan", `"NaN"`},
		{"x float64", "-inf", `"-Infinity"`},
		{"x float64", "1e999", `out_of_range: "1e999" is beyond the range of float64`},
		{"x float64", "0x10", `wrong_type: "0x10" is not of type float64`},
		{"x float64", "1_000", `wrong_type: "1_000" is not of type float64`},
		{"x decimal(18,2)", "11.23", "11.23"},
		{"x decimal(18,2)", "-0.5", "-0.50"},
		{"x decimal(18,2)", "1.230", "1.23"},
		{"x decimal(18,2)", "1.5e3", "1500.00"},
		{"x decimal(18,2)", "1.234", `out_of_range: "1.234" does not fit decimal(18,2)`},
		{"x decimal(18,2)", "99999999999999999", `out_of_range: "99999999999999999" does not fit decimal(18,2)`},
		{"x decimal(18,2)", "1,5", `wrong_type: "1,5" is not of type decimal(18,2)`},
		{"x bool", "T", "true"},
		{"x bool", "FALSE", "false"},
		{"x bool", "yes", `wrong_type: "yes" is not of type bool`},
		{"x ip", "10.0.0.1", `"10.0.0.1"`},
		{"x ip", "::ffff:10.0.0.1", `"10.0.0.1"`},
		{"x ip", "2001:DB8::1", `"2001:db8::1"`},
		{"x ip", "10.0.0.256", `wrong_type: "10.0.0.256" is not of type ip`},
		{"x ip", "00:22:2d:81:db:10", `wrong_type: "00:22:2d:81:db:10" is not of type ip`},
		{"x cidr", "10.1.2.3/8", `"10.0.0.0/8"`},
		{"x bytes", "00ff", `"AP8="`},
		{"x duration", "1h30m", `"1h30m"`},
		{"x duration | unit=s", "0.163820", `"163.82ms"`},
		{"x duration", "5", `wrong_type: "5" is a number without a unit; give the column a ` + "`unit`"},
		{"x string", "", `""`},
	} {
		t.Run(c.decl+" "+c.text, func(t *testing.T) { require.Equal(t, c.want, value(t, c.decl, c.text)) })
	}
}

func TestTimeOfSeveralFields(t *testing.T) {
	s := stream(t, "ts", "ts timestamp | from=year,month,day,hour | zone=Asia/Shanghai", "n int64")
	require.Equal(t, []string{`"2013-02-28T16:00:00Z" 1`, `! f:3: column ts: no_time: the time of the row is missing`,
		`! f:4: column ts: wrong_type: "2013 2 30 0" is not a timestamp; expected numbers in year, month, day, hour`},
		read(t, s, csvOptions(), "n,year,month,day,hour\n1,2013,3,1,0\n2,2013,,1,0\n3,2013,2,30,0\n"))
	require.Equal(t, []string{`"2013-02-28T16:00:00Z" 1`, `! f:2: column ts: no_time: the time of the row is missing`},
		read(t, s, jsonOptions(), `{"hour":0,"day":1,"month":3,"year":2013,"n":1}`+"\n"+`{"n":2,"year":2013}`))
	s = stream(t, "", "ts timestamp | from=date,time | layout=02.01.2006 15:04 | zone=UTC")
	require.Equal(t, []string{`"2013-03-01T07:05:00Z"`}, read(t, s, csvOptions(), "date,time\n01.03.2013,07:05\n"))
}

func TestDurationsAgreeWithTheGeneralParser(t *testing.T) {
	for _, text := range []string{"0s", "1s", "1.5s", "0.000001s", "0.0000001s", "1.s", ".5s", ".s", "s", "250ms", "0.001ms", "0.0001ms", "7us", "7.5us", "7µs", "1..5s", "-1s", "+2s",
		"999999999999999s", "9999999999999999s", "1s2", "1h30m", "7d", "1 s", "s1", ""} {
		want, err := tuple.ParseDuration(text)
		got, reason := readDuration([]byte(text), connect.Unit{})
		require.Equal(t, err == nil, reason == connect.OK, text)
		if err == nil {
			require.Equal(t, want, got, text)
		}
	}
}

// Every local time of a year around both changes of the clocks must be what package time makes of it.
func TestZoneCacheAgreesWithPackageTime(t *testing.T) {
	loc, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	p := newTimeParser(&connect.ColumnSpec{Zone: "Europe/Berlin"})
	for _, day := range []string{"2024-03-31", "2024-10-27", "2024-06-01"} {
		for m := range 24 * 60 {
			at, err := time.ParseInLocation("2006-01-02", day, time.UTC)
			require.NoError(t, err)
			text := at.Add(time.Duration(m) * time.Minute).Format("2006-01-02T15:04:05")
			want, err := time.ParseInLocation("2006-01-02T15:04:05", text, loc)
			require.NoError(t, err)
			got, reason := p.read([]byte(text), connect.Unit{})
			require.Equal(t, connect.OK, reason)
			require.Equal(t, want.UnixMicro(), got, text)
		}
	}
}

func TestDaysAgreeWithPackageTime(t *testing.T) {
	for y := 0; y <= 9999; y += 7 {
		for m := 1; m <= 12; m++ {
			require.Equal(t, time.Date(y, time.Month(m), 1, 0, 0, 0, 0, time.UTC).Unix()/86400, floorDiv(daysOf(y, m, 1)*86400, 86400))
			require.Equal(t, time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC).Day(), daysIn(y, m))
		}
	}
}

func floorDiv(a, b int64) int64 { return int64(tuple.Time(a).FloorTo(b, 0)) / b }
