package sim

import "testing"

// BenchmarkRun measures a whole run of 5,000 participants with ten contracts each until rest.
func BenchmarkRun(b *testing.B) {
	cfg := Default()
	cfg.Nodes, cfg.Graph, cfg.Duration = 5000, Regular, 100*second
	for range b.N {
		if _, err := Run(cfg, Silent{}); err != nil {
			b.Fatal(err)
		}
	}
}
