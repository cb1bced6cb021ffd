package api

import (
	"net/http"
	"runtime"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"fednode/node/connect"
)

// metric is one row of the table of metrics. Units are base units, last in the name. No label holds a peer id, an
// address or a key.
type metric struct {
	name   string
	kind   kind
	labels []string
	help   string
}

// kind is what a metric's values mean.
type kind uint8

const (
	gauge kind = iota
	counter
	histogram
)

// The metrics by their place in the table.
const (
	buildInfo = iota
	nodeReady
	streamRows
	streamLate
	streamRejected
	streamBoundary
	streamDiverged
	outputState
	outputTentative
	outputAnew
	outputDelay
	availabilityBound
	bufferBytes
	bufferLimit
	spareBytes
	spilledBytes
	spillLimit
	stateBytes
	fragmentUp
	forkRenewals
	checkpointAge
	sinkRows
	partnerUp
	certificateExpiry
	storageFull
	seriesLeftOut
	metricCount
)

// metricTable is every metric of ours; those of the Go runtime and the process come on top.
func metricTable() [metricCount]metric {
	return [metricCount]metric{
		buildInfo:         {"fednode_build_info", gauge, []string{"version", "go_version"}, "Version of the software; always 1."},
		nodeReady:         {"fednode_ready", gauge, nil, "1 once the node has caught up with what was there before its start."},
		streamRows:        {"fednode_stream_rows_total", counter, []string{"stream"}, "Rows accepted into a stream."},
		streamLate:        {"fednode_stream_rows_late_total", counter, []string{"stream"}, "Rows that came after their time had passed."},
		streamRejected:    {"fednode_stream_rows_rejected_total", counter, []string{"stream", "reason"}, "Rows not accepted since the node started, by reason; late ones have their own metric."},
		streamBoundary:    {"fednode_stream_boundary_timestamp_seconds", gauge, []string{"stream"}, "Stream time up to which a stream or an output is complete."},
		streamDiverged:    {"fednode_stream_diverged", gauge, []string{"query", "stream"}, "Replicas of a stream's producer that are not read from because they gave other rows than another one."},
		outputState:       {"fednode_output_state", gauge, []string{"query", "stream", "state"}, "1 for the state that an output is in."},
		outputTentative:   {"fednode_output_tentative_rows_total", counter, []string{"query", "stream"}, "Tentative rows that an output has given since its fragment started; they are corrected later, unless results are of best effort."},
		outputAnew:        {"fednode_output_begun_anew_total", counter, []string{"query", "stream"}, "How often results of best effort have begun anew behind a GAP since the fragment started."},
		outputDelay:       {"fednode_output_delay_seconds", histogram, []string{"query", "stream"}, "How old the boundaries of an output were when they were given, beyond the slack, the lag and the way that are normal."},
		availabilityBound: {"fednode_availability_bound_seconds", gauge, []string{"query"}, "Delay that the query accepts under failure; +Inf for stable results only."},
		bufferBytes:       {"fednode_buffer_bytes", gauge, []string{"stream"}, "Bytes that a stream's log or an output's buffer holds until they are acknowledged."},
		bufferLimit:       {"fednode_buffer_limit_bytes", gauge, []string{"stream"}, "Bytes at which a log or a buffer stops its input."},
		spareBytes:        {"fednode_buffer_spare_bytes", gauge, []string{"stream"}, "Bytes that an output keeps in memory besides though they are acknowledged, for readers that are not waited for."},
		spilledBytes:      {"fednode_buffer_spilled_bytes", gauge, []string{"stream"}, "Bytes that an output holds on disk besides, until they are acknowledged."},
		spillLimit:        {"fednode_buffer_spill_limit_bytes", gauge, []string{"stream"}, "Bytes that an output may hold on disk."},
		stateBytes:        {"fednode_state_bytes", gauge, []string{"query", "fragment"}, "Memory that the operators of a fragment hold."},
		fragmentUp:        {"fednode_fragment_up", gauge, []string{"query", "fragment"}, "1 while a fragment runs, 0 while it has failed or was stopped by a limit."},
		forkRenewals:      {"fednode_fork_renewals_total", counter, []string{"query", "fragment", "result"}, "How often corrections have stopped half way and tentative results build on them (done), or not: long, forgotten, failed."},
		checkpointAge:     {"fednode_checkpoint_age_seconds", gauge, []string{"query", "fragment"}, "Time since the last recovery point of a fragment became durable."},
		sinkRows:          {"fednode_sink_rows_total", counter, []string{"query", "output"}, "Rows delivered to a sink since the node started."},
		partnerUp:         {"fednode_partner_up", gauge, []string{"org"}, "1 while a node of the organisation has a session with this one."},
		certificateExpiry: {"fednode_certificate_expiry_timestamp_seconds", gauge, nil, "When the node's certificate ends."},
		storageFull:       {"fednode_storage_full", gauge, nil, "1 while writing is refused for want of space."},
		seriesLeftOut:     {"fednode_query_series_left_out", gauge, []string{"query"}, "Series of a query that are not shown, so that none takes more than its share."},
	}
}

