// Package source is the source proxy: it stands where data enters. It reads a connector, decides about every row once
// (package ingest), makes rows, ids, stimes, boundaries, set-aside records and the connector's own position durable in
// one commit, and only then sends them on. So whatever crashes, a restart goes on from the log, and every subscriber
// sees the same stream.
//
//	p, err := source.Open(cfg)      // reads the log, starts nothing
//	err = p.Run(ctx)                // until ctx ends; the stream can be opened meanwhile
//
// A [Proxy] is a flow.Stream: subscribers that are up to date are served from memory, others from the log. What every
// counted subscriber has acknowledged is freed. Its [Proxy.Sides] are the streams of late and future rows and of records
// that could not be read, served from the log as far as it reaches.
package source
