package mpa

import (
	"fmt"
	"slices"

	"fednode/contracts"
)

// Signed is a contract that has been signed, as one of its parties looks at it.
type Signed struct {
	ID    contracts.ID
	Terms *contracts.Terms
	// Self is the party that looks.
	Self Party
	// Currency is the one that the party counts its costs in, an ISO 4217 code.
	Currency string
	// Tasks decides whether a task belongs to the terms' set (contracts.Tasks.Admit); nil allows all.
	Tasks TaskSet
}

// ContractOf translates the terms of a load contract. A unit of load is contracts.PriceBasis work units a second, so that a
// price is what a unit of load costs a second. It fails for a party that the contract is not of, for a data contract, and
// for one in another currency: prices in two currencies cannot be compared.
func ContractOf(s Signed) (Contract, error) {
	t := s.Terms
	partner := t.Other(string(s.Self))
	switch {
	case t.Kind != contracts.Load:
		return Contract{}, fmt.Errorf("contract %s is a %s contract: no load moves along it", s.ID, t.Kind)
	case partner == "":
		return Contract{}, fmt.Errorf("contract %s is between %v, not of %s", s.ID, t.Parties, s.Self)
	case t.Price.Currency != s.Currency:
		return Contract{}, fmt.Errorf("contract %s is in %s, and costs are counted in %s: prices in two currencies cannot be compared", s.ID, t.Price.Currency, s.Currency)
	}
	c := Contract{
		ID: ContractID(s.ID), Partner: Party(partner), Min: t.Price.Min, Max: t.Price.Max,
		Give: slices.Contains(t.Givers, string(s.Self)), Take: slices.Contains(t.Givers, partner),
		MaxLoad: LoadOf(t.Tasks.MaxLoad), MaxTask: LoadOf(t.Tasks.MaxTask), Allows: s.Tasks,
	}
	return c, c.Validate()
}

// LoadOf returns the load of work units a second.
func LoadOf(workPerSecond int64) float64 { return float64(workPerSecond) / contracts.PriceBasis }
