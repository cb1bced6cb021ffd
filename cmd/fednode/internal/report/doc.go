// Package report writes what a command found as one HTML page that needs nothing else: no script, font or image of
// others, and no network. Sections have words, charts and tables.
package report
