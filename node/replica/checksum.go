package replica

import (
	"fednode/dcaa"
	"fednode/query/tuple"
	"fednode/sunion"
)

// outputCheck is the checksum of an output, and what its last boundary said.
type outputCheck struct {
	sum        *sunion.Checksum
	told       uint64
	generation uint64 // of told
}

// restoreChecks begins the checksums of the outputs, if they are wanted, where a recovery point was cut.
func (r *Replica) restoreChecks(at []sunion.ChecksumState) {
	if !r.cfg.Checksums {
		return
	}
	for n, o := range r.numbers {
		s := o.State()
		c := outputCheck{sum: sunion.LateChecksum(s)}
		if n < len(at) && at[n].Generation == s.Generation {
			c.sum = sunion.RestoreChecksum(at[n])
		}
		r.checks = append(r.checks, c)
	}
}

// checkRows takes rows that an output gives.
func (r *Replica) checkRows(output int, f *tuple.Frame) {
	if r.checks != nil {
		r.checks[output].sum.Rows(f)
	}
}

// checkBoundary adds the checksum to a boundary that an output gives.
func (r *Replica) checkBoundary(output int, f *tuple.Frame) {
	if r.checks != nil {
		c := &r.checks[output]
		f.Sum = c.sum.Boundary(f.Generation, f.Time)
		c.told, c.generation = f.Sum, f.Generation
	}
}

// checked returns what the last boundary of an output said of its rows; 0 is nothing.
func (r *Replica) checked(output int) uint64 {
	if r.checks == nil || r.checks[output].generation != r.numbers[output].State().Generation {
		return 0
	}
	return r.checks[output].told
}

// Diverged passes on that a producer of the input differs from another.
func (in *input) Diverged(d dcaa.Divergence) {
	if s, ok := in.r.shell.(Divergent); ok {
		s.Diverged(in.n, d)
	}
}

// Accept lets every input read again from a producer that has diverged.
func (r *Replica) Accept(now dcaa.Instant, producer string) {
	r.now = now
	for _, in := range r.inputs {
		in.intake.Accept(now, producer)
	}
}

// Diverged lists the producers of an input that are not read from because they differ from another.
func (r *Replica) Diverged(input int) []string { return r.inputs[input].intake.Diverged() }
