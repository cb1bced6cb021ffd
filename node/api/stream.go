package api

import "time"

// StreamInfo is a stream that this node produces.
type StreamInfo struct {
	Name string `json:"name"` // full name
	// Query is the id of the query that it belongs to, "" for a stream of the node.
	Query string `json:"query"`
	// Source: data enters here. Push: others may push rows.
	Source  bool         `json:"source"`
	Push    bool         `json:"push"`
	Columns []ColumnInfo `json:"columns"`
	Head    Position     `json:"head"`
}

// ColumnInfo is a column of a stream.
type ColumnInfo struct {
	Name string `json:"name"`
	Type string `json:"type"` // as query files write it
	// Form is what was done to the values before they left: plain, hash, truncate or pseudonym.
	Form string `json:"form"`
}

// ExportInfo is what lets a stream leave.
type ExportInfo struct {
	Name    string   `json:"name"`
	Stream  string   `json:"stream"`
	To      []string `json:"to"`
	Where   string   `json:"where"` // "" holds nothing back
	Purpose string   `json:"purpose"`
	// Expires ends the export; null is never.
	Expires *time.Time `json:"expires"`
	// Columns that leave; others do not.
	Columns []ColumnInfo `json:"columns"`
	// History is how far back a partner may read, in seconds of stream time; 0 means from now on.
	History float64 `json:"history_s"`
	// RowsPerSec and BytesPerSec limit what one partner is sent; 0 sets no limit.
	RowsPerSec  float64 `json:"rows_per_s"`
	BytesPerSec float64 `json:"bytes_per_s"`
}

// Offer is a stream of a partner, as sessions have told of it.
type Offer struct {
	Org      string     `json:"org"`
	Stream   string     `json:"stream"`
	State    string     `json:"state"`
	Boundary StreamTime `json:"boundary"`
	LastID   uint64     `json:"last_id"`
}

// Setting is one setting in force.
type Setting struct {
	Path  string `json:"path"`
	Value string `json:"value"`
	// Origin is file:line:column, or "default".
	Origin string `json:"origin"`
	// Effect says when a change of it counts: "restart".
	Effect string `json:"effect"`
}

// PushResult says what became of a pushed body.
type PushResult struct {
	// Rows are durable in the stream's log; they may still be late or ahead of time, which the stream's status counts.
	Rows int `json:"rows"`
	// Rejected records could not be read; Rejects are the first of them.
	Rejected int      `json:"rejected"`
	Rejects  []Reject `json:"rejects"`
}

// Reject is a record that could not be read.
type Reject struct {
	Line   int64  `json:"line"`   // from 1; 0 if the format has none
	Offset int64  `json:"offset"` // in bytes; for Arrow the row's number from 0
	Reason string `json:"reason"`
	Column string `json:"column"` // "" if it is the record as a whole
	Detail string `json:"detail"`
}
