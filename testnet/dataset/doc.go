// Package dataset holds queries over public data sets to an independent ground truth: what `fednode query run` writes
// is compared with files that other programs computed, byte for byte where the query leaves no freedom.
//
// The data are not part of the project, since their licences differ: the tests read them from the folder that
// $FEDNODE_DATA names, or from ../shared/data beside the repository, and say so where they are not there ([Dir]). testdata
// has the queries only. [Networks] are the captures with known windows, which package proc sends through three daemons.
//
// The package also makes large seeded files of connection records ([Connections]), so that a query can be run over more
// data than memory holds.
package dataset
