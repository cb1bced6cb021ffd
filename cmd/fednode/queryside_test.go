package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const sideInput = "at,who\n1700000009,ann\n1700000000,bob\nyesterday,cid\n1700000010,ann\n"

// TestQueryRunSides: what was set aside can be had as files beside the outputs, and the report says where it is.
func TestQueryRunSides(t *testing.T) {
	dir := runFolder(t, map[string]string{"in.csv": sideInput})
	late, errors := filepath.Join(dir, "late.csv"), filepath.Join(dir, "errors.jsonl")
	args := []string{"query", "run", filepath.Join(dir, "q.toml"), "--set", "streams.in.max_out_of_order=2s"}
	var got runJSON
	okJSON(t, &got, append(args, "--sink", "in.late="+late, "--sink", "in.errors="+errors)...)
	require.Equal(t, streamJSON{RowsIn: 2, Late: 1, Errors: 1, Reasons: map[string]uint64{"wrong_type": 1}, End: "eof", LatePath: late, ErrorsPath: errors}, got.Streams["in"])
	body, err := os.ReadFile(late)
	require.NoError(t, err)
	require.Equal(t, "reason,limit,time,row\n"+
		`late,2023-11-14T22:13:27Z,2023-11-14T22:13:20Z,"{""at"":""2023-11-14T22:13:20Z"",""who"":""bob""}"`+"\n", string(body))
	body, err = os.ReadFile(errors)
	require.NoError(t, err)
	require.Contains(t, string(body), `"line":4,`)
	require.Contains(t, string(body), `"raw":"eWVzdGVyZGF5LGNpZA=="`)

	require.Equal(t, string(body), ok(t, append(args, "--sink", "in.errors=-")...), "- is standard output")
}

// TestQueryRunSidesRefused: sinks of side streams that cannot be.
func TestQueryRunSidesRefused(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no such stream":   {[]string{"--sink", "inn.late=x.csv"}, "did you mean `in.late`"},
		"no such side":     {[]string{"--sink", "in.error=x.csv"}, "did you mean `in.errors`"},
		"twice":            {[]string{"--sink", "in.late=x.csv", "--sink", "in.late=y.csv"}, "given twice"},
		"unknown format":   {[]string{"--sink", "in.late=x.doc"}, "expected .csv"},
		"errors skipped":   {[]string{"--sink", "in.errors=x.csv", "--set", "streams.in.on_error=skip"}, "--set streams.in.on_error=side"},
		"late rows drop":   {[]string{"--sink", "in.late=x.csv", "--set", "streams.in.late=drop"}, "--set streams.in.late=side"},
		"no such output":   {[]string{"--sink", "outt=x.csv"}, "did you mean `out`"},
		"no such folder":   {[]string{"--sink", "in.late=/no/such/folder/x.csv"}, "there is no directory /no/such/folder; create it"},
		"a directory only": {[]string{"--sink", "in.late=/"}, "is a directory; name a file in it"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := runFolder(t, map[string]string{"in.csv": sideInput})
			t.Chdir(dir)
			r := command(t, append([]string{"query", "run", "q.toml"}, c.args...)...)
			require.NotEqual(t, exitDone, r.code)
			require.Contains(t, r.err, c.says)
			require.NoFileExists(t, "out.csv")
		})
	}
}
