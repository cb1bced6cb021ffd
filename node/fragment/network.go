package fragment

import (
	"fednode/dcaa"
	"fednode/node/flow"
)

// Network is how a fragment reaches the producers of its inputs, and its other replicas.
type Network interface {
	flow.Network
	// Tell sends a message about permission to a replica of the same fragment; it may be lost.
	Tell(to, fragment string, m dcaa.PermissionMessage)
}
