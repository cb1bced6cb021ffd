package contracts

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Micro is the number of micro-units in a unit of a currency.
const Micro = 1_000_000

// Amount is money in micro-units of a currency; it can be negative. Money is never a floating-point number: two parties
// must come to the same sum.
type Amount int64

// Price is what a billion work units cost, in micro-units of a currency; from 0 to MaxPrice.
type Price int64

// MaxPrice bounds prices, so that a price times a realistic amount of work has room in an Amount.
const MaxPrice Price = 1_000_000_000 * Micro

// PriceBasis is the number of work units that a Price is for.
const PriceBasis = 1_000_000_000

// Of returns what an amount of work costs at the price, rounded half-even to a micro-unit; it is called once for each
// billing period, never for parts of it. Work is in work units. It fails if the sum does not fit.
func (p Price) Of(work uint64) (Amount, error) {
	product := new(big.Int).Mul(big.NewInt(int64(p)), new(big.Int).SetUint64(work))
	quotient, rest := new(big.Int).QuoRem(product, big.NewInt(PriceBasis), new(big.Int))
	switch rest.Lsh(rest, 1).Cmp(big.NewInt(PriceBasis)) {
	case 1:
		quotient.Add(quotient, big.NewInt(1))
	case 0:
		quotient.Add(quotient, big.NewInt(int64(quotient.Bit(0))))
	}
	if !quotient.IsInt64() {
		return 0, fmt.Errorf("%d work units at %s come to more than an amount can hold", work, p)
	}
	return Amount(quotient.Int64()), nil
}

// String prints the amount with as many digits as needed: 0.95, -3, 0.000001.
func (a Amount) String() string {
	sign, size := "", uint64(a)
	if a < 0 {
		sign, size = "-", -size
	}
	text := sign + strconv.FormatUint(size/Micro, 10)
	if rest := size % Micro; rest > 0 {
		text += "." + strings.TrimRight(fmt.Sprintf("%06d", rest), "0")
	}
	return text
}

// String prints the price of a billion work units.
func (p Price) String() string { return Amount(p).String() }

// ParseAmount reads a decimal number of a currency's units, such as 12, 0.95 or -3.5, of at most six decimals. Exponents,
// signs other than a leading minus, separators and spaces are refused.
func ParseAmount(text string) (Amount, error) {
	digits, negative := strings.CutPrefix(text, "-")
	whole, part, point := strings.Cut(digits, ".")
	switch {
	case len(text) > 32:
		return 0, fmt.Errorf("an amount of %d characters; at most 32 are read", len(text))
	case !allDigits(whole) || point && !allDigits(part):
		return 0, fmt.Errorf("%q is not an amount: a decimal number such as \"0.95\" is expected", text)
	case len(part) > 6:
		return 0, fmt.Errorf("%q has %d decimals: money is counted in millionths, so at most 6 are possible", text, len(part))
	}
	n, ok := new(big.Int).SetString(whole+part+strings.Repeat("0", 6-len(part)), 10)
	if !ok || n.CmpAbs(big.NewInt(math.MaxInt64)) > 0 {
		return 0, fmt.Errorf("%q is larger than an amount can be (%s)", text, Amount(math.MaxInt64))
	}
	a := Amount(n.Int64())
	if negative {
		a = -a
	}
	return a, nil
}

// ParsePrice reads the price of a billion work units, from 0 to MaxPrice.
func ParsePrice(text string) (Price, error) {
	a, err := ParseAmount(text)
	switch {
	case err != nil:
		return 0, err
	case a < 0:
		return 0, fmt.Errorf("the price %s is negative: 0 is the lowest price", text)
	case Price(a) > MaxPrice:
		return 0, fmt.Errorf("the price %s is above the highest price, %s", text, MaxPrice)
	}
	return Price(a), nil
}

func allDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}
