package balance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// stage is a balancer and the loads that its nodes will report.
type stage struct {
	b     *Balancer
	loads map[UnitID]Reading
	log   strings.Builder
}

func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &stage{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.log.Reset()
			if err := s.run(d); err != nil {
				return "error: " + err.Error() + "\n"
			}
			return s.log.String()
		})
	})
}

func (s *stage) run(d *datadriven.TestData) (err error) {
	switch d.Cmd {
	case "balancer":
		return s.begin(d)
	case "node":
		return s.b.Join(scriptNode(d))
	case "unit":
		r := scriptLoad(d)
		s.loads[r.Unit] = r
		return s.b.Adopt(scriptUnit(d), NodeID(text(d, "on")))
	case "allocate":
		var one Decision
		if one, err = s.b.Allocate(scriptUnit(d)); err == nil {
			r := scriptLoad(d)
			s.loads[r.Unit] = r
			s.say([]Decision{one})
		}
		return err
	case "load":
		r := scriptLoad(d)
		s.loads[r.Unit] = r
	case "report":
		return s.report(d)
	case "round":
		for range int(number(d, "times", 1)) {
			if !d.HasArg("quiet") {
				if err := s.report(d); err != nil {
					return err
				}
			}
			s.say(s.b.Round())
		}
	case "fail":
		list, err := s.b.Fail(NodeID(text(d, "node")))
		s.say(list)
		return err
	case "unreachable":
		return s.b.Unreachable(NodeID(text(d, "node")))
	case "withdraw":
		s.b.Withdraw(UnitID(text(d, "unit")))
	case "pause":
		s.b.Pause(!d.HasArg("off"))
	case "segment":
		return s.segment(d)
	case "show":
	default:
		return fmt.Errorf("no command %q", d.Cmd)
	}
	if d.Cmd == "show" || d.Cmd == "round" || d.Cmd == "fail" {
		s.show()
	}
	return nil
}

func (s *stage) begin(d *datadriven.TestData) (err error) {
	cfg := Default()
	cfg.Random = rand.New(rand.NewPCG(uint64(number(d, "seed", 1)), 1))
	if name := text(d, "migrator"); name != "" {
		if cfg.Migrator, err = ParseMigrator(name); err != nil {
			return err
		}
	}
	if text(d, "policy") == "weighted-random" {
		cfg.Policy = WeightedRandom
	}
	for key, to := range map[string]*float64{"threshold": &cfg.Threshold, "limit": &cfg.Limit, "difference": &cfg.Difference, "target": &cfg.Target,
		"history": &cfg.History, "gain": &cfg.Gain, "floor": &cfg.Floor, "max-rate": &cfg.Separate.MaxMessageRate, "max-bandwidth": &cfg.Separate.MaxBandwidth} {
		*to = number(d, key, *to)
	}
	if d.HasArg("weights") {
		w := number(d, "weights", 0)
		cfg.Weights = Weights{w, w, w, w}
	}
	cfg.Settle = int(number(d, "settle", float64(cfg.Settle)))
	s.loads = make(map[UnitID]Reading)
	s.b, err = New(cfg)
	return err
}

