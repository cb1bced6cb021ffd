package mpa

import (
	"fmt"
	"math"

	"fednode/contracts"
)

// Config fixes a participant.
type Config struct {
	Self Party
	Cost Cost
	// Moving is what a move costs a unit of load (m), in the unit of prices; a move has to save more.
	Moving float64
	// Margin is by how much more than that a return has to gain (h), in the unit of prices.
	Margin float64
	// Hysteresis is the change in load from a party's own clients that renews the right to offer what was returned.
	Hysteresis float64
	// Seed of the jitter that keeps parties from deciding at the same moments.
	Seed     uint64
	Settings Settings
	// DryRun decides and gives reasons, and moves nothing.
	DryRun bool
	// Explain produces Decisions.
	Explain bool
}

// Settings are the times of a participant, in microseconds unless they say otherwise.
type Settings struct {
	// Round is the time between two rounds, each longer or shorter by up to Jitter of it (0 to 0.5).
	Round  int64
	Jitter float64
	// AfterRefusal is how soon after it has refused an offer a party looks whether it can pass something on instead.
	AfterRefusal int64
	// Remember is for how many rounds a refusal and a demand are remembered; for refusals half as much more or less.
	Remember int64
	// Resend is when a message that has not been answered is sent again, Tries how often before it is given up.
	Resend int64
	Tries  int
	// Reserve is how long a reservation holds without a commit, Penalty for how long a giver that let one run out is refused
	// everything; it doubles each time until a commit comes.
	Reserve int64
	Penalty int64
	// MigrationTimeout is how long a committed task may take to arrive.
	MigrationTimeout int64
	// MinStay is how long a task stays with a new holder at least, unless it is returned.
	MinStay int64
}

// DefaultSettings returns the times that are used unless the operator says otherwise.
func DefaultSettings() Settings {
	return Settings{
		Round: second, Jitter: 0.2, AfterRefusal: 50 * millisecond, Remember: 30,
		Resend: 2 * second, Tries: 5, Reserve: 5 * second, Penalty: 10 * second,
		MigrationTimeout: 60 * second, MinStay: 5 * second,
	}
}

// Validate reports what is wrong with a configuration.
func (c *Config) Validate() error {
	switch s := c.Settings; {
	case c.Self == "":
		return fmt.Errorf("a participant needs a name")
	case c.Cost == nil:
		return fmt.Errorf("a participant needs a cost function")
	case !(c.Moving >= 0) || math.IsInf(c.Moving, 0):
		return fmt.Errorf("the cost of a move is %g: a finite number from 0 on is expected", c.Moving)
	case !(c.Margin >= 0) || math.IsInf(c.Margin, 0):
		return fmt.Errorf("the margin of returns is %g: a finite number from 0 on is expected", c.Margin)
	case !(c.Hysteresis >= 0) || math.IsInf(c.Hysteresis, 0):
		return fmt.Errorf("the load hysteresis is %g: a finite number from 0 on is expected", c.Hysteresis)
	case s.Round <= 0 || s.Resend <= 0 || s.Reserve <= 0 || s.MigrationTimeout <= 0 || s.Remember <= 0 || s.Tries <= 0:
		return fmt.Errorf("round, resend, reserve, migration timeout, remember and tries have to be above 0")
	case s.AfterRefusal < 0 || s.Penalty < 0 || s.MinStay < 0:
		return fmt.Errorf("the time after a refusal, the penalty and the shortest stay have to be 0 or more")
	case max(s.Round, s.AfterRefusal, s.Resend, s.Reserve, s.Penalty, s.MigrationTimeout, s.MinStay) > maxTime || s.Remember > maxRemember || s.Tries > maxRemember:
		return fmt.Errorf("times up to %d days, and up to %d rounds to remember and tries are expected", maxTime/(24*3600*second), maxRemember)
	case !(s.Jitter >= 0 && s.Jitter <= 0.5):
		return fmt.Errorf("the jitter of rounds is %g: from 0 to 0.5 is expected", s.Jitter)
	}
	return nil
}

// Bounds of the times, so that no sum of them runs over.
const (
	maxTime     = 30 * 24 * 3600 * second
	maxRemember = 1_000_000
)

// Contract is what a participant knows of a contract while load moves.
type Contract struct {
	ID      ContractID
	Partner Party
	// Min and Max are the range of prices; equal for a fixed price.
	Min, Max contracts.Price
	// Give: we may give load to the partner. Take: the partner may give load to us.
	Give, Take bool
	// MaxLoad is the most load that may have been given under it at a time, in each direction; +Inf for no limit.
	MaxLoad float64
	// MaxTask is the largest task; +Inf for no limit.
	MaxTask float64
	// Allows decides whether a task belongs to the contract's set; nil allows all.
	Allows TaskSet
}

// TaskSet is a set of tasks.
type TaskSet interface{ Contains(task TaskID) bool }

// priceSteps is into how many steps a price range is divided.
const priceSteps = 20

// Validate reports what is wrong with a contract.
func (c *Contract) Validate() error {
	switch {
	case c.ID == "" || c.Partner == "":
		return fmt.Errorf("a contract needs an id and a partner")
	case c.Min < 0 || c.Max > contracts.MaxPrice:
		return fmt.Errorf("contract %s: prices %s to %s: from 0 to %s is expected", c.ID, c.Min, c.Max, contracts.MaxPrice)
	case c.Min > c.Max:
		return fmt.Errorf("contract %s: the lowest price %s is above the highest %s", c.ID, c.Min, c.Max)
	case !(c.MaxLoad >= 0) || !(c.MaxTask >= 0):
		return fmt.Errorf("contract %s: largest load %g and largest task %g: numbers from 0 on are expected", c.ID, c.MaxLoad, c.MaxTask)
	}
	return nil
}

func (c *Contract) allows(task TaskID, load float64) bool {
	return load <= c.MaxTask && (c.Allows == nil || c.Allows.Contains(task))
}
