// Package generate is the connector for made-up records: connections of an organisation's network with planted active
// and scanning sources, readings of sensors, and bids of an auction.
//
// Row i of a generator is a pure function of its declaration and i, so the same declaration gives the same rows on
// every machine, and a position is a row number. Event time begins at a fixed instant and advances by the declared
// rate; a row's time lies less than `disorder` behind that of its place, so rows are out of order by less than that.
//
// With speed = 60 the rows come sixty times as fast as their event time says; with speed = 0 as fast as they are taken.
package generate
