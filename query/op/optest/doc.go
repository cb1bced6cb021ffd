// Package optest holds every kind of operator to the rules of package op, and helps their other tests to build and feed
// operators from readable text.
//
// [Run] takes a [Case], one declaration with the shape of its inputs, and drives instances with random streams: the same
// rows in other cuts, encodings, boundary placements and port interleavings must give the same output; so must an
// instance restored from a snapshot taken at any point, a fork, and one whose ports are far apart in time; promised
// boundaries are kept; borrowed memory is not looked at again; state stays bounded; damaged snapshots are refused or
// harmless. Every random choice comes from the seed that a failure names.
//
// A new kind of operator joins by one line in the table of cases.
package optest
