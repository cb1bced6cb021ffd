package topview

import "fednode/node/api"

// Key names a query, or one of its fragments; a Fragment of "" is the query as a whole.
type Key struct{ Query, Fragment string }

// keys lists what can be selected, in the order of the screen.
func keys(s *api.Status) []Key {
	var out []Key
	for i := range s.Queries {
		q := &s.Queries[i]
		out = append(out, Key{Query: q.ID})
		for j := range q.Fragments {
			out = append(out, Key{Query: q.ID, Fragment: q.Fragments[j].Name})
		}
	}
	return out
}

// Nearest returns k if it is there, else its query, else the first key; the zero Key if there is no query.
func Nearest(s *api.Status, k Key) Key {
	list := keys(s)
	for _, want := range []Key{k, {Query: k.Query}} {
		for _, have := range list {
			if have == want {
				return have
			}
		}
	}
	if len(list) == 0 {
		return Key{}
	}
	return list[0]
}

// Move returns the key that is so many places below k, or above for a negative number; it stops at the ends.
func Move(s *api.Status, k Key, places int) Key {
	list := keys(s)
	if len(list) == 0 {
		return Key{}
	}
	k = Nearest(s, k)
	for i, have := range list {
		if have == k {
			return list[max(0, min(len(list)-1, i+places))]
		}
	}
	return k
}
