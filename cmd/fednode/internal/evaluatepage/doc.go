// Package evaluatepage draws what an evaluation found as one HTML page that needs nothing else: no script, font or image
// of others, and no network. It is readable in light and dark; every plot has its figures as text and as a table.
package evaluatepage
