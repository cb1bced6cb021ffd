// Package sim runs a balancer over simulated nodes: given or random loads, loads that vary, nodes that fail. The decisions are
// those of package balance; here is only what happens to the loads meanwhile.
package sim
