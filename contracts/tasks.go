package contracts

import (
	"fmt"
	"maps"
	"slices"
)

// Work is a task as terms look at it.
type Work struct {
	Query     string
	Operators []string // kinds
	Labels    map[string]string
	Streams   []string
	UDFs      bool
	State     int64 // bytes
	Load      int64 // work units a second
}

// Admit reports why a task is outside the set, naming the clause; nil if it is inside.
func (k *Tasks) Admit(w Work) error {
	outside := func(list []string, what ...string) string {
		for _, s := range what {
			if len(list) > 0 && !slices.Contains(list, s) {
				return s
			}
		}
		return ""
	}
	if s := outside(k.Operators, w.Operators...); s != "" {
		return fmt.Errorf("tasks.operators does not name %q", s)
	}
	if s := outside(k.Queries, w.Query); s != "" {
		return fmt.Errorf("tasks.queries does not name %q", s)
	}
	if s := outside(k.Streams, w.Streams...); s != "" {
		return fmt.Errorf("tasks.streams does not name %q", s)
	}
	for _, name := range slices.Sorted(maps.Keys(k.Labels)) {
		if want := k.Labels[name]; w.Labels[name] != want {
			return fmt.Errorf("tasks.labels asks for %s = %q, the query has %q", name, want, w.Labels[name])
		}
	}
	switch {
	case w.UDFs && !k.UDFs:
		return fmt.Errorf("tasks.udfs allows no functions of the user's own")
	case w.State > k.MaxState:
		return fmt.Errorf("a state of %d bytes is above tasks.max_state, %d", w.State, k.MaxState)
	case w.Load > k.MaxTask:
		return fmt.Errorf("%d work units a second are above tasks.max_task, %d", w.Load, k.MaxTask)
	}
	return nil
}
