package replica

// Redoing reports whether the replica has permission to redo at full speed.
func (r *Replica) Redoing() bool { return r.permission.Granted() }

// Asking reports whether a request for permission is outstanding.
func (r *Replica) Asking() bool {
	_, asking := r.permission.Due()
	return asking
}
