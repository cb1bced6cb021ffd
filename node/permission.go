package node

import "fednode/dcaa"

// permission hands a message about permission to the runner of a fragment, if it runs here now.
func (d *deployment) permission(name, from string, m dcaa.PermissionMessage) {
	d.mu.Lock()
	s := d.fragments[name]
	d.mu.Unlock()
	if s == nil {
		return
	}
	s.mu.Lock()
	r := s.runner
	s.mu.Unlock()
	if r != nil {
		r.Permission(from, m)
	}
}
