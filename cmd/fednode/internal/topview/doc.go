// Package topview draws the screens of fednode top.
//
// A Frame is everything a screen depends on: two samples of a daemon's status, the size of the terminal, what is
// selected and how the daemon answers. Render turns it into text and depends on nothing else: not on the clock, the
// environment or a terminal. Rates are differences of counters between the two samples; a counter that went back, as
// after a restart, has no rate until the next sample.
//
// The overview gives every section its share of the lines. Where a section does not fit, the entries in trouble are kept
// and a last line counts what is hidden; the list of queries shows the part around the selected one. Tables give up their
// least telling columns when the terminal is narrow.
//
// All text of the daemon is stripped of control characters before it is measured or drawn. Values of these types are not
// for concurrent use.
package topview
