// Package fmath computes transcendental functions with the same bits on every processor.
//
// Package math does not promise that: it has assembly for some processors, and compilers for others fuse a product and a
// sum into one rounding. Here every product is rounded explicitly, which forbids fusing, and the work is done in pairs of
// floats that hold about 100 bits, so that [Exp], [Log], [Log2], [Log10] and [Pow] give the correctly rounded result but
// for cases too rare to meet. [Sin], [Cos] and [Atan] are good to a few units in the last place, and as reproducible.
//
// Functions are pure. Special values are those of package math.
package fmath
