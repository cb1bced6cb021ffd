package testnet

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"fednode/query/spec"
)

// The modes of a network.
const (
	// ModeProcess runs every node as a process on loopback; what nodes say to each other goes through a relay.
	ModeProcess = "process"
	// ModeNetns runs every node in a network namespace of its own, with an address of its own. It needs root.
	ModeNetns = "netns"
)

// Bounds of a network. With more nodes in an organisation, sources that are planted to be harmless would become busy
// together.
const (
	maxOrganisations = 8
	maxNodesPerOrg   = 3
	maxSpecBytes     = 1 << 20
	maxLive          = 300_000       // rows/s, and as many as there are microseconds for those of all sources
	maxLag           = 3_600_000_000 // µs
)

// Spec says what a network consists of.
type Spec struct {
	// Mode is ModeProcess or ModeNetns.
	Mode string
	// Organisations by name; results arrive at the first.
	Organisations []string
	// Nodes of all organisations together, dealt out in turn; 0 is one for each organisation.
	Nodes int
	// Sizes are the numbers of nodes by organisation, instead of Nodes; an organisation that is not named has one.
	Sizes map[string]int
	// Sources is at how many nodes of each organisation data enter, the first ones; 0 is all.
	Sources int
	// Replicas of every fragment, each on a node of its own; 0 or 1 is one.
	Replicas int
	// Query is the file of the query to deploy, with one stream where data enters; "" is the network-monitoring query.
	Query string
	// Queries are files of further queries, deployed as they are at the first organisation.
	Queries []string
	// Live makes every source one that grows by so many rows a second, with the time they are written at; 0 leaves the
	// sources to Data or the query. The query's stream must follow a CSV file.
	Live int
	// Lag is how old rows of live sources are when they are written, by organisation.
	Lag map[string]time.Duration
	// Lanes lets what partners send go through one fragment at the first organisation, where it becomes one: a lane for each source,
	// which depends on no other.
	Lanes bool
	// Limits are what every node.toml says under [limits], as text such as "1MiB", those of [limits.partner] as partner.KEY; the
	// daemons check them.
	Limits map[string]string
	// Config is text that every node.toml ends with; the daemons check it.
	Config string
	// Data are files whose rows are dealt out to the nodes; none means the traffic that the query's stream generates.
	Data []string
	// Seed of generated traffic.
	Seed uint64
	// Speed of generated traffic: event time per time of the clock; 0 is as fast as possible.
	Speed float64
	// Rows that each node generates; 0 never ends.
	Rows int64
}

// Default returns three organisations that watch generated traffic, sixty times as fast as it says it is.
func Default() Spec {
	return Spec{Mode: ModeProcess, Organisations: []string{"north", "south", "east"}, Seed: 1, Speed: 60}
}

// ReadSpec reads a file of [testnet]; relative paths in it are relative to it. It reports every problem at once, as a
// *spec.Error.
func ReadSpec(file string) (Spec, error) {
	src, err := readLimited(file, maxSpecBytes)
	if err != nil {
		return Spec{}, err
	}
	return parseSpec(file, src)
}

func parseSpec(file string, src []byte) (Spec, error) {
	var p spec.Problems
	s := Default()
	root := spec.ParseTOML(file, src, nil, &p)
	if root == nil {
		return s, p.Err()
	}
	top := spec.Read(root, &p)
	if t := top.Table("testnet", true); t != nil {
		r := spec.Read(t, &p)
		s.read(r, filepath.Dir(file))
		r.Done()
	}
	top.Done()
	return s, p.Err()
}

func (s *Spec) read(r *spec.Reader, dir string) {
	s.Mode = r.OneOf("mode", s.Mode, ModeProcess, ModeNetns)
	if r.T.Has("organisations") {
		s.Organisations = nil
		for _, v := range r.Strings("organisations", true) {
			s.Organisations = append(s.Organisations, v.Str)
		}
	}
	s.readNodes(r)
	s.Sources = int(r.Int("sources", 0, 0, maxNodesPerOrg))
	s.Replicas = int(r.Int("replicas", 0, 1, maxNodesPerOrg))
	s.Query = beside(dir, r.String("query", ""))
	for _, v := range r.Strings("queries", false) {
		s.Queries = append(s.Queries, beside(dir, v.Str))
	}
	s.Live = int(r.Int("live", 0, 0, maxLive))
	if t := r.Table("lag", false); t != nil {
		s.Lag = make(map[string]time.Duration)
		lag := spec.Read(t, r.P)
		for _, e := range t.Entries {
			s.Lag[e.Key] = time.Duration(lag.Duration(e.Key, 0, 0, maxLag)) * time.Microsecond
		}
		lag.Done()
	}
	s.Lanes = r.Bool("lanes", false)
	if t := r.Table("limits", false); t != nil {
		s.Limits = make(map[string]string)
		s.readLimits(t, "", r.P)
	}
	for _, v := range r.Strings("data", false) {
		s.Data = append(s.Data, beside(dir, v.Str))
	}
	s.Seed = uint64(r.Int("seed", int64(s.Seed), 0, 1<<62))
	s.Rows = r.Int("rows", 0, 0, 1<<53)
	if v := r.Value("speed", false, spec.Int, spec.Float); v != nil {
		s.Speed = v.Float
		if v.Kind == spec.Int {
			s.Speed = float64(v.Int)
		}
	}
	if msg := s.wrong(); msg != "" {
		r.P.Add(r.T.Pos, r.T.Path, "", "%s", msg)
	}
}

