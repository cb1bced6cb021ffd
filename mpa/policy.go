package mpa

import (
	"fmt"
	"math"

	"fednode/contracts"
)

// Policy answers a proposed price while a contract is negotiated.
type Policy uint8

// Policies of counter-offers.
const (
	// Truthful asks for what the work is worth to the party.
	Truthful Policy = iota
	// Fixed asks for the highest price of the range, whatever it is worth.
	Fixed
	// Competitive asks for more than it is worth, the less so the more others there are: with n sellers whose valuations
	// lie anywhere in the range, v + (1−v)/n is what pays best.
	Competitive
)

// ParsePolicy reads the name of a policy.
func ParsePolicy(name string) (Policy, error) {
	for p, n := range policyNames {
		if n == name {
			return Policy(p), nil
		}
	}
	return 0, fmt.Errorf("policy %q: truthful, fixed or competitive is expected", name)
}

var policyNames = [...]string{"truthful", "fixed", "competitive"}

// String returns the name of the policy.
func (p Policy) String() string { return policyNames[min(int(p), len(policyNames)-1)] }

// Ask returns the price that a seller asks for, within a range. value is what the work is worth to it: the lowest price
// at which it gains; sellers is how many are expected to compete, itself included, 1 at least.
func (p Policy) Ask(low, high, value contracts.Price, sellers int) (contracts.Price, error) {
	switch {
	case low < 0 || low > high || high > contracts.MaxPrice:
		return 0, fmt.Errorf("the price range %s to %s: a lowest price from 0 to the highest one is expected", low, high)
	case value > high:
		return 0, fmt.Errorf("at %s the highest price of the range, %s, loses money", value, high)
	case sellers < 1:
		return 0, fmt.Errorf("%d sellers: 1 at least is expected", sellers)
	}
	value = max(value, low)
	switch p {
	case Fixed:
		return high, nil
	case Competitive:
		width := float64(high - low)
		if width == 0 {
			return high, nil
		}
		v := float64(value-low) / width
		return low + contracts.Price(math.RoundToEven(width*(v+(1-v)/float64(sellers)))), nil
	}
	return value, nil
}
