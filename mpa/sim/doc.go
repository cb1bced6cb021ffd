// Package sim runs many participants of package mpa in one process, over simulated messages, migrations and loads: the
// same code that a node runs, driven from one queue of events. A run depends on its seed alone.
package sim
