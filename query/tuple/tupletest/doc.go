// Package tupletest makes random schemas and batches for tests, from a seed, and renders batches as text to compare.
//
// What it makes covers the corners: nulls, empty and repeated strings, extreme numbers, NaN and both zeros, lists of
// every kind, selections, several dictionary lineages, plain dictionaries.
package tupletest
