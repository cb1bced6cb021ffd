package sim

import (
	"bytes"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
	"fednode/testnet/sim/topology"
)

// Without faults nothing is tentative, and the same seed gives the same run.
func TestCalm(t *testing.T) {
	s := topology.Default()
	s.Trouble, s.Settle = 20*tuple.Second, 10*tuple.Second
	run := func() (Result, string) {
		var b bytes.Buffer
		tr := NewTrace(&b)
		r, err := Execute(Case{Seed: 1, Spec: s}, Options{Trace: tr})
		require.NoError(t, err)
		require.NoError(t, tr.Flush())
		return r, b.String()
	}
	r, text := run()
	if r.Breach != nil {
		t.Log(text[max(0, len(text)-4000):])
	}
	require.Nil(t, r.Breach)
	require.Zero(t, r.Tentative)
	require.Greater(t, r.Rows, uint64(1000))
	again, same := run()
	require.Equal(t, r, again)
	require.Equal(t, text, same)
}

// BenchmarkChain runs the federation by which the simulator's speed is judged.
func BenchmarkChain(b *testing.B) {
	s := topology.Default()
	top, err := topology.Build(s)
	if err != nil {
		b.Fatal(err)
	}
	var us, steps uint64
	began := processorTime()
	b.ReportAllocs()
	for b.Loop() {
		r, err := ExecuteOn(top, Case{Seed: 1, Spec: s}, Options{})
		if err != nil || r.Breach != nil {
			b.Fatal(err, r.Breach)
		}
		us += uint64(r.Simulated)
		steps += r.Steps
	}
	b.ReportMetric(float64(us)/6e7/b.Elapsed().Seconds(), "simulated-min/s")
	b.ReportMetric(float64(us)/6e7/(processorTime()-began), "simulated-min/cpu-s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
}

// processorTime returns what the process has used so far, in seconds: on a busy machine it says more than the clock.
func processorTime() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return float64(r.Utime.Sec+r.Stime.Sec) + float64(r.Utime.Usec+r.Stime.Usec)/1e6
}
