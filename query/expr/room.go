package expr

// Room bounds the memory of the texts that several Evals make, of a batch and of those before whose results are kept. What
// finds no room is null, which depends on how rows were batched: once a room is over, results of its Evals count for
// nothing, and whoever owns them stops.
type Room struct {
	limit int64
	held  int64
	over  bool
}

// NewRoom returns a room of so many bytes.
func NewRoom(limit int64) *Room { return &Room{limit: limit} }

// Limit returns the bytes that there is room for.
func (r *Room) Limit() int64 { return r.limit }

// Over reports whether there was too little room once.
func (r *Room) Over() bool { return r.over }

// fits reports whether n bytes more have room.
func (r *Room) fits(n int) bool {
	r.over = r.over || r.held+int64(n) > r.limit
	return !r.over
}

// take takes n bytes, or gives them back where n is negative.
func (r *Room) take(n int) {
	r.held += int64(n)
	r.over = r.over || r.held > r.limit
}

// Share makes the Eval one of those that a room bounds. It is called before the first evaluation; an Eval that shares no
// room has one of its own, of 1 GiB.
func (e *Eval) Share(r *Room) { e.room = r }
