package format

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const zeekHead = "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\tconn\n"

func TestZeekTSV(t *testing.T) {
	s := stream(t, "ts", "ts timestamp", "src ip | field=id.orig_h", "dur duration | field=duration", "tags list(string)", "svc string | field=service")
	text := zeekHead + "#fields\t_node\tts\tid.orig_h\tduration\ttags\tservice\n#types\tstring\ttime\taddr\tinterval\tset[string]\tstring\n" +
		"w\t1713484795.943239\t167.94.138.145\t0.000064\ta,b\tdns\n" +
		"w\t1713484796.000000\tfe80::1\t-\t-\t-\n" +
		"w\t1713484797.000000\t10.0.0.1\t3.5\t(empty)\t(empty)\n" +
		"w\t1713484798.000000\t10.0.0.1\t3.5\n" +
		"w\t-\t10.0.0.1\t3.5\t-\t-\n" +
		"#close\t2024-04-19-00-00-01\n" +
		"#fields\tid.orig_h\tts\ttags\tservice\n" + // the log was rotated, and duration is gone
		"10.0.0.2\t1713484799.000000\tx\ta\\x09b\\xff\n" +
		"10.0.0.2\t1713484799.000000\tx\ta\\x09b\n"
	require.Equal(t, []string{
		`"2024-04-18T23:59:55.943239Z" "167.94.138.145" "64µs" ["a","b"] "dns"`,
		`"2024-04-18T23:59:56Z" "fe80::1" null null null`,
		`"2024-04-18T23:59:57Z" "10.0.0.1" "3.5s" [] ""`,
		`! f:11: field_count: 4 fields, #fields names 6`,
		`! f:12: column ts: no_time: the time of the row is missing`,
		`"2024-04-18T23:59:59Z" "10.0.0.2" null ["x"] "a\\x09b\\xff"`,
		`"2024-04-18T23:59:59Z" "10.0.0.2" null ["x"] "a\tb"`,
	}, read(t, s, DefaultOptions(Zeek), text))

	o := DefaultOptions(Zeek)
	r, err := NewReader(s, o, strings.NewReader(text))
	require.NoError(t, err)
	rows := NewRows(s, 100, &o)
	require.ErrorContains(t, r.Read(rows, true), "EOF")
	require.Contains(t, r.Notice(), "no field \"duration\" for column `dur`")
}

func TestZeekJSONIsFoundOut(t *testing.T) {
	s := stream(t, "ts", "ts timestamp", "src ip | field=id.orig_h")
	require.Equal(t, []string{`"2022-09-29T14:40:56.755299Z" "172.16.1.11"`, `"2011-08-15T03:36:16.74883Z" "210.87.254.81"`},
		read(t, s, DefaultOptions(Zeek), "\n"+`{"ts":1664462456.755299,"id.orig_h":"172.16.1.11"}`+"\n"+
			`{"ts":"2011-08-15T03:36:16.748830Z","id.orig_h":"210.87.254.81"}`))
}

func TestZeekRowBeforeItsHeader(t *testing.T) {
	s := stream(t, "", "src string | field=id.orig_h")
	require.Equal(t, []string{"! f:1: syntax: a row before the line #fields", `"a"`},
		read(t, s, DefaultOptions(Zeek), "a\tb\n#fields\tid.orig_h\tx\na\tb\n"))
}
