package config

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"fednode/node/export"
	"fednode/query"
	"fednode/query/op"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// Default values, also shown by the commented sample in configs/.
const (
	defaultP2P          = "127.0.0.1:7481"
	defaultAPI          = "127.0.0.1:7480"
	defaultSourceLog    = 4 << 30
	defaultOutputBuffer = 64 << 20
	defaultOutputSpill  = 4 << 30
	defaultInputBuffer  = 1 << 30
	defaultReserve      = 256 << 20
)

// Read reads a node's file. The configuration is nil if there is an error.
func Read(file string, src []byte, o Options) (*Config, *spec.Problems) {
	p := &spec.Problems{}
	if o.Keys == nil {
		o.Keys = func(name string) (*export.Key, error) { return nil, fmt.Errorf("the key `%s` is not at hand", name) }
	}
	root := spec.ParseTOML(file, src, o.Env, p)
	if root == nil {
		return nil, p
	}
	c := &Config{File: file, Dir: filepath.Dir(file), Connectors: o.Connectors}
	r := spec.Read(root, p)
	c.node(sub(r, "node", false))
	c.listen(sub(r, "listen", false), r)
	c.federation(sub(r, "federation", false))
	c.availability(sub(r, "availability", false))
	c.checkpoint(sub(r, "checkpoint", false))
	c.limits(sub(r, "limits", false))
	c.log(sub(r, "log", false))
	c.Streams = query.ReadStreams(r, o.Connectors)
	o.Connectors.Finish(&query.Diagram{Streams: c.Streams})
	c.elsewhere(p)
	c.exports(sub(r, "exports", false), o.Keys)
	c.databases(sub(r, "connect", false))
	r.Done()
	if !p.OK() {
		return nil, p
	}
	return c, p
}

// sub returns a reader of a section; one that is missing reads as empty.
func sub(r *spec.Reader, key string, required bool) *spec.Reader {
	t := r.Table(key, required)
	if t == nil {
		t = spec.NewTable(key, r.T.Pos)
	}
	return spec.Read(t, r.P)
}

// name reads a name such as those of organisations and nodes.
func name(r *spec.Reader, key string) string {
	v := r.Value(key, false, spec.String)
	switch {
	case v == nil && !r.T.Has(key):
		r.Errorf(key, "add "+key+" = \"NAME\" to ["+r.T.Path+"]", "the key `%s` is missing", key)
	case v == nil: // of the wrong kind, recorded
	case !query.ValidName(v.Str):
		r.Errorf(key, query.NameRule, "`%s` is not a name", v.Str)
	default:
		return v.Str
	}
	return ""
}

func (c *Config) node(r *spec.Reader) {
	c.Node.Org, c.Node.Name = name(r, "org"), name(r, "name")
	c.Node.DataDir = c.path(r.String("data_dir", "data"))
	c.Node.Labels = make(map[string]string)
	if t := r.Table("labels", false); t != nil {
		for _, e := range t.Entries {
			t.Lookup(e.Key)
			if e.Value.Kind != spec.String || !query.ValidName(e.Key) {
				r.P.Add(e.Pos, t.KeyPath(e.Key), "", "a label is a name with a string, such as region = \"eu\"")
				continue
			}
			c.Node.Labels[e.Key] = e.Value.Str
		}
	}
	r.Done()
}

// path returns a path of the file as seen from the process.
func (c *Config) path(p string) string {
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(c.Dir, p)
}

func (c *Config) listen(r, root *spec.Reader) {
	c.Listen.P2P = r.String("p2p", defaultP2P)
	checkAddress(r, "p2p", c.Listen.P2P)
	c.Listen.Announce = multiaddrs(r, "announce", "")
	c.Listen.API = r.String("api", defaultAPI)
	api := sub(root, "api", false)
	c.Listen.TLSCert, c.Listen.TLSKey = c.path(api.String("tls_cert", "")), c.path(api.String("tls_key", ""))
	if (c.Listen.TLSCert == "") != (c.Listen.TLSKey == "") {
		api.Errorf("tls_cert", "give both tls_cert and tls_key, or neither", "a certificate needs its key")
	}
	api.Done()
	if path, ok := cutUnix(c.Listen.API); ok {
		c.Listen.API = "unix:" + c.path(path)
	} else if host := checkAddress(r, "api", c.Listen.API); host != "" && !loopback(host) && c.Listen.TLSCert == "" {
		r.Errorf("api", "set [api] tls_cert and tls_key, or listen on 127.0.0.1 or unix:PATH", "`%s` can be reached from outside, which demands TLS", c.Listen.API)
	}
	r.Done()
}

func cutUnix(a string) (path string, ok bool) {
	const prefix = "unix:"
	if len(a) > len(prefix) && a[:len(prefix)] == prefix {
		return a[len(prefix):], true
	}
	return "", false
}

// checkAddress checks host:port and returns the host; "" is no address and allowed.
func checkAddress(r *spec.Reader, key, a string) (host string) {
	if a == "" {
		return ""
	}
	host, port, err := net.SplitHostPort(a)
	if err != nil || net.ParseIP(host) == nil {
		r.Errorf(key, "write an address such as 127.0.0.1:7480", "`%s` is not an IP address with a port", a)
		return ""
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		r.Errorf(key, "expected 0 to 65535", "`%s` is not a port", port)
	}
	return host
}

