// Package connectors is the table of all kinds of connectors by name.
package connectors
