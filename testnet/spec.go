package testnet

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"fednode/query/spec"
)

// ModeProcess runs every node as a process on loopback.
const ModeProcess = "process"

// Bounds of a network. With more nodes in an organisation, sources that are planted to be harmless would become busy
// together.
const (
	maxOrganisations = 8
	maxNodesPerOrg   = 3
	maxSpecBytes     = 1 << 20
)

// Spec says what a network consists of.
type Spec struct {
	// Mode is ModeProcess.
	Mode string
	// Organisations by name; results arrive at the first.
	Organisations []string
	// Nodes of all organisations together, dealt out in turn; 0 is one for each organisation.
	Nodes int
	// Query is the file of the query to deploy, with one stream where data enters; "" is the network-monitoring query.
	Query string
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
	s.Mode = r.OneOf("mode", s.Mode, ModeProcess)
	if r.T.Has("organisations") {
		s.Organisations = nil
		for _, v := range r.Strings("organisations", true) {
			s.Organisations = append(s.Organisations, v.Str)
		}
	}
	s.Nodes = int(r.Int("nodes", 0, 1, maxOrganisations*maxNodesPerOrg))
	s.Query = beside(dir, r.String("query", ""))
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
	case s.Mode != ModeProcess:
		return fmt.Sprintf("the mode %s is not available; expected %s", strconv.Quote(s.Mode), ModeProcess)
	case len(s.Organisations) < 1 || len(s.Organisations) > maxOrganisations:
		return fmt.Sprintf("%d organisations; expected 1 to %d", len(s.Organisations), maxOrganisations)
	case s.Nodes < 0 || s.Nodes > maxNodesPerOrg*len(s.Organisations):
		return fmt.Sprintf("%d nodes; expected 1 to %d, that is at most %d for each organisation", s.Nodes, maxNodesPerOrg*len(s.Organisations), maxNodesPerOrg)
	case !(s.Speed >= 0 && s.Speed <= 1e6):
		return fmt.Sprintf("speed %g; expected 0 (as fast as possible) to 1000000", s.Speed)
	case s.Rows < 0:
		return fmt.Sprintf("%d rows; expected 0 (never ends) or more", s.Rows)
	}
	for i, name := range s.Organisations {
		if !validName(name) {
			return fmt.Sprintf("organisation %s: expected a letter or _, then letters, digits, _ or -; at most 63", strconv.Quote(name))
		}
		if slices.Contains(s.Organisations[:i], name) {
			return fmt.Sprintf("the organisation %s is there twice", name)
		}
	}
	return ""
}