// readLimits reads limits, and those of partners.
func (s *Spec) readLimits(t *spec.Table, prefix string, p *spec.Problems) {
	limits := spec.Read(t, p)
	for _, e := range t.Entries {
		if e.Key == limitsPartner && prefix == "" {
			if inner := limits.Table(e.Key, true); inner != nil {
				s.readLimits(inner, limitsPartner+".", p)
			}
			continue
		}
		s.Limits[prefix+e.Key] = limits.String(e.Key, "")
	}
	limits.Done()
}

// readNodes reads nodes: how many there are, or a table of how many each organisation has.
func (s *Spec) readNodes(r *spec.Reader) {
	v := r.Value("nodes", false, spec.Int, spec.TableKind)
	if v == nil {
		return
	}
	if v.Kind == spec.Int {
		if v.Int < 1 || v.Int > maxOrganisations*maxNodesPerOrg {
			r.Errorf("nodes", "", "%d nodes; expected 1 to %d", v.Int, maxOrganisations*maxNodesPerOrg)
			return
		}
		s.Nodes = int(v.Int)
		return
	}
	s.Sizes = make(map[string]int)
	sizes := spec.Read(v.Table, r.P)
	for _, e := range v.Table.Entries {
		s.Sizes[e.Key] = int(sizes.Int(e.Key, 1, 1, maxNodesPerOrg))
	}
	sizes.Done()
}

// beside returns a path of a file in dir as seen from the process.
func beside(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// Validate reports what is wrong with the network as a whole.
func (s *Spec) Validate() error {
	if msg := s.wrong(); msg != "" {
		return &Error{Kind: ErrSpec, Msg: "testnet: " + msg}
	}
	return nil
}

func (s *Spec) wrong() string {
	switch {
	case s.Mode != ModeProcess && s.Mode != ModeNetns:
		return fmt.Sprintf("the mode %s is not available; expected %s or %s", strconv.Quote(s.Mode), ModeProcess, ModeNetns)
	case len(s.Organisations) < 1 || len(s.Organisations) > maxOrganisations:
		return fmt.Sprintf("%d organisations; expected 1 to %d", len(s.Organisations), maxOrganisations)
	case s.Nodes < 0 || s.Nodes > maxNodesPerOrg*len(s.Organisations):
		return fmt.Sprintf("%d nodes; expected 1 to %d, that is at most %d for each organisation", s.Nodes, maxNodesPerOrg*len(s.Organisations), maxNodesPerOrg)
	case !(s.Speed >= 0 && s.Speed <= 1e6):
		return fmt.Sprintf("speed %g; expected 0 (as fast as possible) to 1000000", s.Speed)
	case s.Rows < 0:
		return fmt.Sprintf("%d rows; expected 0 (never ends) or more", s.Rows)
	case s.Sources < 0 || s.Sources > maxNodesPerOrg:
		return fmt.Sprintf("data enter at %d nodes of each organisation; expected 0 (all) to %d", s.Sources, maxNodesPerOrg)
	case s.Live < 0 || s.Live > maxLive:
		return fmt.Sprintf("%d live rows a second; expected 0 (none) to %d", s.Live, maxLive)
	case s.Live > 0 && len(s.Data) > 0:
		return "data files and live rows; expected one of them"
	}
	for i, name := range s.Organisations {
		if !validName(name) {
			return fmt.Sprintf("organisation %s: expected a letter or _, then letters, digits, _ or -; at most 63", strconv.Quote(name))
		}
		if slices.Contains(s.Organisations[:i], name) {
			return fmt.Sprintf("the organisation %s is there twice", name)
		}
	}
	if all := s.fed() * s.Live; all > 1_000_000 {
		return fmt.Sprintf("%d live rows a second at %d sources; expected %d at most, so that each has a microsecond of its own", s.Live, s.fed(), 1_000_000/s.fed())
	}
	return s.wrongSizes()
}

// fed is at how many nodes data enter.
func (s *Spec) fed() (n int) {
	for _, size := range s.sizes() {
		if s.Sources > 0 {
			size = min(size, s.Sources)
		}
		n += size
	}
	return n
}

func (s *Spec) wrongSizes() string {
	for name, n := range s.Sizes {
		switch {
		case !slices.Contains(s.Organisations, name):
			return fmt.Sprintf("nodes of %s, which is not among the organisations", strconv.Quote(name))
		case n < 1 || n > maxNodesPerOrg:
			return fmt.Sprintf("%d nodes of %s; expected 1 to %d", n, name, maxNodesPerOrg)
		}
	}
	for k, n := range s.sizes() {
		if n > 0 && s.Replicas > n {
			return fmt.Sprintf("%d replicas, and %s has %s; each replica needs a node of its own", s.Replicas, s.Organisations[k], plural(n, "node"))
		}
	}
	return ""
}

// sizes returns how many nodes each organisation has, in the order of Organisations.
func (s *Spec) sizes() []int {
	out := make([]int, len(s.Organisations))
	for i, name := range s.Organisations {
		switch {
		case s.Sizes != nil:
			out[i] = max(1, s.Sizes[name])
		case s.Nodes > 0:
			out[i] = (s.Nodes + len(out) - 1 - i) / len(out)
		default:
			out[i] = 1
		}
	}
	return out
}
