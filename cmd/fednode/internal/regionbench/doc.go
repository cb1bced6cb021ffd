// Package regionbench measures how long it takes to find what restarts after a failure, over an all-to-all exchange that
// grows, beside the search that looks at every edge. Both sides do the same: find the regions, then what restarts.
package regionbench
