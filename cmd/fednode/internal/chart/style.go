package chart

import _ "embed"

// lines is the style of a chart: colours in light and dark, and how lines are drawn.
//
//go:embed lines.css
var lines string

// page is the style of a page around charts.
//
//go:embed page.css
var page string

// Style returns the style sheet of a page with charts, in light and dark.
func Style() string { return lines + page }