// rejectReasons are the reasons for which a row is not accepted, late ones aside.
func rejectReasons() []string { return append(connect.Reasons(), "future") }

// outputStates are the states of an output.
func outputStates() []string {
	return []string{"starting", "stable", "upstream_failure", "stabilization", "failure", "ended"}
}

// newMetrics returns the handler of /metrics, with a registry of its own.
func newMetrics(b Backend) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), newCollector(b))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry, ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: scrapes, Timeout: scrapeTimeout})
}

// collector turns the node's status into metrics when it is scraped.
type collector struct {
	backend Backend
	descs   [metricCount]*prometheus.Desc
	kinds   [metricCount]kind
}

func newCollector(b Backend) *collector {
	c := &collector{backend: b}
	for i, m := range metricTable() {
		c.descs[i], c.kinds[i] = prometheus.NewDesc(m.name, m.help, m.labels, nil), m.kind
	}
	return c
}

// Describe names the metrics.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		to <- d
	}
}

// Collect asks the node once.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	s := c.backend.Status()
	for _, p := range pointsOf(&s, runtime.Version()) {
		m, err := c.metricOf(p)
		if err != nil {
			m = prometheus.NewInvalidMetric(c.descs[p.metric], err)
		}
		to <- m
	}
}

func (c *collector) metricOf(p point) (prometheus.Metric, error) {
	desc := c.descs[p.metric]
	switch c.kinds[p.metric] {
	case histogram:
		count, buckets := uint64(0), make(map[float64]uint64)
		for i, n := range p.delays.Boundaries {
			if count += n; i < len(p.delays.UpTo) {
				buckets[p.delays.UpTo[i]] = count
			}
		}
		return prometheus.NewConstHistogram(desc, count, p.delays.Sum, buckets, p.labels...)
	case counter:
		return prometheus.NewConstMetric(desc, prometheus.CounterValue, p.value, p.labels...)
	}
	return prometheus.NewConstMetric(desc, prometheus.GaugeValue, p.value, p.labels...)
}

// point is one value of a scrape.
type point struct {
	metric int
	value  float64
	labels []string
	delays *DelayCounts // of a histogram
}

// series is how many series a point takes: a histogram has one for each limit, and three more.
func (p point) series() int {
	if p.delays == nil {
		return 1
	}
	return len(p.delays.UpTo) + 3
}

// pointsOf returns all values of a status, each set of labels once.
func pointsOf(s *Status, goVersion string) []point {
	p := &points{}
	p.node(s, goVersion)
	for i := range s.Sources {
		p.source(&s.Sources[i])
		p.reasons(&s.Sources[i], rejectReasons())
	}
	for i := range s.Queries {
		p.list = append(p.list, queryPoints(&s.Queries[i])...)
	}
	return p.list
}

// maxQuerySeries bounds the series of one query.
const maxQuerySeries = 50

// queryPoints returns the values of one query, the most telling first. What is beyond the bound is counted, not shown.
func queryPoints(q *QueryStatus) []point {
	p := &points{}
	p.query(q)
	all := 0
	for _, v := range p.list {
		all += v.series()
	}
	if all <= maxQuerySeries {
		return p.list
	}
	shown, used := 0, 1 // one says how many are left out
	for used+p.list[shown].series() <= maxQuerySeries {
		used += p.list[shown].series()
		shown++
	}
	return append(slices.Clip(p.list[:shown]), point{metric: seriesLeftOut, value: float64(all - used + 1), labels: []string{q.ID}})
}
