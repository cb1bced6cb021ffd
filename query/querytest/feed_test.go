package querytest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query"
)

const everyType = `
[query]
name = "q"
[streams.s]
connector = "node"
stream = "south/s"
time = "ts"
[streams.s.columns]
ts = "timestamp"
b = "bool"
i = "int64"
f = "float64"
d = "decimal(2)"
s = "string"
a = "ip"
c = "cidr"
u = "duration"
[outputs.o]
connector = "node"
input = "s"
`

func planOf(t *testing.T, src string) (*query.Plan, *Feed) {
	d, p := query.Parse("q.toml", []byte(src), query.Options{})
	require.NoError(t, p.Err())
	return query.NewPlan(d, query.Placement{}, p), NewFeed(d)
}

func TestFeedReadsEveryType(t *testing.T) {
	plan, feed := planOf(t, everyType)
	require.NoError(t, feed.Rows("s", "1.5s true -7 2.5 1.25 \"two words\" 10.0.0.1 10.0.0.0/8 90s\n2s - - - - - - - -"))
	feed.End()
	lines, err := Run(plan, feed, Variants()[0])
	require.NoError(t, err)
	require.Equal(t, []string{
		"o#1 1.5s ts=1970-01-01T00:00:01.5Z b=true i=-7 f=2.5 d=1.25 s=two words a=10.0.0.1 c=10.0.0.0/8 u=1m30s",
		"o#2 2s ts=1970-01-01T00:00:02Z b=- i=- f=- d=- s=- a=- c=- u=-",
	}, lines)
}

func TestFeedErrors(t *testing.T) {
	_, feed := planOf(t, everyType)
	good := "1s true 1 1 1 x 1.1.1.1 1.0.0.0/8 1s"
	for line, want := range map[string]string{
		"":           "no stime",
		"x":          "not a duration",
		"1s true":    "no value for column i",
		good + " 5":  `value "5" has no column`,
		"1s maybe":   "column b",
		`1s "maybe`:  "no closing quote",
		"1s true 1x": "column i",
		strings.Replace(good, "1.1.1.1", "1.1.1", 1): "column a",
	} {
		require.ErrorContains(t, feed.Rows("s", line), want, line)
	}
	require.ErrorContains(t, feed.Rows("other", good), "no stream other")
	require.ErrorContains(t, feed.Boundary("other", 1), "no stream other")
}
