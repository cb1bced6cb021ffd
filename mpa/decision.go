package mpa

import (
	"fmt"
	"strings"

	"fednode/contracts"
)

// Reason is why something was decided.
type Reason uint8

// Reasons.
const (
	Offers       Reason = iota + 1 // saves more than the price and the move
	PassesOn                       // saves less, and a partner has asked for room at a higher price
	Takes                          // costs less than the price
	TooDear                        // taking costs more than the price
	OverContract                   // above the contract's load, or not of its tasks
	NotForUs                       // chain, price or number that cannot be
	Waits                          // the giver let a reservation run out
	Commits                        // still saves more
	Releases                       // no longer saves enough at commit
	TakesBack                      // carrying it costs less than the lowest price, less move and margin
	GivesBack                      // carrying it costs more than the highest price, move and margin, and nobody else takes it
	Ends                           // the contract has ended
	SaysRoom                       // load fell: what was refused would fit
	LetsGo                         // a reservation or an offer ran out
)

var reasonNames = [...]string{"", "offers", "passes on", "takes", "refuses", "refuses", "refuses", "refuses", "commits", "releases", "takes back", "gives back", "returns", "says room", "lets go"}

// Decision is something that a participant decided, with the figures that decided it.
type Decision struct {
	At       Instant
	Reason   Reason
	Contract ContractID
	Partner  Party
	Task     TaskID
	Size     float64
	// Load is the participant's load as it counted for this decision.
	Load float64
	// Money is what the task saves or costs the participant, for one unit of its load.
	Money float64
	// Limit is what Money was compared with.
	Limit  float64
	Price  contracts.Price
	DryRun bool
}

// String says the decision in one line.
func (d Decision) String() string {
	var b strings.Builder
	if d.DryRun {
		b.WriteString("would: ")
	}
	b.WriteString(reasonNames[d.Reason])
	if d.Task != (TaskID{}) {
		fmt.Fprintf(&b, " %s/%d of load %.4g", d.Task.Owner, d.Task.Number, d.Size)
	}
	fmt.Fprintf(&b, " (%s)", d.Partner)
	unit := func(v float64) string { return fmt.Sprintf("%.4g", v/contracts.Micro) }
	switch d.Reason {
	case Offers, Commits, PassesOn, GivesBack:
		fmt.Fprintf(&b, ": saves %s a unit at load %.4f, more than %s", unit(d.Money), d.Load, unit(d.Limit))
	case Releases:
		fmt.Fprintf(&b, ": saves %s a unit at load %.4f, no longer more than %s", unit(d.Money), d.Load, unit(d.Limit))
	case Takes, TakesBack:
		fmt.Fprintf(&b, ": costs %s a unit at load %.4f, less than %s", unit(d.Money), d.Load, unit(d.Limit))
	case TooDear:
		fmt.Fprintf(&b, ": costs %s a unit at load %.4f, not less than %s", unit(d.Money), d.Load, unit(d.Limit))
	case OverContract:
		b.WriteString(": above the contract's load, or not of its tasks")
	case NotForUs:
		b.WriteString(": came through our hands already, or its price or number cannot be")
	case Waits:
		b.WriteString(": let a reservation run out lately")
	case Ends:
		b.WriteString(": the contract has ended")
	case SaysRoom:
		fmt.Fprintf(&b, ": load %.4f leaves room at %s", d.Load, unit(d.Limit))
	case LetsGo:
		b.WriteString(": no answer in time")
	}
	if d.Price > 0 {
		fmt.Fprintf(&b, "; price %s", d.Price)
	}
	return b.String()
}

// decide notes a decision if somebody wants to know.
func (m *Machine) decide(d Decision) {
	if !m.cfg.Explain {
		return
	}
	d.At, d.DryRun = m.now, m.cfg.DryRun
	m.ready.Decisions = append(m.ready.Decisions, d)
}
