// Package contracts holds the terms that two organisations agree on before either needs the other: money, prices, what may
// run for whom and how much of it. It is pure.
package contracts
