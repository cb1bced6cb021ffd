package main

import (
	"context"
	"fmt"

	"fednode/cmd/fednode/internal/regionbench"
)

// benchRegions measures what finding the restart set takes as an all-to-all exchange grows, beside a search by edges.
func benchRegions(ctx context.Context, o benchOptions) ([]benchmark, error) {
	sizes := regionbench.Sizes()
	var out []benchmark
	for _, c := range regionbench.Cases() {
		smallest := 0.0 // ns a vertex
		for _, n := range sizes {
			r, err := regionbench.Run(ctx, c, n, o.runs)
			if err != nil {
				return nil, err
			}
			vertices := float64(2 * n)
			b := benchmark{Name: fmt.Sprintf("regions, %s, %d+%d", c.Name, n, n), Records: 2 * n, NsPerRecord: r.Ns / vertices,
				PlainNsPerRecord: r.PlainNs / vertices, AllocsPerRecord: &r.AllocsPerVertex, Runs: r.Runs, RestartMs: r.Ns / 1e6}
			b.Ratio = b.PlainNsPerRecord / b.NsPerRecord
			if smallest == 0 {
				smallest = b.NsPerRecord
			}
			b.Growth = b.NsPerRecord / smallest
			if n == sizes[len(sizes)-1] {
				b.goal = goal{ms: 20, bound: "a visit to each vertex, and memory for what restarts"}
			}
			out = append(out, b)
		}
	}
	return out, nil
}
