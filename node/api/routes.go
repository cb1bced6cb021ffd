package api

import (
	_ "embed" // for the document
	"net/http"
)

// prefix of everything that has a version.
const prefix = "/api/v1"

// document describes the routes. A test keeps it equal to the table below and to the types.
//
//go:embed openapi.json
var document []byte

// route is one row of the table of routes: what is served, and what the document says of it.
type route struct {
	method  string
	pattern string // of http.ServeMux
	path    string // in the document; "" is the pattern
	id      string
	access  access
	serve   func(*Server, http.ResponseWriter, *http.Request) error

	summary string
	params  []param
	// bodies are the content types of the request's body; nil for none.
	bodies []string
	// answers by status; errors are those that mean something for this route beyond what every route can answer.
	answers []answer
	errors  []int
}

// param is a parameter of a route.
type param struct {
	name, in, doc string
	kind          string // string, boolean or integer
}

// answer is what a route answers with: a value of the type in JSON, or text of another content type.
type answer struct {
	status      int
	doc         string
	value       any
	contentType string
}

// Parameters that several routes have.
func streamParam() param {
	return param{name: "stream", in: "path", kind: "string", doc: "full name of a stream, org/stream or org/query/output; slashes stand as they are, or as %2F. A name without a slash is a stream of this organisation"}
}

func queryParam() param {
	return param{name: "name", in: "path", kind: "string", doc: "name of a query; of another organisation's, org%2Fname"}
}

// jsonLines and its other names are a stream of JSON documents.
const jsonLines = "application/x-ndjson"

// routes returns the table.
func routes() []route {
	return append(append(nodeRoutes(), queryRoutes()...), streamRoutes()...)
}

func nodeRoutes() []route {
	return []route{
		{method: "GET", pattern: "/healthz", id: "health", access: forAll, serve: (*Server).getAlive,
			summary: "Whether the process serves requests.", answers: []answer{{status: 200, doc: "It does.", value: Health{}}}},
		{method: "GET", pattern: "/livez", id: "live", access: forAll, serve: (*Server).getAlive,
			summary: "Whether the process serves requests; restart it if not.", answers: []answer{{status: 200, doc: "It does.", value: Health{}}}},
		{method: "GET", pattern: "/readyz", id: "ready", access: forAll, serve: (*Server).getReady,
			summary: "Whether the node has begun its work and caught up with what was there before its start.",
			answers: []answer{{status: 200, doc: "It has.", value: Health{}}, {status: 503, doc: "Not yet.", value: Health{}}}},
		{method: "GET", pattern: "/metrics", id: "metrics", access: forMetrics, serve: (*Server).getMetrics,
			summary: "Metrics for Prometheus.", answers: []answer{{status: 200, doc: "The text format of Prometheus.", contentType: "text/plain"}}},
		{method: "GET", pattern: prefix + "/openapi.json", id: "getDocument", serve: (*Server).getDocument,
			summary: "This document.", answers: []answer{{status: 200, doc: "An OpenAPI 3.1 document.", value: map[string]any{}}}},
		{method: "GET", pattern: prefix + "/status", id: "getStatus", serve: (*Server).getStatus,
			summary: "How the node stands, in full.", answers: []answer{{status: 200, doc: "The status.", value: Status{}}}},
		{method: "GET", pattern: prefix + "/config", id: "getConfig", serve: (*Server).getConfig,
			summary: "Every setting in force with its origin; secrets are left out.", answers: []answer{{status: 200, doc: "The settings.", value: []Setting{}}}},
		{method: "GET", pattern: prefix + "/peers", id: "listPeers", serve: (*Server).listPeers,
			summary: "The nodes that this one knows, with round trips and versions.", answers: []answer{{status: 200, doc: "The peers.", value: []PeerInfo{}}}},
		{method: "POST", pattern: prefix + "/peers", id: "addPeer", serve: (*Server).addPeer,
			summary: "Keep a session with a peer from now on, also after a restart.",
			bodies:  []string{"application/json"}, answers: []answer{{status: 204, doc: "The peer is dialled."}}, errors: []int{400, 403, 413}},
	}
}