func (s *stage) report(d *datadriven.TestData) error {
	silent := text(d, "silent")
	for _, n := range s.b.nodes {
		var list []Reading
		for _, u := range n.units {
			r, ok := s.loads[u.ID]
			if !ok {
				r = Reading{Unit: u.ID, Load: u.Expected}
			}
			list = append(list, r)
		}
		if string(n.ID) == silent {
			continue
		}
		if err := s.b.Report(n.ID, list); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) segment(d *datadriven.TestData) error {
	var g Graph
	at := make(map[string]int)
	for line := range strings.Lines(d.Input) {
		f := strings.Fields(line)
		o := Operator{Name: f[0]}
		at[f[0]] = len(g.Operators)
		for _, w := range f[1:] {
			key, value, _ := strings.Cut(w, "=")
			switch key {
			case "needs":
				o.Needs = capabilities(value)
			case "required":
				o.Required = labels(value)
			case "reads":
				for _, in := range strings.Split(value, ",") {
					i, ok := at[in]
					if !ok {
						i, _ = strconv.Atoi(in)
					}
					o.Inputs = append(o.Inputs, i)
				}
			}
		}
		g.Operators = append(g.Operators, o)
	}
	var nodes []Node
	for _, n := range s.b.nodes {
		nodes = append(nodes, n.Node)
	}
	runs, err := Segment(g, nodes)
	for _, r := range runs {
		var names []string
		for _, o := range r.Operators {
			names = append(names, g.Operators[o].Name)
		}
		fmt.Fprintf(&s.log, "%v on %v\n", names, r.Able)
	}
	return err
}

func (s *stage) say(list []Decision) {
	for _, d := range list {
		fmt.Fprintln(&s.log, d)
		for _, u := range d.Into {
			names := make([]string, len(u.Parts))
			for i, p := range u.Parts {
				names[i] = p.Name
			}
			fmt.Fprintf(&s.log, "  %s: %v\n", u.ID, names)
		}
	}
}

func (s *stage) show() {
	for _, n := range s.b.Status() {
		known := ""
		if !n.Known {
			known = " (not known)"
		}
		fmt.Fprintf(&s.log, "%s%s: %s, raw %s, %s messages/s, %v\n", n.ID, known, figure(n.Usage), figure(n.RawUsage), figure(n.Rate), n.Units)
	}
}

func scriptNode(d *datadriven.TestData) Node {
	unbounded := math.Inf(1)
	return Node{
		ID: NodeID(d.CmdArgs[0].Key), Rack: text(d, "rack"), Labels: labels(text(d, "labels")), Provides: capabilities(text(d, "provides")), Weight: number(d, "weight", 1),
		Capacity: Capacity{number(d, "cpu", 100), number(d, "memory", unbounded), number(d, "in", unbounded), number(d, "out", unbounded)},
	}
}

func scriptUnit(d *datadriven.TestData) Unit {
	u := Unit{ID: UnitID(d.CmdArgs[0].Key), Needs: capabilities(text(d, "needs")), Required: labels(text(d, "required")), Preferred: labels(text(d, "preferred")),
		Replicas: text(d, "replicas"), Expected: scriptLoad(d).Load}
	for _, name := range listed(text(d, "parts")) {
		u.Parts = append(u.Parts, Part{Name: name, Keyed: strings.HasPrefix(name, "keyed")})
	}
	return u
}

func scriptLoad(d *datadriven.TestData) Reading {
	cpu := number(d, "cpu", 0)
	r := Reading{Unit: UnitID(d.CmdArgs[0].Key), Load: Load{cpu, number(d, "memory", 0), number(d, "in", 0), number(d, "out", 0), number(d, "rate", cpu)}}
	for _, t := range listed(text(d, "through")) {
		v, _ := strconv.ParseFloat(t, 64)
		r.Parts = append(r.Parts, Throughput{Messages: v, Bytes: 10 * v})
	}
	return r
}

func text(d *datadriven.TestData, key string) string {
	for _, a := range d.CmdArgs {
		if a.Key == key {
			return strings.Join(a.Vals, ",")
		}
	}
	return ""
}

func number(d *datadriven.TestData, key string, otherwise float64) float64 {
	v, err := strconv.ParseFloat(text(d, key), 64)
	if err != nil {
		return otherwise
	}
	return v
}

func listed(value string) []string {
	if value == "" {
		return nil
	}
	return strings.Split(value, ",")
}

func capabilities(value string) (list []Capability) {
	for _, c := range listed(value) {
		list = append(list, Capability(c))
	}
	return list
}

func labels(value string) Labels {
	l := make(Labels)
	for _, pair := range listed(value) {
		k, v, _ := strings.Cut(pair, ":")
		l[k] = v
	}
	return l
}
