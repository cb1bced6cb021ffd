package api

import "time"

// Status is how a node stands, in full.
type Status struct {
	Node    NodeStatus    `json:"node"`
	Storage StorageStatus `json:"storage"`
	// Sources are the node's own streams, by name.
	Sources []SourceStatus `json:"sources"`
	// Queries are those known here, by id, with what of them runs on this node.
	Queries []QueryStatus `json:"queries"`
	// Partners are the organisations that are trusted, by name, this node's own among them.
	Partners []PartnerStatus `json:"partners"`
}

// NodeStatus is the node as a whole.
type NodeStatus struct {
	Org     string    `json:"org"`
	Name    string    `json:"name"`
	Peer    string    `json:"peer"` // peer id
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	Ready   bool      `json:"ready"`
	// P2P are the multiaddresses at which others reach the node; API are the addresses of this interface.
	P2P []string `json:"p2p"`
	API []string `json:"api"`
	// MemoryBytes is what the process holds resident; MemoryLimitBytes its soft limit, 0 for none.
	MemoryBytes      int64 `json:"memory_bytes"`
	MemoryLimitBytes int64 `json:"memory_limit_bytes"`
	// CPUSeconds is processor time since the start, all cores.
	CPUSeconds float64 `json:"cpu_s"`
	Goroutines int     `json:"goroutines"`
	// CertificateExpires is when the node's certificate ends; null without one.
	CertificateExpires *time.Time `json:"certificate_expires"`
}

// StorageStatus is the disk that the node writes to.
type StorageStatus struct {
	Dir string `json:"dir"`
	// FreeBytes of the file system; below ReserveBytes nothing new is taken in.
	FreeBytes    int64 `json:"free_bytes"`
	ReserveBytes int64 `json:"reserve_bytes"`
	// StoreBytes is what the node's store occupies; source logs come on top.
	StoreBytes int64 `json:"store_bytes"`
	// Full: writing is refused until space returns.
	Full bool `json:"full"`
}

// Position is how far somebody has come in a stream.
type Position struct {
	Generation uint64 `json:"generation"`
	ID         uint64 `json:"id"`
	// Boundary: everything before it is there.
	Boundary StreamTime `json:"boundary"`
}

// Subscriber is somebody a stream is kept for.
type Subscriber struct {
	Name string `json:"name"` // org/node/query/fragment
	// Acknowledged is what the subscriber's durable state covers.
	Acknowledged Position `json:"acknowledged"`
	// Lapsed is since when nobody waits for it any more, a partner's that has held back too much or for too long; null while
	// it is waited for.
	Lapsed *time.Time `json:"lapsed"`
}

// SourceStatus is a stream where data enters.
type SourceStatus struct {
	Stream string `json:"stream"` // full name
	// Condition is reading, waiting, behind, disconnected or ended; Detail says what a person should know about it.
	Condition string `json:"condition"`
	Detail    string `json:"detail"`
	// Failure is what keeps the source from going on; "" if nothing does.
	Failure string `json:"failure"`
	// Rows were accepted; Clamped of them at another time than their own. Late and Future rows were not, Errors could not
	// be read.
	Rows    uint64 `json:"rows"`
	Clamped uint64 `json:"clamped"`
	Late    uint64 `json:"late"`
	Future  uint64 `json:"future"`
	Errors  uint64 `json:"errors"`
	// ByReason counts rows that were not accepted since the node started.
	ByReason map[string]uint64 `json:"by_reason"`
	Head     Position          `json:"head"`
	// High is the largest time of a row so far.
	High     StreamTime `json:"high"`
	LogBytes int64      `json:"log_bytes"`
	// LogLimitBytes stops intake.
	LogLimitBytes int64        `json:"log_limit_bytes"`
	Subscribers   []Subscriber `json:"subscribers"`
	// Recovered is what opening the log had to mend; "" if nothing.
	Recovered string `json:"recovered"`
}

// PartnerStatus sums up the nodes of one organisation.
type PartnerStatus struct {
	Org string `json:"org"`
	// Up of the Known nodes have a session.
	Up    int `json:"up"`
	Known int `json:"known"`
}

// PeerInfo is one node that this one knows or has a session with.
type PeerInfo struct {
	Peer string `json:"peer"` // peer id
	// Org and Node are "" while the peer is not admitted.
	Org  string `json:"org"`
	Node string `json:"node"`
	Up   bool   `json:"up"`
	// Cause is why it is not up.
	Cause string `json:"cause"`
	// Protocol is the version both speak, Software what the peer calls itself.
	Protocol int    `json:"protocol"`
	Software string `json:"software"`
	// Address of the connection, "" without one; Dialled are the addresses that are tried.
	Address string   `json:"address"`
	Dialled []string `json:"dialled"`
	// RTT is the smoothed round trip, 0 if not measured; Silence the time since the last byte, and SilenceLimit how long it
	// may last.
	RTT          float64 `json:"rtt_s"`
	Silence      float64 `json:"silence_s"`
	SilenceLimit float64 `json:"silence_limit_s"`
	// Flaps counts suspicions that turned out wrong.
	Flaps   uint64 `json:"flaps"`
	Streams int    `json:"streams"`
	Queued  int    `json:"queued"` // control messages waiting
}
