package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fednode/query/tuple"
)

// Field is one setting of node.toml outside [streams], [exports], [connect], [node.labels] and [[federation.host]], whose
// keys the file itself names.
type Field struct {
	// Path is the dotted name, "limits.partner.age".
	Path string
	// Type is what is written: "name", "path", "address", "duration", "size", "count", "text", "list" or "one of".
	Type string
	// Default is as it would be written, without quotes; "" is nothing, or required if Required is set.
	Default  string
	Required bool
	// Range is what is allowed, for people; "" allows everything of the type.
	Range string
	// Doc is one or two sentences.
	Doc string

	value func(*Config) string
}

// Value is the field's value in a configuration, in the form of Default.
func (f Field) Value(c *Config) string { return f.value(c) }

// Section is the table that the field stands in, "limits.partner".
func (f Field) Section() string { return f.Path[:strings.LastIndexByte(f.Path, '.')] }

// Key is the last part of the path.
func (f Field) Key() string { return f.Path[len(f.Section())+1:] }

// Fields lists every setting in the order of the commented sample. All take effect when the node starts.
func Fields() []Field {
	return slices.Concat(nodeFields(), networkFields(), timingFields(), limitFields(), logFields())
}

func nodeFields() []Field {
	return []Field{
		{Path: "node.org", Type: "name", Required: true, Range: "a letter or _, then letters, digits, _ or -; at most 63",
			Doc:   "The organisation that owns this node; the same as in its certificate.",
			value: func(c *Config) string { return c.Node.Org }},
		{Path: "node.name", Type: "name", Required: true, Range: "a letter or _, then letters, digits, _ or -; at most 63",
			Doc:   "The node's name, unique in the organisation; the same as in its certificate.",
			value: func(c *Config) string { return c.Node.Name }},
		{Path: "node.data_dir", Type: "path", Default: "data",
			Doc:   "Where logs, checkpoints and state are kept. Relative to the file.",
			value: func(c *Config) string { return c.relative(c.Node.DataDir) }},
	}
}

func networkFields() []Field {
	return []Field{
		{Path: "listen.p2p", Type: "address", Default: defaultP2P, Range: "IP:PORT, or empty to accept no connections",
			Doc:   "Where other nodes connect, over TCP and QUIC (UDP) on one port. 0.0.0.0:7481 for all interfaces.",
			value: func(c *Config) string { return c.Listen.P2P }},
		{Path: "listen.announce", Type: "list", Range: "multiaddresses",
			Doc:   "What other nodes are told instead of the addresses of the interfaces, such as /dns4/node.example.org/tcp/7481.",
			value: func(c *Config) string { return strings.Join(c.Listen.Announce, ", ") }},
		{Path: "listen.api", Type: "address", Default: defaultAPI, Range: "IP:PORT, or unix:PATH",
			Doc:   "The HTTP API. An address that others can reach demands [api] tls_cert and tls_key.",
			value: func(c *Config) string { return c.relativeUnix(c.Listen.API) }},
		{Path: "api.tls_cert", Type: "path",
			Doc:   "The certificate chain (PEM) of the HTTP API. Relative to the file; needs tls_key.",
			value: func(c *Config) string { return c.relative(c.Listen.TLSCert) }},
		{Path: "api.tls_key", Type: "path",
			Doc:   "The key (PEM) of tls_cert.",
			value: func(c *Config) string { return c.relative(c.Listen.TLSKey) }},
		{Path: "federation.dial", Type: "one of", Default: "both", Range: "both, out",
			Doc: "out: this side makes all connections, because nobody can reach it.",
			value: func(c *Config) string {
				if c.Federation.DialOut {
					return "out"
				}
				return "both"
			}},
		{Path: "federation.peers", Type: "list", Range: "multiaddresses that end in /p2p/ID",
			Doc:   "Nodes to keep a session with, besides those in partners' organisation files.",
			value: func(c *Config) string { return strings.Join(c.Federation.Peers, ", ") }},
		{Path: "federation.clock_skew", Type: "duration", Default: "5s", Range: "0s to 1h",
			Doc:   "How far partners' clocks may differ from ours, for what is signed.",
			value: func(c *Config) string { return duration(c.Federation.ClockSkew) }},
	}
}

