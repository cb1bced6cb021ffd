// Package enginebench measures the engine against plain loops: Go loops over the same columns, written by hand for one
// query each. Both sides read the same batches, in memory, and must give the same rows in the same order, stime included,
// which is checked in every run.
//
// [Run] measures one [Query]: interleaved runs on one processor, the CPU time of the whole process with the garbage
// collector's, medians. What runs the query is the caller's: a [Build] makes an engine from the text of the diagram;
// [Operators] joins operators by hand, without fragments around them.
package enginebench