// multiaddrs reads multiaddresses, which must end in /p2p/ID if tail says so.
func multiaddrs(r *spec.Reader, key, tail string) (out []string) {
	hint := "write one such as /dns4/node.example.org/tcp/7481" + tail
	for _, v := range r.Strings(key, false) {
		m, err := multiaddr.NewMultiaddr(v.Str)
		if err != nil {
			r.P.Add(v.Pos, r.T.KeyPath(key), hint, "`%s` is not a multiaddress", v.Str)
			continue
		}
		if _, id := peer.SplitAddr(m); tail != "" && id == "" {
			r.P.Add(v.Pos, r.T.KeyPath(key), hint, "`%s` does not say which peer is there", v.Str)
			continue
		}
		out = append(out, v.Str)
	}
	return out
}

func loopback(host string) bool { return net.ParseIP(host).IsLoopback() }

func (c *Config) federation(r *spec.Reader) {
	c.Federation.DialOut = r.OneOf("dial", "both", "both", "out") == "out"
	c.Federation.Peers = multiaddrs(r, "peers", "/p2p/ID")
	c.Federation.ClockSkew = micros(r.Duration("clock_skew", 5*tuple.Second, 0, tuple.Hour))
	if v := r.Value("host", false, spec.Array); v != nil {
		for _, e := range v.Array {
			if e.Kind != spec.TableKind {
				r.P.Add(e.Pos, r.T.KeyPath("host"), "write [[federation.host]]", "expected a table, got %s", e.Kind)
				continue
			}
			c.host(spec.Read(e.Table, r.P))
		}
	}
	r.Done()
}

func (c *Config) host(r *spec.Reader) {
	h := Host{Org: name(r, "org"), MaxFragments: int(r.Int("max_fragments", 16, 1, 10000)), MaxMemory: r.Size("max_memory", 1<<30, 1<<20, 1<<50)}
	kinds := []string{"union"}
	for _, k := range op.Kinds() {
		kinds = append(kinds, k.Name)
	}
	for _, v := range r.Strings("operators", false) {
		if !slices.Contains(kinds, v.Str) {
			r.P.Add(v.Pos, r.T.KeyPath("operators"), spec.DidYouMean(v.Str, kinds), "there is no operator kind `%s`", v.Str)
		}
		h.Operators = append(h.Operators, v.Str)
	}
	r.Done()
	c.Hosts = append(c.Hosts, h)
}

func (c *Config) availability(r *spec.Reader) {
	c.Availability.Heartbeat = micros(r.Duration("heartbeat", 100*tuple.Millisecond, 10*tuple.Millisecond, tuple.Minute))
	c.Availability.Miss = int(r.Int("miss", 3, 1, 100))
	c.Availability.ClockSkew = micros(r.Duration("clock_skew", 50*tuple.Millisecond, 0, tuple.Hour))
	c.Availability.Grace = micros(r.Duration("grace", 20*tuple.Millisecond, tuple.Millisecond, 10*tuple.Second))
	c.Availability.Checksums = r.Bool("checksums", false)
	r.Done()
}

func (c *Config) checkpoint(r *spec.Reader) {
	c.Checkpoint.Interval = micros(r.Duration("interval", 5*tuple.Second, 100*tuple.Millisecond, 30*tuple.Minute))
	r.Done()
}

func (c *Config) limits(r *spec.Reader) {
	c.Limits.Memory = r.Size("memory", 0, 64<<20, 1<<50)
	c.Limits.SourceLog = r.Size("source_log", defaultSourceLog, 1<<20, 1<<50)
	c.Limits.OutputBuffer = r.Size("output_buffer", defaultOutputBuffer, 1<<20, 1<<40)
	c.Limits.OutputSpill = r.Size("output_spill", defaultOutputSpill, 0, 1<<50)
	c.Limits.InputBuffer = r.Size("input_buffer", defaultInputBuffer, 1<<20, 1<<40)
	c.Limits.Reserve = r.Size("disk_reserve", defaultReserve, 0, 1<<50)
	p := sub(r, "partner", false)
	c.Limits.Partner = Partner{
		Streams:     int(p.Int("streams", 2048, 1, 1<<20)),
		BytesPerSec: p.Size("bytes_per_sec", 0, 1<<10, 1<<40),
		Buffer:      p.Size("buffer", 2<<30, 1<<20, 1<<50),
		Age:         micros(p.Duration("age", tuple.Hour, 10*tuple.Second, 365*tuple.Day)),
	}
	p.Done()
	if c.Limits.Partner.Age <= c.Checkpoint.Interval {
		// Acknowledgements come once a recovery point: every partner would lapse before its first.
		r.Errorf("partner", "give partners several intervals", "partner.age is %s, no longer than checkpoint.interval, %s", c.Limits.Partner.Age, c.Checkpoint.Interval)
	}
	r.Done()
}

func (c *Config) log(r *spec.Reader) {
	c.Log.Level = r.OneOf("level", "info", "debug", "info", "warn", "error")
	c.Log.JSON = r.OneOf("format", "console", "console", "json") == "json"
	r.Done()
}

func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }
