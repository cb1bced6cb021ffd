package replica

// weigh notes how much memory the inputs keep. It is looked at more often than it changes much.
func (r *Replica) weigh() {
	r.kept = 0
	for n := range r.inputs {
		r.kept += r.Kept(n)
	}
}

// Kept estimates the memory of all rows that an input keeps, tentative ones included. SUnions that take it share them.
func (r *Replica) Kept(input int) (bytes int64) {
	for _, f := range r.inputs[input].feeds {
		bytes = max(bytes, r.unions[f.union].su.Bytes(f.input))
	}
	return bytes
}

// heldBytes is what the inputs keep when those that are ahead are held.
func (r *Replica) heldBytes() int64 { return r.cfg.InputBytes - r.cfg.InputBytes/4 }

// crowdedBytes is what they keep when the oldest of it is redone without permission. That is late: until then another replica gives
// new results while one redoes, and both would be behind.
func (r *Replica) crowdedBytes() int64 { return r.heldBytes() - r.heldBytes()/8 }

// suffixBytes is what of it tentative rows of one input of one SUnion may take.
func (r *Replica) suffixBytes() int64 {
	feeds := 0
	for n := range r.cfg.Plan.Unions {
		feeds += len(r.cfg.Plan.Unions[n].Inputs)
	}
	return max(1, r.cfg.InputBytes/4/int64(max(1, feeds)))
}

// crowded reports whether an SUnion holds so much that its inputs would have to stop.
func (r *Replica) crowded(u *union) bool {
	own := int64(0)
	for k := range r.cfg.Plan.Unions[u.n].Inputs {
		if u.su.Waiting(k) > r.cfg.WaitingRows/2 {
			return true
		}
		own += u.su.Bytes(k)
	}
	return r.kept > r.crowdedBytes() && own >= r.kept/int64(len(r.unions))
}
