// Package chart draws figures as SVG: lines over one axis, for pages and for files. What it draws needs nothing from
// elsewhere, is readable in light and dark and without colour, and carries its figures as text.
package chart
