package balance

import (
	"fmt"
	"strconv"
)

// Kind is what was decided.
type Kind uint8

// Kinds of decisions.
const (
	Places    Kind = iota + 1 // a unit begins at a node
	Replaces                  // a unit of a dead node goes on at another
	Moves                     // a unit moves
	Separates                 // a unit is divided; its new units follow as decisions of their own
	Waits                     // no node can run a unit now
	Keeps                     // a node is over the trigger and cannot give anything
	Leaves                    // a unit above a limit cannot be divided
)

var kindNames = [...]string{"", "places", "replaces", "moves", "separates", "waits", "keeps", "leaves"}

// String is the kind's name, for logs and metrics.
func (k Kind) String() string { return kindNames[k] }

// Decision is something that was decided, with its reason.
type Decision struct {
	// Period counts rounds, from 1; 0 is before the first.
	Period int
	Kind   Kind
	Unit   UnitID
	// From and To are empty where there is none.
	From, To NodeID
	// Usage is the unit's at From, FromUsage and ToUsage those of the nodes before, as the migrator counts them: percent, or
	// messages per second with migrator uniform.
	Usage, FromUsage, ToUsage float64
	// Into are the units that a separated one becomes.
	Into []Unit
	// Why is the reason: the figures that decided.
	Why string
}

// String says the decision in one line.
func (d Decision) String() string {
	switch d.Kind {
	case Places:
		return fmt.Sprintf("places %s on %s: %s", d.Unit, d.To, d.Why)
	case Replaces:
		return fmt.Sprintf("places %s on %s, for %s has failed: %s", d.Unit, d.To, d.From, d.Why)
	case Moves:
		return fmt.Sprintf("moves %s of %s from %s at %s to %s at %s: %s", d.Unit, figure(d.Usage), d.From, figure(d.FromUsage), d.To, figure(d.ToUsage), d.Why)
	case Separates:
		return fmt.Sprintf("separates %s on %s into %d: %s", d.Unit, d.From, len(d.Into), d.Why)
	case Waits:
		return fmt.Sprintf("lets %s wait: %s", d.Unit, d.Why)
	case Leaves:
		return fmt.Sprintf("leaves %s whole: %s", d.Unit, d.Why)
	}
	return fmt.Sprintf("keeps what is on %s at %s: %s", d.From, figure(d.FromUsage), d.Why)
}

// figure prints a number with as many digits as matter.
func figure(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
