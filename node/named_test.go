package node

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNamed: what somebody has named is kept being dialled though gossip says that it has gone: after a long cut both sides
// hold each other for dead, and nobody else brings them together.
func TestNamed(t *testing.T) {
	f := newFed(t, map[string]string{"north": "", "south": ""})
	north, south := f.nodes["north"], f.nodes["south"]
	north.start()
	south.start()
	require.False(t, north.node.named(south.node.host.ID()), "nobody has said where it is")
	f.connect()
	require.True(t, north.node.named(south.node.host.ID()))
	require.False(t, north.node.named(north.node.host.ID()))
}