func timingFields() []Field {
	return []Field{
		{Path: "availability.heartbeat", Type: "duration", Default: "100ms", Range: "10ms to 1m",
			Doc:   "How often a session is heard from. Together with miss it decides how soon a failure is noticed.",
			value: func(c *Config) string { return duration(c.Availability.Heartbeat) }},
		{Path: "availability.miss", Type: "count", Default: "3", Range: "1 to 100",
			Doc:   "How many heartbeats in a row must be missing before a neighbour counts as failed.",
			value: func(c *Config) string { return strconv.Itoa(c.Availability.Miss) }},
		{Path: "availability.clock_skew", Type: "duration", Default: "50ms", Range: "0s to 1h",
			Doc:   "How far the clocks of sources may differ without that being a failure. Every decision about a missing input waits so much longer.",
			value: func(c *Config) string { return duration(c.Availability.ClockSkew) }},
		{Path: "availability.grace", Type: "duration", Default: "20ms", Range: "1ms to 10s",
			Doc:   "What one hop between nodes may take on top of the network's delay, its jitter included. More than the default suits links with much jitter.",
			value: func(c *Config) string { return duration(c.Availability.Grace) }},
		{Path: "availability.checksums", Type: "true or false", Default: "false",
			Doc:   "Lets the boundaries of what fragments give carry checksums, so that whoever reads it notices replicas that give different rows.",
			value: func(c *Config) string { return strconv.FormatBool(c.Availability.Checksums) }},
		{Path: "checkpoint.interval", Type: "duration", Default: "5s", Range: "100ms to 30m",
			Doc:   "How often a fragment's state is saved. A restart repeats at most so much work.",
			value: func(c *Config) string { return duration(c.Checkpoint.Interval) }},
	}
}

func limitFields() []Field {
	return []Field{
		{Path: "limits.memory", Type: "size", Range: "64MiB to 1PiB",
			Doc: "Soft limit of the whole process's memory. Not set: the runtime takes what it needs.",
			value: func(c *Config) string {
				if c.Limits.Memory == 0 {
					return ""
				}
				return size(c.Limits.Memory)
			}},
		{Path: "limits.source_log", Type: "size", Default: size(defaultSourceLog), Range: "1MiB to 1PiB",
			Doc:   "A source stops while its log holds more than this unacknowledged.",
			value: func(c *Config) string { return size(c.Limits.SourceLog) }},
		{Path: "limits.output_buffer", Type: "size", Default: size(defaultOutputBuffer), Range: "1MiB to 1TiB",
			Doc:   "How much of an output is kept in memory until it is acknowledged. What exceeds half of it goes to disk; while it is full the fragment's input stops.",
			value: func(c *Config) string { return size(c.Limits.OutputBuffer) }},
		{Path: "limits.output_spill", Type: "size", Default: size(defaultOutputSpill), Range: "0B to 1PiB",
			Doc:   "How much of an output is kept on disk besides, until it is acknowledged; 0B keeps all in memory.",
			value: func(c *Config) string { return size(c.Limits.OutputSpill) }},
		{Path: "limits.input_buffer", Type: "size", Default: size(defaultInputBuffer), Range: "1MiB to 1TiB",
			Doc:   "How much the inputs of a fragment keep in memory, tentative rows included. From three quarters on those that are ahead of others wait; beyond it the fragment ends.",
			value: func(c *Config) string { return size(c.Limits.InputBuffer) }},
		{Path: "limits.disk_reserve", Type: "size", Default: size(defaultReserve), Range: "0B to 1PiB",
			Doc:   "Intake stops while less than this is free on the disk of data_dir.",
			value: func(c *Config) string { return size(c.Limits.Reserve) }},
		{Path: "limits.partner.streams", Type: "count", Default: "2048", Range: "1 to 1048576",
			Doc:   "How many streams one partner may hold open.",
			value: func(c *Config) string { return strconv.Itoa(c.Limits.Partner.Streams) }},
		{Path: "limits.partner.bytes_per_sec", Type: "size", Range: "1KiB to 1TiB",
			Doc: "How many bytes a second are read from one partner. Not set: as many as it sends.",
			value: func(c *Config) string {
				if c.Limits.Partner.BytesPerSec == 0 {
					return ""
				}
				return size(c.Limits.Partner.BytesPerSec)
			}},
		{Path: "limits.partner.buffer", Type: "size", Default: "2GiB", Range: "1MiB to 1PiB",
			Doc:   "A partner's subscription lapses when more than this waits for its acknowledgement: of a source's log, or of a query's output in memory and on disk.",
			value: func(c *Config) string { return size(c.Limits.Partner.Buffer) }},
		{Path: "limits.partner.age", Type: "duration", Default: "1h", Range: "10s to 365d",
			Doc:   "A partner's subscription lapses when it has acknowledged nothing for so long although there was something.",
			value: func(c *Config) string { return duration(c.Limits.Partner.Age) }},
	}
}

func logFields() []Field {
	return []Field{
		{Path: "log.level", Type: "one of", Default: "info", Range: "debug, info, warn, error",
			Doc:   "The least important messages that are written.",
			value: func(c *Config) string { return c.Log.Level }},
		{Path: "log.format", Type: "one of", Default: "console", Range: "console, json",
			Doc: "console for people, json (one object a line) for programs.",
			value: func(c *Config) string {
				if c.Log.JSON {
					return "json"
				}
				return "console"
			}},
	}
}

func duration(d time.Duration) string { return string(tuple.AppendDuration(nil, d.Microseconds())) }

// size prints bytes with the largest unit that divides them.
func size(n int64) string {
	for _, u := range []struct {
		name  string
		bytes int64
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n != 0 && n%u.bytes == 0 {
			return fmt.Sprintf("%d%s", n/u.bytes, u.name)
		}
	}
	return fmt.Sprintf("%dB", n)
}
