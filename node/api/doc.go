// Package api is the daemon's HTTP interface: what programs, the command line and Prometheus see of a running node.
//
// [Server] serves JSON under /api/v1, described by the OpenAPI document at /api/v1/openapi.json, the metrics at /metrics
// and health at /healthz, /livez and /readyz. What it shows and does comes from a [Backend], which the node implements;
// every type that crosses the interface is a plain struct of this package, so that what is promised to others changes
// only where it is seen to change. The helpers in convert.go make them from what the parts of the node report.
//
//	srv, err := api.New(api.Config{Listen: "127.0.0.1:7480", Token: token, Org: "north"}, backend, log)
//	…
//	err = srv.Run(ctx) // until ctx ends; then requests get a moment to finish
//
// A caller shows the token as "Authorization: Bearer TOKEN"; health needs none. An address that other machines can reach
// demands TLS. Requests to a loopback address under another host's name are refused, so that a web page cannot reach the
// node through a name that resolves to it.
//
// A slow reader of a tail has its own cursor and its own deadline and holds up nobody else. A push waits until its rows
// are durable; when a stream takes no more, the answer is 429 with Retry-After.
//
// Server and the handlers may be used from many goroutines, and call the Backend from many.
package api
