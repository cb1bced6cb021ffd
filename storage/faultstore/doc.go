// Package faultstore wraps stores and files so that they fail by rule: the nth write, everything after so many bytes, or
// a number of times and then no more. It shows how callers behave when a disk does not.
//
// A [Plan] counts what passes and decides; [Wrap] puts it before a [storage.DB], [Files] before the files of a segment
// log. A plan may be used by any number of goroutines.
package faultstore
