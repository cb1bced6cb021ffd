package balance

import (
	"errors"
	"fmt"
	"strings"
)

// UnitID names a unit of work.
type UnitID string

// Unit is what is placed and moved as a whole: a run of operators.
type Unit struct {
	ID    UnitID
	Needs []Capability
	// Required labels a node must have; of nodes that can run it, those with most of Preferred come first.
	Required, Preferred Labels
	// Replicas names what the unit is a replica of, empty if it is none: two of one name never share a node, and preferably
	// no rack.
	Replicas string
	// Expected is what it will use, as far as that is known before the first reading.
	Expected Load
	// Parts are its operators, in order. Empty if it cannot be separated.
	Parts []Part
}

// Part is an operator of a unit.
type Part struct {
	Name string
	// Keyed: its state is by key, so it can be divided by key.
	Keyed bool
}

func (u *Unit) validate() error {
	problems := u.Expected.validate(fmt.Sprintf("unit %s: expected", u.ID))
	if u.ID == "" {
		problems = append(problems, errors.New("a unit needs a name"))
	}
	return errors.Join(problems...)
}

// bound reports whether the unit asks for some nodes rather than others.
func (u *Unit) bound() bool { return len(u.Required)+len(u.Preferred) > 0 }

// replicates reports whether two units hold replicas of one thing, or one of them of a part of the other.
func (u *Unit) replicates(o *Unit) bool {
	if u.Replicas == "" || o.Replicas == "" {
		return false
	}
	return u.Replicas == o.Replicas || strings.HasPrefix(u.Replicas, o.Replicas+"/") || strings.HasPrefix(o.Replicas, u.Replicas+"/")
}

// unit is a unit and what is known of it.
type unit struct {
	Unit
	on            *node // nil while no node can run it
	smoothed, raw Load
	measured      bool
	// restsUntil is the last period in which it stays where it is.
	restsUntil int
	// parts is the last reading of its operators, above for how many readings its load has been above a limit.
	parts []Throughput
	above int
}

// measure takes a reading: the first as it is, later ones smoothed.
func (u *unit) measure(l Load, history float64) {
	u.raw = l
	if !u.measured {
		u.smoothed, u.measured = l, true
		return
	}
	for s := range l {
		u.smoothed[s] = l[s] + history*(u.smoothed[s]-l[s]) // as it stands, an unchanged load stays exactly what it is
	}
}
