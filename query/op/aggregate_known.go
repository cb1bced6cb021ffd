package op

import (
	"slices"

	"fednode/query/op/state"
	"fednode/query/tuple"
)

// knownGroups are the groups that emit_empty speaks of: those seen within ttl (or ever, without one). A window gets a row
// for each that has none there.
type knownGroups struct {
	ttl    int64 // 0 for ever
	groups *state.Groups
	seen   state.Array[tuple.Time] // end of the last window with a row, by slot
}

func newKnownGroups(p *aggregation) *knownGroups {
	return &knownGroups{ttl: p.ttl, groups: state.NewGroups(p.keyTypes())}
}

func (k *knownGroups) some() bool { return k.groups.Len() > 0 }

// expired reports whether a group is no longer known in a window with this end.
func (k *knownGroups) expired(slot uint32, end tuple.Time) bool {
	return k.ttl > 0 && k.seen.Get(slot).Add(k.ttl) < end
}

// complete notes that the window with this end has rows of present, slots of groups in order, and returns these slots
// together with those of the other known groups, in order.
func (k *knownGroups) complete(present []uint32, groups *state.Groups, end tuple.Time) []uint32 {
	if len(present) > 0 {
		mine := k.groups.Import(groups, present)
		k.seen.Grow(k.groups.Len())
		for _, s := range mine {
			*k.seen.At(s) = end
		}
	}
	var live, absent []uint32
	for _, s := range k.groups.Order() {
		if k.expired(s, end) {
			continue
		}
		live = append(live, s)
		if k.seen.Get(s) != end {
			absent = append(absent, s)
		}
	}
	if len(absent) > 0 {
		present = append(present, groups.Import(k.groups, absent)...)
		slices.SortFunc(present, groups.Compare)
	}
	if len(live) < k.groups.Len() {
		k.keep(live)
	}
	return present
}

// keep forgets all groups but those of live.
func (k *knownGroups) keep(live []uint32) {
	var seen state.Array[tuple.Time]
	seen.Grow(len(live))
	for i, s := range live {
		*seen.At(uint32(i)) = k.seen.Get(s)
	}
	k.groups, _ = k.groups.Compact(live)
	k.seen = seen
}

func (k *knownGroups) snapshot(e *tuple.Encoder) {
	order := k.groups.Order()
	k.groups.Snapshot(e, order)
	times := make([]tuple.Time, len(order))
	for i, s := range order {
		times[i] = k.seen.Get(s)
	}
	e.Times(times)
}

func (k *knownGroups) restore(d *tuple.Decoder) {
	n := k.groups.Restore(d)
	times := d.Times()
	if d.Err() == nil && len(times) != n {
		d.Fail("%d times of %d known groups", len(times), n)
	}
	if d.Err() != nil {
		return
	}
	k.seen.Grow(n)
	for i, t := range times {
		*k.seen.At(uint32(i)) = t
	}
}

func (k *knownGroups) fork() *knownGroups {
	return &knownGroups{ttl: k.ttl, groups: k.groups.Fork(), seen: k.seen.Fork()}
}

func (k *knownGroups) bytes() int64 { return k.groups.Bytes() + k.seen.Bytes() }
