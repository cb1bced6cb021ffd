package sim

import (
	"fmt"

	"fednode/query/spec"
	"fednode/testnet/sim/fault"
	"fednode/testnet/sim/topology"
)

// ReadCase reads a case from TOML: the keys of topology.Spec, and
//
//	seed = 17
//	faults = ["12.5s crash f1.0 for 3s", …]
//
// drawn is true if the file has no faults, so that they are to be drawn from the seed. It reports every problem at once,
// as a *spec.Error.
func ReadCase(file string, src []byte) (c Case, drawn bool, err error) {
	var p spec.Problems
	c.Spec = topology.Default()
	root := spec.ParseTOML(file, src, nil, &p)
	if root == nil {
		return c, false, p.Err()
	}
	r := spec.Read(root, &p)
	c.Seed = uint64(r.Int("seed", 1, 0, 1<<62))
	drawn = !root.Has("faults")
	for _, v := range r.Strings("faults", false) {
		f, err := fault.Parse(v.Str)
		if err != nil {
			p.Add(v.Pos, "faults", "", "%v", err)
			continue
		}
		c.Faults = append(c.Faults, f)
	}
	c.Faults.Sort()
	c.Spec.Read(r)
	r.Done()
	return c, drawn, p.Err()
}

// AppendTOML appends the case as a file that ReadCase reads.
func (c *Case) AppendTOML(b []byte) []byte {
	b = fmt.Appendf(b, "seed = %d\n", c.Seed)
	b = c.Spec.AppendTOML(b)
	b = append(b, "faults = [\n"...)
	for _, f := range c.Faults {
		b = fmt.Appendf(b, "  %q,\n", f)
	}
	return append(b, "]\n"...)
}
