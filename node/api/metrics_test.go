package api

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const listFile = "testdata/metrics.golden"

// The names, types, labels and units of metrics are a promise.
func TestListOfMetrics(t *testing.T) {
	var b strings.Builder
	for _, m := range metricTable() {
		kind := [...]string{"gauge", "counter", "histogram"}[m.kind]
		fmt.Fprintf(&b, "%s{%s} %s: %s\n", m.name, strings.Join(m.labels, ","), kind, m.help)
		require.Equal(t, m.kind == counter, strings.HasSuffix(m.name, "_total"), m.name)
	}
	if *rewrite {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(listFile, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(listFile)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}

func TestMetrics(t *testing.T) {
	r := newRig(t)
	got := r.do(call{method: "GET", path: "/metrics"})
	require.Equal(t, 200, got.status)
	for _, line := range []string{
		`fednode_ready 1`,
		`fednode_stream_rows_total{stream="north/conns"} 9`,
		`fednode_stream_rows_late_total{stream="north/conns"} 2`,
		`fednode_stream_rows_rejected_total{reason="syntax",stream="north/conns"} 1`,
		`fednode_stream_rows_rejected_total{reason="future",stream="north/conns"} 0`,
		`fednode_stream_boundary_timestamp_seconds{stream="north/conns"} 5`,
		`fednode_stream_diverged{query="north/netmon",stream="north/conns"} 1`,
		`fednode_output_state{query="north/netmon",state="stable",stream="north/netmon/suspects"} 1`,
		`fednode_output_state{query="north/netmon",state="failure",stream="north/netmon/suspects"} 0`,
		`fednode_output_tentative_rows_total{query="north/netmon",stream="north/netmon/suspects"} 4`,
		`fednode_output_begun_anew_total{query="north/netmon",stream="north/netmon/suspects"} 2`,
		`fednode_output_delay_seconds_bucket{query="north/netmon",stream="north/netmon/suspects",le="0.1"} 3`,
		`fednode_output_delay_seconds_bucket{query="north/netmon",stream="north/netmon/suspects",le="0.25"} 5`,
		`fednode_output_delay_seconds_bucket{query="north/netmon",stream="north/netmon/suspects",le="+Inf"} 6`,
		`fednode_output_delay_seconds_sum{query="north/netmon",stream="north/netmon/suspects"} 1.5`,
		`fednode_availability_bound_seconds{query="north/netmon"} 3`,
		`fednode_buffer_bytes{stream="north/netmon/suspects"} 10`,
		`fednode_buffer_limit_bytes{stream="north/netmon/suspects"} 100`,
		`fednode_fragment_up{fragment="main",query="north/netmon"} 1`,
		`fednode_partner_up{org="east"} 0`,
		`fednode_partner_up{org="south"} 1`,
		`fednode_storage_full 0`,
		`fednode_certificate_expiry_timestamp_seconds 1.767323045e+09`,
	} {
		require.Contains(t, got.body, line+"\n")
	}
	require.Contains(t, got.body, `fednode_build_info{go_version="go`)
	require.Contains(t, got.body, `fednode_checkpoint_age_seconds{fragment="main",query="north/netmon"} 4.`)
	require.Contains(t, got.body, "go_goroutines")
	require.Contains(t, got.body, "process_cpu_seconds_total")
	require.NotContains(t, got.body, `org="north"`, "a node is no partner of itself")
	require.NotContains(t, got.body, "12D3Koo", "no peer id is a label")
	require.NotContains(t, got.body, "127.0.0.1", "no address is a label")
}

// However large a query is, it takes no more than its share of series, and what is left out is counted.
func TestSeriesOfAQuery(t *testing.T) {
	for fragments := range 40 {
		q := sampleStatus().Queries[0]
		q.Fragments = nil
		for i := range fragments {
			f := sampleFragment(fmt.Sprint("f", i), q.Sinks[0].At)
			f.Outputs[0].Stream = fmt.Sprint("north/netmon/", i)
			q.Fragments = append(q.Fragments, f)
			q.Sources = append(q.Sources, sampleSource(fmt.Sprint("north/netmon.", i), q.Sinks[0].At))
		}
		all := &points{}
		all.query(&q)
		shown := queryPoints(&q)
		require.LessOrEqual(t, seriesOf(shown), maxQuerySeries)
		if seriesOf(all.list) <= maxQuerySeries {
			require.Len(t, shown, len(all.list))
			continue
		}
		last := shown[len(shown)-1]
		require.Equal(t, seriesLeftOut, last.metric)
		require.EqualValues(t, seriesOf(all.list), seriesOf(shown)-1+int(last.value))
	}
}

func seriesOf(list []point) (n int) {
	for _, p := range list {
		n += p.series()
	}
	return n
}
