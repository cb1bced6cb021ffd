// Package pipebench measures the way of a record through one node's parts, without a network: source proxy with its
// durable log, fragment, client proxy.
package pipebench
