// Package expr compiles the expressions of queries and evaluates them column by column.
//
// [Compile] parses a text, gives every part a type against a schema, and reports every mistake with its place and a
// remedy. The [Program] is immutable. An [Eval] holds the scratch memory of one user of it: [Eval.Eval] computes a column
// for the selected rows of a batch, [Eval.Select] the rows for which a condition is true.
//
//	p, errs := expr.Compile("dport < 1024 and bytes > 1000", schema)
//	e := p.NewEval()
//	rows := e.Select(batch, nil)
//
// # Values
//
// Precedence, low to high: OR; AND; NOT; comparisons, IS, IN, BETWEEN, LIKE, MATCHES (not chainable); ||; + -; * / %;
// unary -; ::type. Strings stand in single quotes, names in double quotes or none; a quote within is doubled, and dotted
// names are one name. Keywords may be in any case, names may not.
//
// Logic is three-valued as in SQL. Numbers of different types compare by their exact values. Floats have one total order:
// -Inf < numbers < +Inf < NaN, with NaN equal to itself and -0 equal to +0, for =, < and all others alike.
//
// int64 arithmetic that leaves the range gives null and is counted, as does division by zero, for floats too; % has the
// sign of the dividend. Decimals compute exactly at scales that the types fix: the larger for + - %, the sum for *, the
// larger plus 6 for /, which alone rounds (half to even); beyond 18 digits the result is null and counted. A literal
// such as 1.5 is a decimal, digit for digit, beside a decimal, and a float64 otherwise; 1.5e0 is always a float64. A
// string literal beside a timestamp, duration, ip, cidr or bytes is read as one when the program is compiled; typed
// literals say so themselves: timestamp '2026-11-29T10:00:00Z', duration '5m' or interval '5m', ip '10.0.0.1', cidr
// '10.0.0.0/8', decimal '1.50', bytes '00ff'.
//
// What a row does not need is not computed for it: the right side of AND and OR where the left decides, branches of CASE
// not taken, later arguments of coalesce. So `d <> 0 and n / d > 3` counts no division by zero.
//
// # Speed
//
// Work is done by kernels over whole columns. A part that depends on one dictionary column alone (service = 'dns',
// LIKE, ip_in, lower) is computed once a dictionary code and remembered by lineage; where a code moves the counters,
// rows are computed instead, since each of them counts. Results and counters depend on the rows only, never on how they
// are cut into batches or encoded.
//
// # Determinism
//
// Every float product is rounded on its own; transcendental functions are those of package fmath; time zones those of
// package zone; nothing asks a clock or the system.
//
// A Program may be used by any number of goroutines, an Eval by one. Expressions come from outside: texts are bounded
// (MaxText, MaxDepth, MaxNodes), regular expressions run in linear time, and no input panics.
package expr
