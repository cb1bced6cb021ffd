package replica

import (
	"fednode/dcaa"
	"fednode/query"
	"fednode/query/tuple"
	"fednode/sunion"
)

// Config fixes a replica.
type Config struct {
	Plan     *query.FragmentPlan
	Settings dcaa.Settings
	// Name tells the replicas of the fragment apart: "org/node". Incarnation tells the lives of one apart.
	Name        string
	Incarnation uint64
	// Peers are the names of the other replicas.
	Peers []string
	// Inputs say where each of Plan.Inputs comes from, Places where each of Plan.Unions stands.
	Inputs []Input
	Places []dcaa.Place
	// Checksums lets boundaries of outputs carry checksums, so that consumers notice when replicas differ.
	Checksums bool
	// SliceRows is about how many rows one Advance releases at most; 0 means 65,536.
	SliceRows int
	// WaitingRows is how many rows may wait in an input that is ahead before it is held, and how many tentative ones that no
	// fork takes; of more the oldest go. 0 means 33 million: it is their memory that counts.
	WaitingRows int
	// InputBytes is how much memory the inputs may keep in all; 0 means 1 GiB. Of three quarters of that inputs that are ahead are
	// held, of seven eighths as much the oldest is redone for want of room, and tentative rows take a quarter at most, of which the oldest
	// go. What is left is for what cannot be held: the input that the others wait for.
	InputBytes int64
	// StateBytes is how much memory a fork may hold; 0 sets no limit. Beyond it the fork is given up and its rows are undone.
	// The stable instance is for the shell to watch.
	StateBytes int64
}

// Input says where one input comes from.
type Input struct {
	// Producers are the names of the replicas that give it, the same list everywhere.
	Producers []string
	// Preferred is the index of the producer that is asked first.
	Preferred int
	// Source: the producer is a source proxy.
	Source bool
	// Outside: the stream belongs to another query, or is declared outside of this one.
	Outside bool
}

// mostWaiting bounds what rows cost beside their memory.
const mostWaiting = 1 << 25

func (c *Config) complete() {
	if c.SliceRows == 0 {
		c.SliceRows = 1 << 16
	}
	if c.WaitingRows == 0 {
		c.WaitingRows = mostWaiting
	}
	if c.InputBytes == 0 {
		c.InputBytes = 1 << 30
	}
}

// Shell performs what a replica decides. Its methods are called from within the replica's, and must not call back.
type Shell interface {
	// Open asks a producer of an input; Opened, Refused, Truncated or Closed answers. Close ends a connection.
	Open(input int, o dcaa.Opening)
	Close(input int, conn uint64)
	// Emit gives a frame of an output, by its index in Plan.Outputs. It is owned by the shell.
	Emit(output int, f *tuple.Frame)
	// Tell sends a message to a peer; it may be lost.
	Tell(peer string, m dcaa.PermissionMessage)
	// Changed reports a change of state, for logs and metrics.
	Changed(c Change)
}

// Transferer is a Shell that can copy the state of another replica. It is asked when no producer holds what an input needs
// next; then this replica ends, and one that begins with the copied state, or with its own and parts of that, takes its place.
type Transferer interface {
	// Transfer asks a replica, by its index in Config.Peers. Offered says whether what comes is of use, Declined that nothing
	// comes. It is asked again after a while if neither is called.
	Transfer(peer int)
}

// Divergent is a Shell that is told when a producer of an input gives other rows than another one. It is
// not read from while that is so.
type Divergent interface {
	Diverged(input int, d dcaa.Divergence)
}

// Relied is a Shell that knows who reads. While somebody takes tentative results of an output, be it that another replica
// gives them too, they go on: whoever can have them there leaves by itself, and who stays may not reach that one.
type Relied interface {
	// Relied reports whether anybody takes tentative results of an output, by its index in Plan.Outputs.
	Relied(output int) bool
}

// Renewing is a Shell that is told what comes of it when corrections have stopped half way.
type Renewing interface {
	Renewed(x Renewal)
}

// Renewal says that a fork has begun anew where the stable instance stands, or why it goes on as it is.
type Renewal struct {
	// Outputs are the indices of the outputs that it gives.
	Outputs []int
	// Rows is how many rows it has been given again, or would have had to be; 0 if they are not all kept.
	Rows int
	// Cause is why it has not begun anew; nil if it has.
	Cause error
}

// Change is a change of the state of a path, or of what is given in it: if Cause says why, From and To may be the same.
type Change struct {
	From, To dcaa.State
	// Outputs are the indices of the outputs that change.
	Outputs []int
	// Missing are the inputs that lack, when results become tentative.
	Missing []tuple.Missing
	// Tentative is how many rows have been given tentatively in this failure.
	Tentative uint64
	// Lost: rows are lost for good, and results are best effort; nothing need be missing.
	Lost bool
	// Cause is why the tentative rows had to be undone; nil if they were not.
	Cause error
}

// State is what a recovery point holds of a replica beside its operators.
type State struct {
	// Inputs are the positions of each input of each SUnion, as in Plan.Unions and UnionPlan.Inputs.
	Inputs [][]tuple.Position
	// Boundary is up to where every SUnion has been released.
	Boundary tuple.Time
	Outputs  []OutputState
	// Checksums are those of the outputs, nil where none are kept.
	Checksums []sunion.ChecksumState
	// Anew are the beginnings of the paths, and Silences those of the outputs, of a best-effort query behind a failure; nil if
	// there was none.
	Anew     []AnewState
	Silences []SilenceState
}

// AnewState is what a recovery point holds of a path that has lost rows: up to where, from where on its stable side is fed again,
// and where its results count again; MinTime if that is not decided.
type AnewState struct {
	Lost           bool
	Need, From, To tuple.Time
	Reason         string
}

// SilenceState is what a recovery point holds of an output that says nothing stable, and up to where it would have; and where its
// generation has begun anew, 0 if it has not.
type SilenceState struct {
	On           bool
	Told, Begins tuple.Time
}