func queryRoutes() []route {
	return []route{
		{method: "GET", pattern: prefix + "/queries", id: "listQueries", serve: (*Server).listQueries,
			summary: "The queries known here.", answers: []answer{{status: 200, doc: "The queries, by id.", value: []QueryInfo{}}}},
		{method: "POST", pattern: prefix + "/queries", id: "deployQuery", serve: (*Server).deployQuery,
			summary: "Deploy a query file: plan it, ask every other host, and start it once all have agreed.",
			params: []param{
				{name: "file", in: "query", kind: "string", doc: "name of the file in messages; default query.toml"},
				{name: "replace", in: "query", kind: "boolean", doc: "replace a query of the same name that has other content"},
			},
			bodies:  []string{"application/toml"},
			answers: []answer{{status: 200, doc: "The same content runs already.", value: DeployResult{}}, {status: 201, doc: "The query is deployed.", value: DeployResult{}}},
			errors:  []int{400, 403, 409, 413, 503}},
		{method: "GET", pattern: prefix + "/queries/{name}", id: "getQuery", serve: (*Server).getQuery,
			summary: "Everything known of a query: per operator rows, state, lag and the input that holds it back.",
			params:  []param{queryParam()}, answers: []answer{{status: 200, doc: "The query.", value: QueryDetail{}}}, errors: []int{404}},
		{method: "POST", pattern: prefix + "/queries/{name}/stop", id: "stopQuery", serve: (*Server).stopQuery,
			summary: "Stop a query everywhere. Stopping one that is stopped does nothing.",
			params:  []param{queryParam()}, answers: []answer{{status: 204, doc: "The query is stopped; hosts that are away learn it when they are up again."}}, errors: []int{403, 404}},
		{method: "POST", pattern: prefix + "/queries/{name}/accept", id: "acceptReplica", serve: (*Server).acceptReplica,
			summary: "Read again from a replica that is DIVERGED, because the one that it differs from is gone for good. It applies to what of the query runs at this node.",
			params: []param{
				queryParam(),
				{name: "producer", in: "query", kind: "string", doc: "the replica, org/node, as the query's status names it"},
			},
			answers: []answer{{status: 204, doc: "The replica is read from from now on."}}, errors: []int{400, 404, 503}},
	}
}

func streamRoutes() []route {
	return []route{
		{method: "GET", pattern: prefix + "/streams", id: "listStreams", serve: (*Server).listStreams,
			summary: "The streams that this node produces.", answers: []answer{{status: 200, doc: "The streams, by name.", value: []StreamInfo{}}}},
		// A name has slashes, and a wildcard over several segments must be last: the handler takes the /tail off.
		{method: "GET", pattern: prefix + "/streams/{stream...}", path: prefix + "/streams/{stream}/tail", id: "tailStream", serve: (*Server).tailStream,
			summary: "Follow the rows of a stream: as server-sent events, or as JSON lines if asked for.",
			params: []param{
				streamParam(),
				{name: "from", in: "query", kind: "string", doc: "now (the default), beginning, or the id of the last tuple known: ID or GENERATION:ID"},
				{name: "mode", in: "query", kind: "string", doc: "stable (the default): rows that never change; latest: during a failure also tentative rows, made from what is there, and what becomes of them"},
				{name: "rows", in: "query", kind: "integer", doc: "end after so many rows"},
				{name: "boundaries", in: "query", kind: "boolean", doc: "also say up to which time the stream is complete, as an event or a line {\"boundary\":…}; with mode=latest {\"event\":\"boundary\",…}"},
				{name: "Last-Event-ID", in: "header", kind: "string", doc: "the id of the last event; takes precedence over from"},
			},
			answers: []answer{
				{status: 200, contentType: "text/event-stream", doc: "An event per row: its id is GENERATION:ID, its data the row as a JSON object with id and stime first. Events named gap say which rows are lost, events named boundary how far the stream is complete; the event named end ends it. With mode=latest an event named tentative is a row without an id that stable rows will replace; undo voids those with a stime from `from` on (null: all); done says that those with a stime before `before` (\"end\": all) have been replaced by the stable rows before it. Who reconnects forgets the tentative rows. Comments keep a quiet connection alive."},
				{status: 200, contentType: jsonLines, doc: "A row a line, as in the events' data; a gap as {\"gap\":…}. With mode=latest each line says first what it is: {\"event\":\"stable\"|\"tentative\"|\"undo\"|\"done\"|\"gap\"|\"boundary\",…}."},
			},
			errors: []int{400, 403, 404, 429}},
		{method: "POST", pattern: prefix + "/streams/{stream...}", path: prefix + "/streams/{stream}", id: "pushRows", serve: (*Server).pushRows,
			summary: "Push rows into a stream whose connector is http. The answer comes when they are durable.",
			params: []param{
				streamParam(),
				{name: "Idempotency-Key", in: "header", kind: "string", doc: "names this body: sending it again under the same name adds what is missing, and no row twice; at most 256 bytes"},
			},
			bodies:  []string{jsonLines, "text/csv", "text/tab-separated-values", "application/vnd.apache.arrow.stream"},
			answers: []answer{{status: 200, doc: "The rows are durable. Records that could not be read are counted and set aside as the stream says.", value: PushResult{}}},
			errors:  []int{400, 404, 413, 415, 429, 503}},
		{method: "GET", pattern: prefix + "/exports", id: "listExports", serve: (*Server).listExports,
			summary: "What this node lets out, to whom and in which form.", answers: []answer{{status: 200, doc: "The exports.", value: []ExportInfo{}}}},
		{method: "GET", pattern: prefix + "/catalog", id: "listOffers", serve: (*Server).listOffers,
			summary: "The streams that partners are known to have.",
			params:  []param{{name: "org", in: "query", kind: "string", doc: "only those of one organisation"}},
			answers: []answer{{status: 200, doc: "The streams, by name.", value: []Offer{}}}},
	}
}
