// Package windowbench is the two ends of a measurement: a source whose rows end windows of a [Query], and a sink that
// tells when a window's result came. What stands between them is the caller's: a node, or the parts of one.
//
// A [Probe] is used from one goroutine; its Source and its Sink may run in others.
package windowbench
